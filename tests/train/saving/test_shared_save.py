"""A sharded run trains on while its checkpoint is written: by threads, from copies."""

import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.core.errors import DataError, RunError
from netwright.train.callback import Callback, read_callbacks
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.ranks import joined
from netwright.train.saving import shared_save
from netwright.train.saving.checkpoint import read_model
from netwright.train.saving.checkpoint_store import list_checkpoints, newest_good
from netwright.train.saving.shared_save import SharedSave
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer
from tests.train.engines.sharded_runs import build, data_for

EVERY, STEPS = 4, 10  # saves after 4, 8 and 10, the last in an epoch
LIMIT = 60.0  # seconds for what takes none
ON_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")


class TrainsOn(Callback):
    """Notes the weights of each step; the first save is written when two more are made."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.moved = threading.Event()
        self.was_moved: list[bool] = []
        self.weights: dict[int, dict[str, Tensor]] = {}
        write = SharedSave._write

        def later(save: SharedSave) -> None:
            self.was_moved.append(self.moved.wait(LIMIT))
            write(save)

        patch.setattr(SharedSave, "_write", later)

    def on_step_end(self, state: TrainState) -> None:
        values = state.model.state_dict()
        own = state.engine.own(values.values())
        self.weights[state.step] = {
            name: value.clone() for name, value in zip(values, own, strict=True)
        }
        if state.step == EVERY + 2:
            self.moved.set()


def train(folder: Path, *calls: Callback, device: str = "cpu") -> SaveCheckpoints:
    """A sharded run of one process, whose checkpoints all stay."""
    config = TrainConfig(
        max_steps=STEPS, batch_size=8, lr=0.01, device=device, parallel="shard", epochs=None
    )
    data = data_for("mlp")
    save = SaveCheckpoints(folder, every=99, every_steps=EVERY, keep=9)
    with joined(LIMIT, shards=True) as ranks:
        trainer = Trainer(config, task_for(data), callbacks=[*calls, save], ranks=ranks)
        trainer.fit(trainer.start(build("mlp"), data), data)
    return save


def saved_as_they_were(folder: Path, weights: dict[int, dict[str, Tensor]]) -> list[bool]:
    """Of each checkpoint: whether it holds the weights of its step."""
    return [holds(place, weights[int(place.name[-6:])]) for place in list_checkpoints(folder)]


def holds(place: Path, weights: dict[str, Tensor]) -> bool:
    """Whether a checkpoint has these weights; numbers that moved while it was written damage it."""
    try:
        kept = read_model(place)
    except DataError:
        return False
    return all(torch.equal(value.cpu(), kept[name]) for name, value in weights.items())


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=ON_CUDA)])
def test_steps_do_not_wait_and_what_is_written_is_of_the_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    trained = TrainsOn(monkeypatch)
    train(tmp_path, trained, device=device)
    assert trained.was_moved == [True] * 3  # the steps of which the first save is told were made
    assert saved_as_they_were(tmp_path, trained.weights) == [True] * 3
    assert newest_good(tmp_path) == (tmp_path / "checkpoints" / f"step-{STEPS:06d}", [])


class Borrowed:
    """Planted: the tensor itself in the place of its copy."""

    def __init__(self, numbers: Tensor) -> None:
        self.numbers = numbers.detach()

    def read(self) -> Tensor:
        return self.numbers


def test_planted_bug_without_copies_the_weights_of_later_steps_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_save, "HostCopy", Borrowed)
    trained = TrainsOn(monkeypatch)
    train(tmp_path, trained)
    assert saved_as_they_were(tmp_path, trained.weights)[0] is False


def test_an_error_of_the_thread_ends_the_run_at_the_next_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(save: SharedSave) -> None:
        raise RunError("state.json cannot be written: No space left on device")

    steps: list[int] = []
    monkeypatch.setattr(SharedSave, "_write", fail)
    seen = {"on_step_end": lambda state: steps.append(state.step)}
    with pytest.raises(RunError, match=r"^state\.json cannot be written: No space left"):
        train(tmp_path, *read_callbacks(seen))
    assert steps[-1] == 2 * EVERY
    assert list((tmp_path / "checkpoints").iterdir()) == []  # nor what was begun


class Fails(Callback):
    def on_step_end(self, state: TrainState) -> None:
        if state.step == EVERY + 1:
            raise RunError("the loss is not finite")


def test_a_save_under_way_is_finished_when_training_ends_by_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()
    give_up, write = SharedSave.give_up, SharedSave._write

    def noted(save: SharedSave) -> None:
        begun.set()
        give_up(save)

    def late(save: SharedSave) -> None:
        assert begun.wait(LIMIT)
        write(save)

    monkeypatch.setattr(SharedSave, "give_up", noted)
    monkeypatch.setattr(SharedSave, "_write", late)
    with pytest.raises(RunError, match="the loss is not finite"):
        train(tmp_path, Fails())
    assert newest_good(tmp_path) == (tmp_path / "checkpoints" / f"step-{EVERY:06d}", [])


def test_the_next_save_is_due_when_writing_took_little_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = SaveCheckpoints(tmp_path)
    state: Any = type("Alone", (), {"ranks": type("Ranks", (), {"decide": lambda _, due: due})()})
    clock = {"now": 1000.0}
    monkeypatch.setattr("time.monotonic", lambda: clock["now"])
    save.saved_when, save.cost = 1000.0, 0.0
    save.under_way = SharedSave.__new__(SharedSave)
    save.under_way._began, save.under_way._ended = 1000.0, 0.0
    clock["now"] = 1400.0
    assert not save._is_due(state)  # it still writes
    save.under_way._ended = 1003.0
    assert save._is_due(state)
    save.under_way._ended = 1005.0
    assert not save._is_due(state)
