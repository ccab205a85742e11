"""Objects of one's own in several processes: they learn what one process learns, or say why not."""

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import SGD
from torch.utils.data import DataLoader, TensorDataset

import netwright as nw
from netwright.core.errors import NetwrightError
from netwright.core.seeding import seeded
from netwright.data.loading.loader import Batch
from tests.forked_ranks import start_ranks
from tests.repetition import slow_but

ROWS = 30
X = np.random.default_rng(0).normal(size=(ROWS, 3))
Y = (X[:, 0] > 0).astype(np.int64)
PATIENT = 600.0


class Net(nn.Module):
    """In float64, so that sums of parts round to what is compared; each process draws its own."""

    def __init__(self) -> None:
        super().__init__()
        with seeded(int(os.environ.get("RANK", "0"))):
            self.body, self.head = nn.Linear(3, 4).double(), nn.Linear(4, 2).double()

    def forward(self, x: Tensor, labels: Tensor | None = None) -> dict[str, Any]:
        logits = self.head(self.body(x).relu())
        loss = None if labels is None else functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


def each(output: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(output, targets, reduction="none")


def step(module: nn.Module, batch: Batch) -> Tensor:
    return functional.cross_entropy(module(batch.inputs.double())["logits"], batch.targets)


def by_turns(module: nn.Module, batch: Batch) -> Iterator[tuple[str, Tensor]]:
    for name in ("body", "head"):
        yield name, step(module, batch)


def on_epoch_end(state: Any) -> None:
    state.optimizer.param_groups[0]["lr"] *= 0.5


GIVEN: dict[str, dict[str, Any]] = {
    "a module": {},
    "a loss": {"loss": nn.CrossEntropyLoss(), "output": "logits"},
    "a loss of each row": {"loss": each, "output": "logits"},
    "a module's own loss": {"loss": "model"},
    "an optimizer's class": {"optimizer": partial(SGD, momentum=0.9)},
    "a training step": {"training_step": step},
    "a callback": {"callbacks": [on_epoch_end]},
}
OTHER_ROWS = "rows that another machine does not have"
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "several optimizers": (
        {"training_step": by_turns, "optimizer": {"body": SGD, "head": SGD}},
        "several optimizers train in one process",
    ),
    OTHER_ROWS: (
        {},
        "rank 1 does not train what rank 0 trains (from 0 to 1: the train split had ",
    ),
    "metrics": ({"metrics": {"most": max}}, "metrics of your own are measured in one process"),
    "a loader": (
        {"data": DataLoader(TensorDataset(torch.from_numpy(X), torch.from_numpy(Y)))},
        "a DataLoader are trained on in one process, got 2: give its Dataset",
    ),
}


def trained(name: str) -> dict[str, Any]:
    given: dict[str, Any] = {"data": (X, Y), "batch_size": 8, "lr": 0.1, **GIVEN[name]}
    run = nw.fit(Net(), **given, epochs=2, device="cpu", save=False, quiet=True)
    return {key: part.tolist() for key, part in run.model.state_dict().items()}


def note(folder: Path, names: tuple[str, ...]) -> None:
    """What each came to on this rank."""
    done: dict[str, Any] = {name: trained(name) for name in names if name in GIVEN}
    for name in (name for name in names if name in REFUSED):
        rows = ROWS - 4 * int(os.environ["RANK"])
        own = {"data": (X[:rows], Y[:rows])} if name == OTHER_ROWS else {}
        given = {"data": (X, Y), "lr": 0.1, **REFUSED[name][0], **own}
        try:
            nw.fit(Net(), **given, epochs=1, device="cpu", save=False, quiet=True)
        except NetwrightError as error:
            done[name] = str(error)
    (folder / os.environ["RANK"]).write_text(json.dumps(done))


QUICKLY = ("a module's own loss", "several optimizers", OTHER_ROWS)


@pytest.mark.parametrize("names", slow_but([], [QUICKLY, (*GIVEN, *REFUSED)]), ids=["few", "all"])
def test_two_processes_learn_what_one_learns(names: tuple[str, ...], tmp_path: Path) -> None:
    processes = start_ranks(tmp_path, 2, note, tmp_path, names)
    try:
        for rank, process in enumerate(processes):
            process.join(PATIENT)
            assert process.exitcode == 0, (tmp_path / f"errors-{rank}").read_text()
    finally:
        for process in processes:
            process.kill()
            process.join()
    first, second = (json.loads((tmp_path / str(rank)).read_text()) for rank in range(2))
    assert first == second
    for name in names:
        if name in REFUSED:
            assert REFUSED[name][1] in first[name]
            continue
        for key, part in trained(name).items():
            np.testing.assert_allclose(first[name][key], part, rtol=1e-6, err_msg=f"{name} {key}")
