"""Rows by step: the mean loss since the last one, and how often they come."""

import math
from typing import Any

import pytest
import torch

from netwright.data.loading.loader import Batch
from netwright.train.callback import Callback
from netwright.train.callbacks import step_rows
from netwright.train.callbacks.clip_gradients import ClipGradients
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.callbacks.step_rows import FEWEST, StepRows, gradient_norm, round_down
from netwright.train.state import TrainState
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.updates import finite_check
from tests.repetition import for_each
from tests.train.toy_runs import toy_data, toy_fit, toy_net, toy_start


class Losses(Callback):
    """Notes loss, rate and gradient of every update."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.rates: list[float] = []
        self.norms: list[float] = []

    def on_before_update(self, state: TrainState) -> None:
        grads = state.whole_gradients()
        self.norms.append(float(torch.cat([grad.flatten() for grad in grads]).norm()))
        self.rates.append(state.lr)

    def on_step_end(self, state: TrainState) -> None:
        self.losses.append(float(state.loss))


class Clock:
    """A clock on which every update takes the same time."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.now = seconds, 0.0

    def monotonic(self) -> float:
        self.now += self.seconds
        return self.now


def steps_of(state: TrainState, name: str = "loss") -> list[int]:
    return [row.step for row in state.history if row.key == f"step/{name}"]


@pytest.mark.parametrize("clip", [None, 0.01])
def test_a_row_holds_the_mean_loss_since_the_last_one(clip: float | None) -> None:
    noted = Losses()
    clipping = [] if clip is None else [ClipGradients(norm=clip)]
    callbacks = [GuardNonFinite(), StepRows(4), noted, *clipping]
    state = toy_fit(
        toy_net(), toy_data(), epochs=3, schedule="cosine", callbacks=callbacks
    )  # 15 updates
    series = state.history.series
    assert steps_of(state) == [4, 8, 12]
    means = [sum(noted.losses[start : start + 4]) / 4 for start in (0, 4, 8)]
    assert series("step/loss") == pytest.approx(means, rel=1e-6)
    assert series("step/lr") == noted.rates[3:12:4]
    # As long as they were before they were clipped.
    assert series("step/gradient_norm") == pytest.approx(noted.norms[3:12:4], rel=1e-6)
    assert all(value > 0 for value in series("step/samples_per_second"))
    assert all(value > 1 for value in series("step/memory"))
    assert len(series("train/loss")) == 3  # one an epoch, as ever


def test_several_batches_of_one_update_count_by_their_rows() -> None:
    data = toy_data(rows=10)  # batches of 4, 4 and 2: updates of 8 and of 2 rows
    whole = toy_fit(toy_net(), data, epochs=1, batch_size=8, callbacks=[StepRows(1)])
    parts = toy_fit(toy_net(), data, epochs=1, batch_size=4, accumulate=2, callbacks=[StepRows(1)])
    assert parts.history.series("step/loss") == pytest.approx(whole.history.series("step/loss"))


def test_an_update_that_is_left_out_is_in_no_row() -> None:
    data = toy_data()
    data.train.inputs[7] = math.nan
    callbacks = [GuardNonFinite("skip"), StepRows(2)]
    state = toy_fit(toy_net(), data, epochs=1, batch_size=2, callbacks=callbacks)
    assert state.step == 9
    assert steps_of(state) == [2, 4, 6, 8]
    assert all(math.isfinite(value) for value in state.history.series("step/loss"))


def test_an_overflow_of_float16_adds_no_second_row_for_the_update_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Overflow(Callback):
        def on_fit_start(self, state: TrainState) -> None:
            next(state.model.parameters()).register_hook(  # type: ignore[no-untyped-call]
                lambda grad: grad * torch.inf if state.samples in {8, 20} else grad
            )

    monkeypatch.setattr(step_rows, "peak_memory", lambda device: 12.3456)
    settings: dict[str, Any] = {"precision": "fp16-mixed", "epochs": 2}
    state = toy_fit(toy_net(), toy_data(), callbacks=[Overflow(), StepRows(1)], **settings)
    assert state.step == 8
    assert steps_of(state) == list(range(1, 9))
    assert set(state.history.series("step/memory")) == {12.3}


def test_a_row_waits_for_no_update_where_the_guard_waits_for_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is told when its update is known, or when all are."""
    known: list[list[int]] = []

    class Known(Callback):
        def on_batch_end(self, state: TrainState) -> None:
            known.append(steps_of(state))

    monkeypatch.setattr(finite_check, "WAITED_FOR", ("cpu",))
    callbacks = [GuardNonFinite(), StepRows(2), Known()]
    state = toy_fit(
        toy_net(), toy_data(), epochs=1, batch_size=2, optimizer="adam", callbacks=callbacks
    )
    assert state.step == 10
    assert known[:6] == [[]] * 6
    assert known[6:] == [[2], [2], [2, 4], [2, 4]]  # as many updates later as the guard reads
    assert steps_of(state) == [2, 4, 6, 8, 10]
    assert [row.epoch for row in state.history if row.key == "step/loss"] == [0] * 5


def test_a_roll_back_takes_its_rows_back() -> None:
    data = toy_data()
    data.train.inputs[7] = math.nan
    rows = StepRows(1)
    callbacks = [GuardNonFinite("roll-back", [rows]), rows]
    state = toy_fit(toy_net(), data, epochs=1, batch_size=2, callbacks=callbacks)
    assert steps_of(state) == list(range(1, 10))


def test_a_gradient_too_long_for_its_square_has_a_row_without_it() -> None:
    class Huge(Callback):
        def on_before_update(self, state: TrainState) -> None:
            for gradient in state.whole_gradients():
                gradient.fill_(1e30)

    state = toy_fit(toy_net(), toy_data(), epochs=1, callbacks=[Huge(), StepRows(1)])
    assert "step/gradient_norm" not in state.history.keys()
    assert len(state.history.series("step/loss")) == 5


def test_without_gradients_there_is_no_length() -> None:
    assert gradient_norm(toy_start()) is None


@pytest.fixture
def clock(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_rows, "time", Clock(request.param))


@pytest.mark.parametrize("clock", [2.0], indirect=True)
@pytest.mark.usefixtures("clock")
def test_slow_updates_have_a_row_each() -> None:
    state = toy_fit(toy_net(), toy_data(), epochs=20, callbacks=[StepRows()])
    assert steps_of(state) == list(range(1, 101))


@pytest.mark.parametrize("clock", [1e-4], indirect=True)
@pytest.mark.usefixtures("clock")
def test_quick_updates_have_as_many_rows_as_a_curve_needs() -> None:
    state = toy_fit(toy_net(), toy_data(), epochs=120, callbacks=[StepRows()])
    assert state.step == 600
    assert steps_of(state) == [*range(1, 10), *range(20, 601, 20)]
    assert len(steps_of(state)) >= FEWEST


@pytest.mark.parametrize("clock", [0.18], indirect=True)
@pytest.mark.usefixtures("clock")
def test_otherwise_there_is_a_row_about_every_second() -> None:
    state = toy_fit(toy_net(), toy_data(), epochs=120, callbacks=[StepRows()])
    assert steps_of(state) == [*range(1, 10), *range(10, 601, 5)]


@pytest.mark.parametrize("clock", [2.0], indirect=True)
@pytest.mark.usefixtures("clock")
def test_after_many_rows_there_are_half_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_rows, "MOST", 10)
    state = toy_fit(toy_net(), toy_data(), epochs=20, callbacks=[StepRows()])
    assert steps_of(state) == [
        *range(1, 11),
        *range(12, 31, 2),
        *range(32, 69, 4),
        *range(72, 101, 8),
    ]


def test_what_was_chosen_is_kept_and_what_is_asked_for_holds() -> None:
    rows = StepRows()
    assert rows.state_dict() == {}
    rows.load_state_dict({"every": 20, "rows": 3, "is_chosen": True})
    assert (rows.every, rows.state_dict()) == (20, {"every": 20, "rows": 3, "is_chosen": True})
    asked = StepRows(7)
    asked.load_state_dict(rows.state_dict())
    assert (asked.every, asked.state_dict()) == (7, {})
    rows.load_state_dict({})
    assert rows.every == 1


@for_each(
    ("count", "rounded"), [(1, 1), (1.9, 1), (4.9, 2), (5, 5), (99, 50), (100, 100), (2345, 2000)]
)
def test_intervals_are_round_numbers(count: float, rounded: int) -> None:
    assert round_down(count) == rounded


@pytest.mark.parametrize("of_tokens", [False, True])
def test_the_speed_is_what_was_seen_over_the_time_of_training(
    of_tokens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4 seconds since the last row, of which 1 was spent on measuring, and 6 examples."""
    monkeypatch.setattr("netwright.train.state.time.monotonic", lambda: 100.0)
    rows, state = StepRows(1), toy_start()
    state.started, state.samples = 90.0, 10
    rows.speed.mark(state)
    state.started, state.measuring_seconds, state.samples = 86.0, 1.0, 16
    if not of_tokens:
        assert rows.speed.since(state) == {"samples_per_second": 2.0}
        return
    texts = torch.zeros(2, 5, dtype=torch.int64)
    state.task = LanguageModelling(4)
    state.batch = Batch(texts, texts, None, torch.arange(2))
    assert rows.speed.since(state) == {"tokens_per_second": 10.0}


@pytest.mark.parametrize(("samples", "every"), [(0, 1), (8, 20)])
def test_a_new_run_chooses_anew_and_one_that_goes_on_keeps_what_was_chosen(
    samples: int, every: int
) -> None:
    rows, state = StepRows(), toy_start()
    rows.load_state_dict({"every": 20, "rows": 3, "is_chosen": True})
    state.samples = samples
    rows.on_fit_start(state)
    assert (rows.every, bool(rows.state_dict())) == (every, samples > 0)


@pytest.mark.parametrize("clock", [2.0], indirect=True)
@pytest.mark.usefixtures("clock")
def test_one_slow_update_after_the_first_is_enough_to_choose() -> None:
    rows = StepRows()
    toy_fit(toy_net(), toy_data(), epochs=1, batch_size=10, callbacks=[rows])
    assert rows.state_dict() == {"every": 1, "rows": 2, "is_chosen": True}
