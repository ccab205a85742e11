"""A module is called with labels and computes its loss itself; all else is measured as ever."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import netwright as nw
from netwright.core.adapted_module import AdaptedModule
from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.loading.loader import Batch
from netwright.train.own.model_loss import ModelLoss, loss_part

ROWS = 24
DATA = (np.random.default_rng(0).normal(size=(ROWS, 3)).astype(np.float32), np.arange(ROWS) % 2)
QUICK: dict[str, Any] = {"epochs": 2, "device": "cpu", "quiet": True}


class Computes(nn.Module):
    """Twice the usual loss, so that it can be told from the usual one."""

    def __init__(self) -> None:
        super().__init__()
        with seeded(0):
            self.head = nn.Linear(3, 2)

    def forward(self, x: Tensor, labels: Tensor | None = None) -> dict[str, Tensor | None]:
        logits = self.head(x)
        loss = None if labels is None else 2 * functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits, "hidden": x}


class Silent(Computes):
    def forward(self, x: Tensor, labels: Tensor | None = None) -> Any:
        return {"logits": self.head(x), "hidden": x}


class Plain(Computes):
    def forward(self, x: Tensor, labels: Tensor | None = None) -> Any:
        return self.head(x)


def test_its_own_loss_is_minimised_and_its_logits_are_measured(tmp_path: Path) -> None:
    run = nw.fit(Computes(), DATA, loss="model", out=tmp_path / "run", **QUICK)
    assert run.config["own"] == {"loss": "model"}
    measured = run.evaluate()
    assert measured["loss"] == pytest.approx(2 * measured["log_loss"], rel=1e-5)
    assert 0 <= measured["accuracy"] <= 1
    assert run.history.has("train")
    by_hand = nw.fit(
        Computes(),
        DATA,
        loss=lambda output, targets: 2 * functional.cross_entropy(output, targets),
        output="logits",
        save=False,
        **QUICK,
    )
    for one, other in zip(run.model.parameters(), by_hand.model.parameters(), strict=True):
        assert torch.equal(one, other)
    assert nw.open_run(tmp_path / "run", Computes()).evaluate(DATA) == run.evaluate(DATA)


def test_a_run_goes_on_exactly_and_predicts_without_labels(tmp_path: Path) -> None:
    whole = nw.fit(Computes(), DATA, loss="model", batch_size=8, save=False, **QUICK)
    given: dict[str, Any] = {"loss": "model", "batch_size": 8, **QUICK}
    nw.fit(Computes(), DATA, out=tmp_path / "run", max_steps=3, **given)
    again = nw.fit(Computes(), DATA, resume=tmp_path / "run", **given)
    assert again.results["metrics"] == whole.results["metrics"]
    assert (again.predict(DATA[0]) == whole.predict(DATA[0])).all()


def test_the_estimator_and_the_part_that_is_named_take_it_too() -> None:
    estimator = nw.NetClassifier(Computes, loss="model", output="logits", epochs=1, device="cpu")
    assert estimator.fit(*DATA).predict(DATA[0]).shape == (ROWS,)


@pytest.mark.parametrize(
    ("inputs", "names"),
    [
        (torch.zeros(2, 3), ("x",)),
        ((torch.zeros(2, 3), torch.ones(2)), ("x", "mask")),
        ({"mask": torch.ones(2)}, ("mask",)),
    ],
)
def test_inputs_have_the_names_of_forward(inputs: Any, names: tuple[str, ...]) -> None:
    class Two(nn.Module):
        def forward(self, x: Tensor, mask: Tensor, target: Tensor | None = None) -> Any:
            return {"loss": None}

    targets = torch.tensor([1, 0])
    called = ModelLoss(AdaptedModule(Two())).inputs(Batch(inputs, targets, None, targets))
    assert list(called) == [*names, "target"]
    assert called["target"] is targets


def test_a_causal_model_is_given_the_tokens_that_it_compares_with_those_before() -> None:
    text = torch.arange(12).reshape(2, 6)
    batch = Batch(text[:, :-1], text[:, 1:], None, torch.arange(2))
    labels = ModelLoss(AdaptedModule(Computes()), predicts_next=True).inputs(batch)["labels"]
    assert torch.equal(labels[:, 1:], text[:, 1:-1])


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        (nn.Linear(3, 2), r"forward takes labels, that of Linear takes input: name a loss"),
        (Plain(), "returns its loss and its prediction by name, Plain returns one tensor"),
        (Silent(), "returns its loss as 'loss' where it is given labels, got dict"),
    ],
)
def test_a_module_that_does_not_compute_it_is_refused(module: nn.Module, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        nw.fit(module, DATA, loss="model", save=False, **QUICK)


def test_a_part_that_is_no_number_is_refused() -> None:
    with pytest.raises(ConfigError, match="got tuple: name a loss"):
        loss_part((torch.ones(()),), torch.ones(1))
