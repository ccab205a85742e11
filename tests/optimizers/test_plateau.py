"""The plateau schedule: by hand, as torch's, and bit for bit the same run after a stop."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

from netwright.core.errors import ConfigError, DataError
from netwright.optimizers.plateau import PlateauConfig, PlateauRates, lowered
from netwright.optimizers.schedule import Moment
from netwright.optimizers.schedules import build_schedule
from netwright.train.callback import Callback
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.state import TrainState
from tests.repetition import for_each
from tests.train.toy_runs import assert_same, copy_of, toy_data, toy_net, toy_trainer


def plateau(lr: float = 0.1, warmup: int = 0, **options: Any) -> PlateauRates:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=lr)
    scheduler = build_schedule("plateau", optimizer, steps=1000, warmup=warmup, options=options)
    assert isinstance(scheduler, PlateauRates)
    return scheduler


def rate(scheduler: PlateauRates) -> float:
    return float(scheduler.optimizer.param_groups[0]["lr"])


def seen(scheduler: PlateauRates, values: list[float]) -> list[float]:
    """The rate after each epoch of one step."""
    found = []
    for value in values:
        scheduler.optimizer.step()
        scheduler.step()
        scheduler.see(value)
        found.append(rate(scheduler))
    return found


@pytest.mark.covers("lr-reduce-on-plateau")
def test_a_flat_measure_divides_the_rate_by_ten_and_a_better_one_leaves_it() -> None:
    # The first value is the best; three more are put up with, the fourth is one too many.
    flat = seen(plateau(patience=3), [1.0] * 9)
    assert flat == pytest.approx([0.1] * 4 + [0.01] * 4 + [0.001])
    better = [0.99**epoch for epoch in range(40)]
    assert seen(plateau(patience=3), better) == [0.1] * 40


@for_each("patience", [0, 2, 5])
@for_each("threshold", [0.0, 1e-4, 0.05])
def test_agrees_with_torch_on_noisy_measures(patience: int, threshold: float) -> None:
    noise = random.Random(patience)
    values = [1 / (1 + epoch) + 0.2 * noise.random() for epoch in range(60)]
    ours = seen(plateau(0.3, factor=0.5, patience=patience, threshold=threshold), values)
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.3)
    theirs = ReduceLROnPlateau(
        optimizer, factor=0.5, patience=patience, threshold=threshold, eps=0.0
    )
    expected = []
    for value in values:
        optimizer.step()
        theirs.step(value)
        expected.append(optimizer.param_groups[0]["lr"])
    assert ours == pytest.approx(expected, rel=1e-12)
    assert ours[-1] < 0.3


def test_a_measure_that_is_to_rise_is_shown_with_its_sign_turned() -> None:
    # Torch's mode "max" asks for best * (1 + threshold): 0.5 -> 0.55 is better, 0.56 is not.
    values = [0.5, 0.56, 0.58, 0.62]
    ours = seen(plateau(patience=0, threshold=0.1), [-value for value in values])
    assert ours == pytest.approx([0.1, 0.1, 0.01, 0.01])


def test_the_rate_stays_above_its_floor() -> None:
    assert seen(plateau(patience=0, floor=0.02), [1.0] * 4) == pytest.approx(
        [0.1, 0.01, 0.002, 0.002]
    )
    given = PlateauConfig(factor=0.5, floor=0.1)
    assert [lowered(given, Moment(0, 1, drops=k)) for k in range(5)] == [1, 0.5, 0.25, 0.125, 0.1]


def test_a_drop_holds_from_the_very_next_step_on_and_after_the_warm_up() -> None:
    scheduler = plateau(patience=0, warmup=2)
    assert rate(scheduler) == pytest.approx(0.05)
    assert seen(scheduler, [1.0, 1.0, 1.0]) == pytest.approx([0.1, 0.01, 0.001])
    assert scheduler.get_last_lr() == pytest.approx([0.001])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"factor": 1.0}, r"schedule_options.factor must be less than 1.0, got 1.0"),
        ({"patience": -1}, r"schedule_options.patience must be at least 0, got -1"),
        ({"patiance": 1}, r"unknown setting 'schedule_options.patiance'; did you mean 'patience'"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{sentence}"):
        plateau(**options)


SLOW: dict[str, Any] = {
    "optimizer": "momentum",
    "lr": 0.2,
    "epochs": 8,
    "schedule": "plateau",
    "schedule_options": {"factor": 0.5, "patience": 0, "threshold": 0.05},
}


class Keeper(Callback):
    """Saves after the fourth epoch and notes the rate of every epoch."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.rates: list[float] = []

    def on_epoch_end(self, state: TrainState) -> None:
        self.rates.append(state.lr)
        if self.folder is not None and state.epoch == 4:
            save_checkpoint(self.folder, state)


def life(
    folder: Path | None = None, go_on: Path | None = None, val: int = 12, **settings: Any
) -> tuple[TrainState, list[float]]:
    data, keeper = toy_data(val=val), Keeper(folder)
    trainer = toy_trainer(data, callbacks=[keeper], **{**SLOW, **settings})
    state = trainer.start(toy_net(dropout=0.4), data)
    if go_on is not None:
        load_checkpoint(go_on, state)
    trainer.fit(state, data)
    return state, keeper.rates


def test_a_run_that_goes_on_is_the_run_that_was_not_stopped(tmp_path: Path) -> None:
    whole, rates = life(tmp_path / "at-4")
    again, rest = life(go_on=tmp_path / "at-4")
    assert rates[-1] < rates[0]
    assert min(rates[:4]) < 0.2  # it had something to remember
    assert rest == rates[4:]
    for part in ("model", "schedule", "optimizer"):
        assert_same(getattr(again, part).state_dict(), getattr(whole, part).state_dict())


def test_a_longer_run_begins_with_the_shorter_one(tmp_path: Path) -> None:
    life(tmp_path / "at-4", epochs=4)
    assert_same(copy_of(life(go_on=tmp_path / "at-4")[0].model), copy_of(life()[0].model))


def test_it_watches_the_monitored_measure_and_without_validation_the_training_loss() -> None:
    for val, monitor, key in (
        (12, "val/loss", "val/loss"),
        (12, "train/loss", "train/loss"),
        (0, "val/loss", "train/loss"),
    ):
        state, rates = life(val=val, monitor=monitor)
        by_hand = plateau(0.2, **SLOW["schedule_options"])
        assert rates == pytest.approx(seen(by_hand, state.history.series(key)))


def test_an_accuracy_is_better_where_it_is_higher() -> None:
    state, rates = life(monitor="val/accuracy")
    by_hand = plateau(0.2, **SLOW["schedule_options"])
    values = [-value for value in state.history.series("val/accuracy")]
    assert rates == pytest.approx(seen(by_hand, values))


def test_a_measure_that_is_not_there_is_refused() -> None:
    with pytest.raises(DataError, match=r"^there is no metric 'val/los'"):
        life(monitor="val/los")
