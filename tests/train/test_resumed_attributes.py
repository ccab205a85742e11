"""After a resume every attribute of every part of a run is as if the run had not been stopped.

Nothing has to be named for it: whatever the run consists of is walked through. An attribute that a
new class forgets to save differs, unless it is listed below with the reason why it may.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.plateau import PlateauRates
from netwright.train.callback import Callback
from netwright.train.callbacks.doctor import Doctor
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.callbacks.keep_path import KeepPath
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.callbacks.step_limit import StepLimit
from netwright.train.callbacks.step_rows import StepRows
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.state import TrainState
from netwright.train.trainer import Trainer
from netwright.train.watching.history import Row, without_clock
from netwright.train.watching.recent_losses import RecentLosses
from netwright.train.watching.time_budget import Clock
from netwright.train.weight_average import WeightAverage
from tests.repetition import slow_but
from tests.train.toy_runs import toy_data, toy_net, toy_trainer

# What need not be the same, and why.
MAY_DIFFER = {
    r"state/(started|elapsed_before|measuring_seconds|compile_seconds)": "clocks",
    r"StepRows/(speed/(marked|samples|tokens)|first)": "since when speed is measured",
    r"StepRows/(norm|lr)": "of the last row; set anew before the next is written",
    r"StepRows/last": "no row is written twice: the step of the last row, or that of the resume",
    r"Doctor/norms.*": "a tool that is made anew at the next watched step",
    r"Doctor/written": "lines of a file that a resumed run writes anew",
    r"Doctor/(budget/.*|begun_at)": "what watching took of the time of its process",
    r"Doctor/decided.*": "of one step; asked anew at the next",
}
STILL = Clock(now=lambda: 0.0, work=lambda: 0.0)  # by which there is time for every look
EVERYTHING: dict[str, Any] = {
    "input_noise": 0.1,
    "label_noise": 0.1,
    "weight_noise": 0.01,
    "gradient_noise": 0.01,
    "clip_norm": 1.0,
    "l1": 1e-4,
    "average": "exponential",
}
PLATEAU: dict[str, Any] = {
    "schedule": "plateau",
    # No epoch is better by so much: the rate falls after each third.
    "schedule_options": {"patience": 2, "threshold": 0.9, "factor": 0.5},
}


def leaves(part: Any, path: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Every number, text and tensor that an object leads to, with the way to it."""
    if isinstance(part, Tensor):
        yield path, part.detach().clone()
    elif part is None or isinstance(part, bool | int | float | str | Path | torch.device):
        yield path, part
    elif id(part) in seen or (callable(part) and not isinstance(part, nn.Module | LRScheduler)):
        return
    else:
        if type(part).__module__.startswith("netwright"):  # these know each other
            seen.add(id(part))
        for name, inner in inside(part).items():
            yield from leaves(inner, f"{path}/{name}", seen)


def inside(part: Any) -> dict[Any, Any]:
    """The attributes of what is ours; of torch's what it saves."""
    if isinstance(part, Row):
        return without_clock(vars(part))
    if isinstance(part, Mapping):
        return dict(part)
    if isinstance(part, list | tuple):
        return dict(enumerate(part))
    if isinstance(part, nn.Module | torch.optim.Optimizer | torch.amp.GradScaler):
        return dict(part.state_dict())
    if type(part).__module__.startswith(("netwright", "torch.optim")):
        return dict(vars(part))
    return {}


class LookAt(Callback):
    """Takes everything down when a batch is over.

    Args:
        moment: (epoch, position).
        save: also write a checkpoint to this folder.
    """

    def __init__(self, moment: tuple[int, int], save: Path | None = None) -> None:
        self.moment, self.save = moment, save
        self.watched: list[Callback] = []
        self.trainer: Trainer | None = None
        self.seen: list[dict[str, Any]] = []

    def on_batch_end(self, state: TrainState) -> None:
        here = (state.epoch, state.position)
        if here == self.moment and self.save is not None:
            save_checkpoint(self.save, state, self.watched)
        elif here > self.moment and self.trainer is not None:
            hooks = [hook for event in self.trainer._hooks.values() for hook in event]
            owners = [owner for hook in hooks if (owner := getattr(hook, "__self__", self)) != self]
            parts = {type(owner).__name__: owner for owner in owners}
            guard = parts.pop("GuardNonFinite")  # it knows some of the others
            self.seen.append(
                dict(leaves({"state": state, **parts, "GuardNonFinite": guard}, "", set()))
            )


def run(
    moment: tuple[int, int],
    folder: Path,
    *,
    is_resumed: bool,
    bad: tuple[int, ...] = (),
    **settings: Any,
) -> list[dict[str, Any]]:
    """What is there after each batch behind the moment, of a run that was stopped there or not."""
    early = EarlyStopping(patience=50)
    path = KeepPath(folder / "path.safetensors", 4)
    watched: list[Callback] = [StepRows(3), early, path, Doctor(quiet=True, clock=STILL)]
    look = LookAt(moment, None if is_resumed else folder / "saved")
    guard = GuardNonFinite("skip", watched)
    look.watched = [guard, *watched]
    data = toy_data(rows=20)
    data.train.inputs[list(bad)] = torch.nan
    net = toy_net(dropout=settings.pop("dropout", 0.3), batch_norm=True)
    trainer = toy_trainer(
        data,
        callbacks=[guard, *watched, StepLimit(10**6), look],
        **{"epochs": 6, "device": "cpu", **settings},
    )
    look.trainer = trainer
    state = trainer.start(net, data)
    if is_resumed:
        load_checkpoint(folder / "saved", state, look.watched)
    trainer.fit(state, data)
    return look.seen


def unequal(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.shape != other.shape or not torch.equal(
            torch.nan_to_num(one.double()), torch.nan_to_num(other.double())
        )
    return type(one) is not type(other) or one != other


def assert_goes_on(tmp_path: Path, moment: tuple[int, int], **settings: Any) -> None:
    whole = run(moment, tmp_path, is_resumed=False, **settings)
    resumed = run(moment, tmp_path, is_resumed=True, **settings)
    assert len(whole) == len(resumed) > 0
    for before, after in zip(whole, resumed, strict=True):
        assert len(before) > 50
        ways = [way for way in {**before, **after} if unequal(before.get(way), after.get(way))]
        allowed = re.compile("|".join(f"(?:/{way})" for way in MAY_DIFFER))
        assert [way for way in ways if not allowed.fullmatch(way)] == []


# In the middle of a pass, and at its end.
@pytest.mark.parametrize("moment", slow_but([(2, 3)], [(2, 3), (4, 5)]))
@pytest.mark.parametrize(
    "settings",
    [
        EVERYTHING,
        PLATEAU,
        {"average": "equal", "accumulate": 2, "schedule": "cosine", "warmup": 4},
        {"freeze": "0", "unfreeze_every": 2},
        {"precision": "fp16-mixed", "lr": 0.1},
        {"bad": (3, 4, 11)},
    ],
    ids=["everything", "plateau", "accumulated", "frozen", "fp16", "bad rows"],
)
def test_a_run_that_goes_on_is_the_same_in_every_attribute(
    tmp_path: Path, settings: dict[str, Any], moment: tuple[int, int]
) -> None:
    assert_goes_on(tmp_path, moment, **settings)


@pytest.mark.parametrize(
    "optimizer", slow_but(("adam", "momentum", "muon", "svrg"), sorted(OPTIMIZERS))
)
def test_every_optimizer_goes_on_with_all_that_it_knows(tmp_path: Path, optimizer: str) -> None:
    takes_all = OPTIMIZERS.load(optimizer).full_batch
    batches = {"batch_size": 20 if takes_all else 10}
    moment = (2, 1) if takes_all else (1, 1)
    assert_goes_on(tmp_path, moment, optimizer=optimizer, epochs=4, dropout=0.0, **batches)


def forget(name: str) -> Any:
    """A `load_state_dict` that leaves one attribute as it was."""

    def wrapped(load: Any) -> Any:
        def loaded(part: Any, values: Any) -> None:
            before = getattr(part, name)
            load(part, values)
            setattr(part, name, before)

        return loaded

    return wrapped


@pytest.mark.parametrize(
    ("kind", "name", "moment", "settings"),
    [
        (PlateauRates, "bad_epochs", (2, 3), PLATEAU),  # one of two that are put up with
        (PlateauRates, "drops", (4, 3), PLATEAU),
        (EarlyStopping, "best_epoch", (4, 3), {}),
        (WeightAverage, "count", (4, 3), {"average": "exponential"}),
        (RecentLosses, "updates", (4, 3), {}),
        (GuardNonFinite, "in_a_row", (2, 3), {"bad": (3, 4, 11)}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_planted_bug_an_attribute_that_is_not_restored_is_found(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: type,
    name: str,
    moment: tuple[int, int],
    settings: dict[str, Any],
) -> None:
    load = kind.load_state_dict  # type: ignore[attr-defined]
    monkeypatch.setattr(kind, "load_state_dict", forget(name)(load))
    with pytest.raises(AssertionError):
        assert_goes_on(tmp_path, moment, **settings)
