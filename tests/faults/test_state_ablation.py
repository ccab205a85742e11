"""Each piece of the state is needed: without it a resume is refused, or the run is another one."""

import shutil
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from netwright.core.errors import NetwrightError
from netwright.core.seeding import derive_seed, random_state, seeded
from netwright.train import state as train_state
from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.saving import checkpoint, checkpoint_content
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.state import TrainState
from tests.faults.scenario import Figures, Scenario
from tests.faults.small_runs import Witness, is_same, stored_data
from tests.train.saving.test_checkpoint import rewrite, seal
from tests.train.toy_runs import copy_of, toy_net, toy_trainer

SEED = 7
LARGEST_SCALE = 2.0**15  # of the loss; it starts at twice that


class WeightAverage(Callback):
    """A running average of the weights: a callback of the user's own."""

    def __init__(self) -> None:
        self.weights: dict[str, Tensor] = {}

    def on_step_end(self, state: TrainState) -> None:
        for name, weight in copy_of(state.model).items():
            self.weights[name] = 0.5 * (self.weights.get(name, weight) + weight)

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        self.weights = values["weights"]


class Save(Callback):
    """Saves once, in the second epoch between two batches of one update."""

    def __init__(self, folder: Path, watched: list[Callback]) -> None:
        self.folder, self.watched = folder, watched

    def on_batch_end(self, state: TrainState) -> None:
        if (state.epoch, state.position) == (1, 3) and not self.folder.exists():
            save_checkpoint(self.folder, state, self.watched)


class Life:
    """A run that uses everything: built, loaded where there is a checkpoint, then trained."""

    def __init__(self, folder: Path) -> None:
        self.data = stored_data(folder, rows=20)
        # Nothing after the first epoch is better by so much.
        self.early = EarlyStopping(min_delta=10.0, restore_best=False)
        self.average, self.witness = WeightAverage(), Witness()
        self.watched = [self.witness, self.average, self.early]
        self.trainer = toy_trainer(
            self.data,
            callbacks=[*self.watched, Save(folder / "saved", self.watched)],
            seed=SEED,
            accumulate=2,
            optimizer="adamw",
            schedule="cosine",
            precision="fp16-mixed",
        )
        self.state = self.trainer.start(toy_net(batch_norm=True, dropout=0.4), self.data)
        first = next(self.state.model.parameters())
        first.register_hook(self.overflow)  # type: ignore[no-untyped-call]

    def overflow(self, grad: Tensor) -> Tensor:
        """What float16 does to gradients of a loss that is scaled too much."""
        assert self.state.scaler is not None
        return grad * torch.inf if self.state.scaler.get_scale() > LARGEST_SCALE else grad

    def load(self, folder: Path) -> None:
        load_checkpoint(folder, self.state, self.watched)

    def train(self) -> dict[str, Any]:
        """What the run is at its end."""
        self.trainer.fit(self.state, self.data)
        state, scaler = self.state, self.state.scaler
        return {
            "model": copy_of(state.model),
            "optimizer": state.optimizer.state_dict(),
            "schedule": state.schedule.state_dict(),
            "scaler": None if scaler is None else scaler.state_dict(),
            "history": [{**asdict(row), "time": None} for row in state.history],
            "counts": [state.epoch, state.position, state.accumulated, state.step, state.samples],
            "callbacks": [call.state_dict() for call in self.watched],
        }


Forget = Callable[[Life, Life], object]


class Piece(NamedTuple):
    """A part of the state.

    Args:
        file: where it is saved.
        path: its place there, which is what the refusal names.
        forget: put the piece of a new run in place of the one that was loaded.
    """

    file: str
    path: str
    forget: Forget


def forget_counter(life: Life, new: Life, *, name: str) -> None:
    setattr(life.state, name, getattr(new.state, name))


def forget_generator(life: Life, new: Life, *, name: str) -> None:
    assert life.state.random is not None
    with seeded(derive_seed(SEED, "train")):
        life.state.random[name] = random_state()[name]


def forget_weights(life: Life, new: Life) -> None:
    torch._foreach_copy_([*life.state.model.parameters()], [*new.state.model.parameters()])


def forget_buffers(life: Life, new: Life) -> None:
    torch._foreach_copy_([*life.state.model.buffers()], [*new.state.model.buffers()])


def forget_scaler(life: Life, new: Life) -> None:
    assert life.state.scaler is not None
    assert new.state.scaler is not None
    life.state.scaler.load_state_dict(new.state.scaler.state_dict())


MODEL, STATE = "model.safetensors", "state.json"
PIECES = {
    "weights": Piece(MODEL, "0.weight", torch.no_grad()(forget_weights)),
    "batch norm": Piece(MODEL, "1.running_mean", forget_buffers),
    "moments": Piece(
        STATE,
        "optimizer/state/0/exp_avg",
        lambda life, new: life.state.optimizer.state.clear(),
    ),
    "schedule": Piece(
        STATE,
        "schedule/last_epoch",
        lambda life, new: life.state.schedule.load_state_dict(new.state.schedule.state_dict()),
    ),
    "scaler": Piece(STATE, "scaler", forget_scaler),
    "average": Piece(
        STATE,
        "callbacks/WeightAverage",
        lambda life, new: life.average.load_state_dict(new.average.state_dict()),
    ),
    "python's generator": Piece(
        STATE, "ranks/0/random/python", partial(forget_generator, name="python")
    ),
    "numpy's generator": Piece(
        STATE, "ranks/0/random/numpy", partial(forget_generator, name="numpy")
    ),
    "torch's generator": Piece(
        STATE, "ranks/0/random/torch", partial(forget_generator, name="torch")
    ),
    "epoch": Piece(STATE, "epoch", partial(forget_counter, name="epoch")),
    "seed": Piece(STATE, "conditions/seed", lambda life, new: setattr(life.trainer, "seed", 0)),
    "place in the data": Piece(STATE, "position", partial(forget_counter, name="position")),
    "gradients": Piece(STATE, "ranks/0/gradients", partial(forget_counter, name="gradients")),
    "best": Piece(
        STATE,
        "callbacks/EarlyStopping",
        lambda life, new: life.early.load_state_dict(new.early.state_dict()),
    ),
    "step": Piece(STATE, "step", partial(forget_counter, name="step")),
}


def drop(values: dict[str, Any], path: str) -> None:
    """Leave one key out of a packed tree."""
    *way, last = path.split("/")
    if not way:
        del values[last]
        return
    tree = values[way[0]]
    for key in way[1:]:
        if "$list" in tree:
            tree = tree["$list"][int(key)]
        else:
            tree = {str(name): value for name, value in tree["$pairs"]}[key]
    tree["$pairs"] = [pair for pair in tree["$pairs"] if str(pair[0]) != last]


def is_refused(folder: Path, number: int, piece: Piece) -> bool:
    """Whether a checkpoint without this piece is refused in one sentence that names it."""
    place = Path(shutil.copytree(folder / "saved", folder / f"lacking-{number}"))
    if piece.file == MODEL:
        weights = load_file(place / MODEL)
        save_file({name: weights[name] for name in weights if name != piece.path}, place / MODEL)
        seal(place)
    else:
        rewrite(place, lambda values: drop(values, piece.path))
    try:
        Life(folder).load(place)
    except NetwrightError as error:
        return repr(piece.path) in str(error) and "\n" not in str(error)
    except Exception:
        return False
    return False


def end_without(folder: Path, forget: Forget) -> dict[str, Any]:
    """The end of a run that went on with a piece as in a new run."""
    life = Life(folder)
    life.load(folder / "saved")
    forget(life, Life(folder))
    return life.train()


def measure(folder: Path) -> Figures:
    whole = Life(folder).train()
    goes_on = is_same(end_without(folder, lambda life, new: None), whole)
    refused = [is_refused(folder, *numbered) for numbered in enumerate(PIECES.values())]
    matter = [not is_same(end_without(folder, piece.forget), whole) for piece in PIECES.values()]
    return Figures(
        n=1 + 2 * len(PIECES),
        passed=goes_on + sum(refused) + sum(matter),
        counts={"refused by name": sum(refused), "change the run": sum(matter)},
    )


SCENARIO = Scenario(
    code="T04",
    title="A piece of the state is missing",
    measure=measure,
    least={"refused by name": 15, "change the run": 15},
)


def test_each_piece_of_the_state_is_needed(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures
    assert figures.n == 31


@pytest.mark.slow
def test_planted_bug_missing_keys_are_not_looked_for_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for saving in (checkpoint, checkpoint_content):
        monkeypatch.setattr(saving, "pieces_of", lambda tree: ())  # neither listed nor compared
    monkeypatch.setattr(checkpoint, "check_whole", lambda *args: None)
    # The schedule, the generators, the gradients and both callbacks.
    assert measure(tmp_path).counts["refused by name"] == 15 - 7


@pytest.mark.slow
def test_planted_bug_missing_moments_are_not_looked_for_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for saving in (checkpoint, checkpoint_content):
        monkeypatch.setattr(saving, "pieces_of", lambda tree: ())
    monkeypatch.setattr(checkpoint, "find_missing_memory", lambda *args, unmoved: "")
    assert measure(tmp_path).counts["refused by name"] == 15 - 1


@pytest.mark.slow
def test_planted_bug_a_piece_that_is_never_restored_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_state, "set_random_state", lambda state: None)
    figures = measure(tmp_path)
    assert figures.passed < figures.n  # the whole checkpoint does not go on exactly
