"""The host's time for a block is that of real updates by their blocks, in each of four ways."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed.fsdp import FSDPModule

from netwright.recipes.plan import block_seconds as file
from netwright.recipes.plan.block_seconds import (
    FIRST,
    BlockSeconds,
    measure_blocks,
    seconds_of_update,
)
from netwright.train.state import TrainState
from netwright.train.updates import recomputed_blocks

CPU = torch.device("cpu")


def test_each_way_of_a_block_is_measured_on_real_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[tuple[bool, bool, int]]()
    checkpointed, again = recomputed_blocks._checkpointed, list[nn.Module]()

    def noted(block: nn.Module, run: Any) -> Any:
        again.append(block)
        return checkpointed(block, run)

    def ended(clock: Any, state: TrainState) -> None:
        clock.ends.append(0.5 * 2 ** len(seen) * state.step)
        if state.is_whole:
            layers = len(state.model.get_submodule("h"))  # type: ignore[arg-type]
            seen.append((isinstance(state.model, FSDPModule), bool(again), layers))
            assert state.step == FIRST + 2
            assert len(again) in {0, layers * state.step}
            again.clear()

    monkeypatch.setattr(recomputed_blocks, "_checkpointed", noted)
    monkeypatch.setattr(file._Clock, "on_step_end", ended)
    found = measure_blocks(CPU, layers=2, timed=2)
    assert seen == [(False, False, 2), (False, True, 2), (True, False, 2), (True, True, 2)]
    # Updates took 0.5, 1, 2 and 4 seconds in turn, by two blocks each.
    assert found == BlockSeconds(block=0.25, block_again=0.5, shards=1.0, shards_again=2.0)


def test_the_median_of_the_later_updates_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = [9.0] * FIRST + [2.0, 1.0, 5.0]

    def ended(clock: Any, state: TrainState) -> None:
        clock.ends.append(sum(taken[: state.step]))

    monkeypatch.setattr(file._Clock, "on_step_end", ended)
    assert seconds_of_update(CPU, shard=False, recompute=False, layers=1, timed=3) == 2.0


def test_the_host_takes_some_time_for_any_block() -> None:
    assert all(seconds > 0 for seconds in measure_blocks(CPU, layers=2, timed=1))
    assert not torch.distributed.is_initialized()
