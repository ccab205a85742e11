"""Objects of one's own with `compile`: traced whole they learn the same, or it is said why not."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import SGD
from torch.utils.data import DataLoader, TensorDataset

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from tests.repetition import slow_but

ROWS = 16
X = np.random.default_rng(0).normal(size=(ROWS, 3)).astype(np.float32)
Y = np.arange(ROWS) % 2


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        with seeded(0):
            self.head = nn.Linear(3, 2)

    def forward(self, x: Tensor, labels: Tensor | None = None) -> dict[str, Any]:
        logits = self.head(x)
        loss = None if labels is None else functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


class Two(Net):
    def forward(self, x: Tensor, other: Tensor) -> Any:  # type: ignore[override]
        return self.head(x) - self.head(other)


def loader() -> DataLoader[Any]:
    return DataLoader(TensorDataset(torch.from_numpy(X), torch.from_numpy(Y)), batch_size=8)


DOORS: dict[str, tuple[Callable[[], nn.Module], dict[str, Any]]] = {
    "a dict": (Net, {}),
    "a module's own loss": (Net, {"loss": "model"}),
    "a loss and an optimizer": (
        Net,
        {"loss": nn.CrossEntropyLoss(), "output": "logits", "optimizer": partial(SGD, lr=0.1)},
    ),
    "float64": (lambda: Net().double(), {}),
    "two inputs": (Two, {"data": ((X, -X), Y)}),
    "a loader": (Net, {"data": loader(), "batch_size": None}),
    "a callback": (Net, {"callbacks": {"on_epoch_end": lambda state: None}}),
}


@pytest.mark.parametrize("name", slow_but(["a module's own loss"], DOORS))
def test_a_compiled_module_learns_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The tracer alone: what it makes of the graph is torch's own matter, and takes a minute.
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager", fullgraph=True))
    make, given = DOORS[name]
    settings = {"data": (X, Y), "batch_size": 8, "epochs": 2, "device": "cpu", **given}
    plain, compiled = (
        nw.fit(make(), **settings, compile=compiles, save=False, quiet=True)
        for compiles in (False, True)
    )
    for one, other in zip(plain.model.parameters(), compiled.model.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_a_training_step_is_compiled_by_its_author() -> None:
    with pytest.raises(ConfigError, match="compile is not supported with your own training_step"):
        nw.fit(Net(), (X, Y), compile=True, training_step=max, save=False)
