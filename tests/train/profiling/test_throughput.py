"""How fast training goes: from a mark on, without what is no training; of texts by tokens."""

import pytest
import torch

from netwright.data.loading.loader import Batch
from netwright.train.profiling.throughput import Throughput, in_words, tokens_of_example
from netwright.train.state import TrainState
from netwright.train.tasks.language_modelling import LanguageModelling
from tests.train.toy_runs import toy_start


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("netwright.train.state.time.monotonic", lambda: now[0])
    return now


def started(clock: list[float]) -> TrainState:
    state = toy_start()
    state.started = clock[0]
    return state


def test_examples_are_counted_from_the_mark_on(clock: list[float]) -> None:
    state, speed = started(clock), Throughput()
    clock[0], state.samples = 103.0, 90
    speed.mark(state)
    clock[0], state.samples = 108.0, 290
    assert speed.since(state) == {"samples_per_second": 40.0}


def test_compiling_and_measuring_take_no_part(clock: list[float]) -> None:
    state, speed = started(clock), Throughput()
    speed.mark(state)
    clock[0], state.samples = 110.0, 60
    state.compile_seconds, state.measuring_seconds = 3.0, 5.0
    assert speed.since(state) == {"samples_per_second": 30.0}


def test_no_time_is_not_divided_by(clock: list[float]) -> None:
    state, speed = started(clock), Throughput()
    speed.mark(state)
    assert speed.since(state) == {"samples_per_second": 0.0}


def test_of_texts_the_tokens_of_the_batch_count(clock: list[float]) -> None:
    state, speed = started(clock), Throughput()
    state.task, text = LanguageModelling(5), torch.zeros(4, 7, dtype=torch.int64)
    state.batch = Batch(text, text, None, torch.arange(4))
    assert tokens_of_example(state) == 7
    speed.mark(state)
    clock[0], state.samples = 102.0, 8
    assert speed.since(state) == {"tokens_per_second": 28.0}
    state.batch = None  # between two batches it is known still
    assert speed.since(state) == {"tokens_per_second": 28.0}


def test_it_is_told_in_whole_numbers() -> None:
    assert in_words("tokens_per_second", 12345.6) == "12,346 tokens/s"
