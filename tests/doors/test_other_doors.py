"""Modules and objects of one's own beyond `fit`: compared, cross-validated, searched, tried."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import SGD
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

import netwright as nw
from netwright.core.errors import NetwrightError
from netwright.data.loading.loader import Batch
from netwright.data.spec import DataSpec
from tests.repetition import for_each, slow_but

ROWS = 40
X = np.random.default_rng(0).normal(size=(ROWS, 3)).astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int64)
QUICK: dict[str, Any] = {"epochs": 1, "device": "cpu", "quiet": True}


def of_spec(spec: DataSpec) -> nn.Module:
    return nn.Linear(spec.num_features, spec.num_outputs)


class Labelled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(3, 2)

    def forward(self, x: Tensor, labels: Tensor | None = None) -> dict[str, Any]:
        logits = self.head(x)
        loss = None if labels is None else functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


def step(module: nn.Module, batch: Batch) -> Tensor:
    return functional.cross_entropy(module(batch.inputs), batch.targets)


def by_turns(module: Labelled, batch: Batch) -> Iterator[tuple[str, Tensor]]:
    yield "head", functional.cross_entropy(module.head(batch.inputs), batch.targets)


def loader() -> DataLoader[Any]:
    return DataLoader(TensorDataset(torch.from_numpy(X), torch.from_numpy(Y)), batch_size=10)


OBJECTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "a function of the data's kinds": (of_spec, {}),
    "a class": (Labelled, {}),
    "a module's own loss": (Labelled, {"loss": "model"}),
    "a loss": (of_spec, {"loss": nn.CrossEntropyLoss()}),
    "an optimizer's class": (of_spec, {"optimizer": partial(SGD, momentum=0.9), "lr": 0.1}),
    "a schedule": (of_spec, {"schedule": partial(StepLR, step_size=1)}),
    "metrics": (of_spec, {"metrics": {"most": lambda said, true: said.max()}}),
    "a training step": (of_spec, {"training_step": step}),
    "a training step by turns": (
        Labelled,
        {"training_step": by_turns, "optimizer": {"head": SGD}, "lr": 0.1},
    ),
}


def compared(model: Any, data: Any, **given: Any) -> None:
    found = nw.compare(model, of_spec, data=data, seeds=2, **QUICK, **given)
    assert len(found.rows[0].scores) == 2
    assert "nw.compare(entry1, entry2, data=data" in found.page()


def cross_validated(model: Any, data: Any, **given: Any) -> None:
    found = nw.cross_validate(model, data, folds=2, **QUICK, **given)
    assert len(found.folds) == 2
    assert ("most" in found.folds[0].metrics) == ("metrics" in given)


def searched(model: Any, data: Any, **given: Any) -> None:
    search = partial(nw.search, model, data, space={"train.lr": [0.1, 0.01]}, out="found")
    study = search(trials=1, **QUICK, **{**given, "lr": None})
    assert study.command == "study.fit_best()"
    assert len(search(trials=2, **QUICK, **{**given, "lr": None}).trials) == 2  # goes on there
    assert study.fit_best(out="best", quiet=True).results["finished"]


def rated(model: Any, data: Any, **given: Any) -> None:
    assert len(nw.find_lr(model, data, device="cpu", **given).lr) > 2


def examined(model: Any, data: Any, **given: Any) -> None:
    said = str(nw.doctor(data, model, device="cpu", **given))
    assert ("your training_step calls it" in said) == ("training_step" in given)


DOORS: dict[str, Callable[..., None]] = {
    "compare": compared,
    "cross_validate": cross_validated,
    "search": searched,
    "find_lr": rated,
    "doctor": examined,
}
ALL = {f"{what} to {door}": (what, door) for what in OBJECTS for door in DOORS}
# Labelled gives a dict beside of_spec: which part is meant is clear in both; two optimizers have no
# one rate, and no child of that name in the other entry.
NOT = {"a training step by turns to find_lr", "a training step by turns to compare"}
NOT |= {"a module's own loss to compare"}
QUICKLY = [
    *("a module's own loss to search", "a training step to find_lr", "a loss to doctor"),
    *("an optimizer's class to compare", "a class to compare", "metrics to cross_validate"),
]


@pytest.mark.parametrize("name", slow_but(QUICKLY, sorted(ALL.keys() - NOT)))
def test_it_takes_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    what, door = ALL[name]
    model, given = OBJECTS[what]
    DOORS[door](model, (X, Y), **given)


def test_weights_are_drawn_by_the_seed_as_those_of_names_are() -> None:
    scores = nw.compare(of_spec, of_spec, data=(X, Y), seeds=2, lr=1e-9, **QUICK).rows[0].scores
    for seed, score in enumerate(scores):
        run = nw.fit(of_spec, (X, Y), seed=seed, lr=1e-9, save=False, **QUICK)
        assert run.results["metrics"]["accuracy"] == score


def test_a_loader_with_rows_to_choose_by_is_searched_and_rated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    searched(of_spec_of_loader, loader(), validation=loader())
    rated(nn.Linear(3, 2), loader(), loss=nn.CrossEntropyLoss())


def of_spec_of_loader() -> nn.Module:
    return nn.Linear(3, 2)


SGD_OF_ONE: dict[str, Any] = {"optimizer": SGD(nn.Linear(3, 2).parameters())}
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "an optimizer to compare": (
        lambda: nw.compare(of_spec, "mlp", data=(X, Y), **SGD_OF_ONE),
        "that of one module, but compare trains new ones: give its class",
    ),
    "an optimizer to find_lr": (
        lambda: nw.find_lr(of_spec, (X, Y), **SGD_OF_ONE),
        "that of one module, but find_lr trains new ones",
    ),
    "an optimizer to an estimator": (
        lambda: nw.NetClassifier(of_spec, **SGD_OF_ONE).fit(X, Y),
        "that of one module, but NetClassifier trains new ones",
    ),
    "several to find_lr": (
        lambda: nw.find_lr(Labelled, (X, Y), optimizer={"head": SGD}, training_step=by_turns),
        "a learning-rate range test is for one optimizer, these are several",
    ),
    "a loader to cross_validate": (
        lambda: nw.cross_validate(of_spec, loader()),
        "cannot be divided into folds: give its Dataset, or arrays",
    ),
    "trackers to cross_validate": (
        lambda: nw.cross_validate(of_spec, (X, Y), track="tensorboard"),
        "a run folder, which cross_validate does not leave",
    ),
    "validation to cross_validate": (
        lambda: nw.cross_validate(of_spec, (X, Y), validation=(X, Y)),
        "'validation' is an argument of nw.fit alone",
    ),
    "a searched optimizer that is given": (
        lambda: nw.search(
            of_spec, (X, Y), optimizer=SGD, space={"train.optimizer": ["sgd", "adam"]}
        ),
        "optimizer is one of your own: remove train.optimizer from the search space",
    ),
    "a number as a model": (
        lambda: nw.fit(3, (X, Y)),  # type: ignore[arg-type]
        "an nn.Module or a function that returns one, got int",
    ),
    "a config's class as a model": (
        lambda: nw.fit(nw.TrainConfig, (X, Y)),  # type: ignore[arg-type]
        "an nn.Module or a function that returns one, got type",
    ),
    "a module that is never measured": (
        lambda: nw.cross_validate(Unmeasured, (X, Y), folds=2, training_step=squared, **QUICK),
        "there is nothing to measure: ",
    ),
}


class Unmeasured(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(3, 7)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.head(x)
        return out


def squared(module: Unmeasured, batch: Batch) -> Tensor:
    return module(batch.inputs).square().mean()  # type: ignore[no-any-return]


@for_each("name", REFUSED)
def test_what_it_does_not_take_is_said(name: str) -> None:
    call, sentence = REFUSED[name]
    with pytest.raises(NetwrightError, match=sentence):
        call()
