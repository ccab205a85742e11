"""Runs of several ranks in float64 whose weights are sharded or replicated, and of one process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from netwright.core.seeding import seeded
from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.models.catalog import MODELS
from netwright.train.callback import Callback
from netwright.train.callbacks.doctor import Doctor
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.callbacks.step_rows import StepRows
from netwright.train.ranks import ALONE, Ranks, joined
from netwright.train.saving.checkpoint import load_checkpoint
from netwright.train.saving.checkpoint_store import newest_good
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer
from netwright.train.watching.history import CLOCKED
from tests.forked_ranks import start_ranks
from tests.train.token_data import text_data
from tests.train.toy_runs import doubled

STEPS = 50
LIMIT = 300.0  # seconds for what should take a few
MODEL_SETTINGS: dict[str, dict[str, Any]] = {
    "mlp": {"hidden": (33, 17), "dropout": 0.0},  # rows that ranks cannot share evenly
    "resnet20": {},
    "lstm": {"hidden": 6, "embedding": 5, "dropout": 0.0},
    "gpt": {"layers": 3, "heads": 2, "width": 10, "dropout": 0.0},
}


@dataclass(frozen=True, kw_only=True)
class Life:
    """What a rank does: how it trains, where it saves, and after which step it stops."""

    model: str
    parallel: str = "shard"
    folder: Path | None = None
    stop: int = STEPS
    settings: dict[str, Any] = field(default_factory=dict)
    allow: Sequence[str] = ()

    def run(self, ranks: Ranks) -> dict[str, Any]:
        """Train or go on; the weights of the model that was built, and the history."""
        data, model = data_for(self.model), build(self.model)
        config = TrainConfig(
            **{
                **{"max_steps": STEPS, "batch_size": 8, "lr": 0.01, "device": "cpu"},
                **{"eval_every": 7, "schedule": "cosine", "parallel": self.parallel},
                **self.settings,
            }
        )
        best = EarlyStopping()
        watched: list[Callback] = [GuardNonFinite(), StepRows(5), best, Doctor()]
        losses = Losses()
        calls = [*watched, StopAt(self.stop), FixedStatistics(), losses]
        if self.folder is not None:
            calls.append(SaveCheckpoints(self.folder, watched=watched, best=best, every_steps=6))
        trainer = Trainer(config, task_for(data), callbacks=calls, ranks=ranks)
        state = trainer.start(model, data)
        checkpoint = None if self.folder is None else newest_good(self.folder)[0]
        if checkpoint is not None:
            load_checkpoint(checkpoint, state, watched, allow=self.allow)
        trainer.fit(state, data)
        rows = [row for row in state.history if row.name not in CLOCKED]
        return {
            "weights": dict(model.state_dict()),
            "history": [(row.step, row.split, row.name, row.value) for row in rows],
            "losses": losses.by_samples,
            "step": state.step,
        }


class StopAt(Callback):
    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, state: TrainState) -> None:
        if state.step == self.step < STEPS:
            state.cut_short("stop")


class Losses(Callback):
    """The loss of every batch over the rows of all ranks, in float64, by the samples seen."""

    def __init__(self) -> None:
        self.by_samples: dict[int, float] = {}
        self.before = 0

    def on_fit_start(self, state: TrainState) -> None:
        self.before = state.samples

    def on_batch_end(self, state: TrainState) -> None:
        rank, world = state.ranks.rank, state.ranks.world
        whole, self.before = state.samples - self.before, state.samples
        own = len(range(rank, whole, world))  # one that has no row is given one, for nothing
        total = torch.tensor([state.loss.item() * own if own else 0.0], dtype=torch.float64)
        self.by_samples[state.samples] = state.ranks.sum(total).item() / whole


class FixedStatistics(Callback):
    """Batch norm by its running statistics: those of a batch would be of a rank's part of it."""

    def on_epoch_start(self, state: TrainState) -> None:
        for part in state.model.modules():
            if isinstance(part, nn.BatchNorm2d):
                part.eval()


def data_for(model: str) -> Data:
    """Digits as features or images, or a text; 8 rows a batch, and the last has fewer."""
    if model in {"lstm", "gpt"}:
        return text_data(length=4 * 45 + 1)
    data = load("digits")
    rows, val = torch.arange(45), data.val
    assert val is not None
    return doubled(replace(data, train=data.train.take(rows), val=val.take(rows), test=None))


def build(name: str) -> nn.Module:
    kind = MODELS.load(name)
    with seeded(0):
        return kind.build(kind.settings(**MODEL_SETTINGS[name]), data_for(name).spec).double()


def live(life: Life, out: Path) -> None:
    """The work of one rank."""
    with joined(60.0, shards=True) as ranks:
        torch.save(life.run(ranks), out / f"outcome-{ranks.rank}")


def live_alone(life: Life) -> dict[str, Any]:
    """The same in this process, without a group."""
    return replace(life, parallel="replicate").run(ALONE)


def live_together(life: Life, out: Path, world: int) -> list[dict[str, Any]]:
    """What came of each rank."""
    place = out / f"notes-{len(list(out.glob('notes-*')))}"
    place.mkdir(parents=True)
    run_ranks(place, world, live, life, place)
    return [torch.load(place / f"outcome-{rank}") for rank in range(world)]


def run_ranks(place: Path, world: int, work: Callable[..., None], *given: Any) -> None:
    """Let ranks work to their end; a folder of their own is for what they say."""
    processes = start_ranks(place, world, work, *given)
    for rank, process in enumerate(processes):
        process.join(LIMIT)
        assert process.exitcode == 0, (place / f"errors-{rank}").read_text()


def assert_near(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """The same steps, losses and weights to 1e-10; rows of the history are of float32."""
    assert ours["step"] == theirs["step"]
    assert max(ours["losses"]) == max(theirs["losses"])
    for samples, loss in ours["losses"].items():  # those of its own life
        assert abs(loss - theirs["losses"][samples]) <= 1e-10, samples
    for name, weight in theirs["weights"].items():
        torch.testing.assert_close(ours["weights"][name], weight, rtol=0, atol=1e-10)
    for one, other in zip(ours["history"], theirs["history"], strict=True):
        assert one[:3] == other[:3]
        torch.testing.assert_close(one[3], other[3], rtol=1e-5, atol=1e-7)


def assert_equal(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """The same bits."""
    assert ours["history"] == theirs["history"]
    for name, weight in theirs["weights"].items():
        assert torch.equal(ours["weights"][name], weight), name
