"""Several processes on the same batches learn what one learns, and see every row once an epoch."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.train.callback import Callback
from netwright.train.callbacks.doctor import Doctor
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.callbacks.step_rows import StepRows
from netwright.train.ranks import ALONE, Ranks, joined
from netwright.train.saving.checkpoint import load_checkpoint
from netwright.train.saving.checkpoint_store import newest_good
from netwright.train.settings import TrainConfig
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer
from netwright.train.watching.history import CLOCKED
from netwright.train.watching.time_budget import Clock
from tests.forked_ranks import start_ranks
from tests.repetition import slow_but
from tests.train.toy_runs import assert_same, doubled, toy_data, toy_net, weighed

# 23 rows in batches of 8: the last has 7, so two ranks have 4 and 3 of it, and three 3, 2 and 2.
SETTINGS: dict[str, dict[str, Any]] = {
    "adam": {"optimizer": "adam", "lr": 0.05, "schedule": "cosine"},
    "momentum": {"optimizer": "momentum", "lr": 0.1},
    "accumulated": {"optimizer": "adam", "lr": 0.05, "accumulate": 2},
    "regularized": {
        "optimizer": "momentum",
        "l1": 0.01,
        "l2": 0.01,
        "clip_norm": 0.5,
        "weight_noise": 0.1,
        "gradient_noise": 0.01,
        "average": "exponential",
        "average_decay": 0.8,
    },
    "tiny last batch": {"optimizer": "sgd", "lr": 0.5, "batch_size": 11},  # its row is one rank's
}


class Rows(Callback):
    """Notes the rows that this rank learned from, as (epoch, row), and not those that fill up."""

    def __init__(self, batch_size: int, rows: int, ranks: Ranks) -> None:
        self.batch_size, self.rows, self.ranks = batch_size, rows, ranks
        self.seen: list[tuple[int, int]] = []

    def on_batch_end(self, state: Any) -> None:
        place = state.position - 1
        whole = min(self.batch_size, self.rows - place * self.batch_size)
        own = len(range(self.ranks.rank, whole, self.ranks.world))
        self.seen += [(state.epoch, row) for row in state.batch.rows[:own].tolist()]


class Life:
    """A run of one rank, in float64; its end is in `outcome`."""

    def __init__(self, kind: str, ranks: Ranks, folder: Path | None = None, **more: Any) -> None:
        data = toy_data(rows=23)
        data = doubled(replace(data, train=weighed(data.train, [1.0 + i % 3 for i in range(23)])))
        often = {"epochs": 3, "batch_size": 8, "eval_every": 2, "device": "cpu"}
        settings = {**often, **SETTINGS[kind], **more}
        stop, dropout = settings.pop("stop_at", None), settings.pop("dropout", 0.0)
        config = TrainConfig(**settings)
        self.early = EarlyStopping(restore_best=False)
        assert config.batch_size is not None
        self.rows = Rows(config.batch_size, 23, ranks)
        self.doctor = Doctor(clock=Clock(lambda: 0.0, lambda: 0.0))  # no look is too long
        watched = [StepRows(2), self.early]
        calls: list[Callback] = [*watched, self.rows, self.doctor]
        if folder is not None:
            calls.append(SaveCheckpoints(folder, watched=watched, best=self.early, every=1))
        if stop is not None:
            calls.insert(0, StopAt(stop))
        trainer = Trainer(config, task_for(data), callbacks=calls, ranks=ranks)
        self.state = trainer.start(toy_net(dropout=dropout).double(), data)
        checkpoint = None if folder is None else newest_good(folder)[0]
        if checkpoint is not None:
            load_checkpoint(checkpoint, self.state, watched, allow=["processes"])
        trainer.fit(self.state, data)

    def outcome(self) -> dict[str, Any]:
        rows = [row for row in self.state.history if row.name not in CLOCKED]
        return {
            "weights": dict(self.state.model.state_dict()),
            "history": [(row.step, row.epoch, row.split, row.name, row.value) for row in rows],
            "seen": self.rows.seen,
            "lengths": [(row.gradient, row.weight, row.update) for row in self.doctor.seen],
        }


class StopAt(Callback):
    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, state: Any) -> None:
        if state.step == self.step:
            state.cut_short("stop")


def live(kind: str, folder: Path, saves: bool, more: dict[str, Any]) -> None:
    """The work of one rank: train, and leave what came of it."""
    with joined(30.0) as ranks:
        life = Life(kind, ranks, folder / "run" if saves else None, **more)
        torch.save(life.outcome(), folder / f"outcome-{ranks.rank}")


def live_together(
    kind: str, folder: Path, world: int, *, saves: bool = False, **more: Any
) -> list[dict[str, Any]]:
    for left in ("meeting", *(f"outcome-{rank}" for rank in range(world))):
        (folder / left).unlink(missing_ok=True)
    (folder / "run").mkdir(exist_ok=True)
    processes = start_ranks(folder, world, live, kind, folder, saves, more)
    for rank, process in enumerate(processes):
        process.join(60)
        assert process.exitcode == 0, (folder / f"errors-{rank}").read_text()
    return [torch.load(folder / f"outcome-{rank}") for rank in range(world)]


def assert_near(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> None:
    for name, tensor in theirs.items():
        torch.testing.assert_close(ours[name], tensor, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("kind", "world"),
    [
        ("adam", 2),
        ("regularized", 2),
        ("tiny last batch", 3),
        pytest.param("adam", 3, marks=pytest.mark.slow),
        *(
            pytest.param(kind, 2, marks=pytest.mark.slow)
            for kind in SETTINGS
            if kind not in {"adam", "regularized"}
        ),
    ],
)
def test_several_processes_learn_what_one_learns(tmp_path: Path, kind: str, world: int) -> None:
    alone = Life(kind, ALONE).outcome()
    together = live_together(kind, tmp_path, world)
    for outcome in together:
        assert_near(outcome["weights"], alone["weights"])
        assert_same(outcome["weights"], together[0]["weights"])  # ranks do not drift apart
        assert outcome["history"] == together[0]["history"]
    for ours, theirs in zip(together[0]["history"], alone["history"], strict=True):
        assert ours[:4] == theirs[:4]
        assert ours[4] == pytest.approx(theirs[4], rel=1e-6)
    for numbers, single in zip(together[0]["lengths"], alone["lengths"], strict=True):
        torch.testing.assert_close(torch.tensor(numbers), torch.tensor(single), rtol=1e-4, atol=0)
    seen = [pair for outcome in together for pair in outcome["seen"]]
    assert sorted(seen) == sorted(alone["seen"])
    assert len(set(seen)) == len(seen) == 3 * 23


@pytest.mark.parametrize("kind", slow_but(["regularized"], ["adam", "regularized"]))
def test_ranks_go_on_exactly_each_with_its_own_random_numbers(tmp_path: Path, kind: str) -> None:
    """With dropout each rank draws for itself: its generators are in the checkpoint."""
    places = [tmp_path / name for name in ("whole", "parted")]
    for place in places:
        place.mkdir()
    more = {"dropout": 0.5, "input_noise": 0.1, "label_noise": 0.1}
    whole = live_together(kind, places[0], 2, saves=True, **more)
    live_together(kind, places[1], 2, saves=True, stop_at=4, **more)
    again = live_together(kind, places[1], 2, saves=True, **more)
    for ours, theirs in zip(again, whole, strict=True):
        assert_same(ours["weights"], theirs["weights"])
        assert ours["history"] == theirs["history"]


@pytest.mark.parametrize("worlds", slow_but([(2, 3)], [(2, 1), (1, 2), (2, 3)]))
def test_another_number_of_processes_goes_on_with_the_same_batches(
    tmp_path: Path, worlds: tuple[int, int]
) -> None:
    """Each row once an epoch, also in the epoch in which the number changed."""
    alone = Life("adam", ALONE).outcome()
    (tmp_path / "run").mkdir()
    seen: list[tuple[int, int]] = []
    outcome: dict[str, Any] = {}
    for world, stop in zip(worlds, (4, None), strict=True):
        if world == 1:
            life = Life("adam", ALONE, tmp_path / "run", stop_at=stop)
            outcomes = [life.outcome()]
        else:
            outcomes = live_together("adam", tmp_path, world, saves=True, stop_at=stop)
        seen += [pair for one in outcomes for pair in one["seen"]]
        outcome = outcomes[0]
    assert_near(outcome["weights"], alone["weights"])
    assert sorted(seen) == sorted(alone["seen"])


def test_what_steps_by_itself_trains_in_one_process() -> None:
    data = toy_data()
    config = TrainConfig(optimizer="lbfgs", batch_size=4)
    with pytest.raises(ConfigError, match=r"^lbfgs trains in one process: it takes its own steps$"):
        Trainer(config, task_for(data), ranks=Ranks(0, 2))
