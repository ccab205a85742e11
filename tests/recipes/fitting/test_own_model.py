"""Estimators of a module of one's own, or of what makes one: cloned, fitted anew, searched."""

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from torch import Tensor, nn
from torch.optim import SGD
from torch.optim.lr_scheduler import ExponentialLR

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.recipes.fitting.own_model import build_own_model
from tests.repetition import for_each
from tests.train.toy_runs import assert_same, copy_of

X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
LABELS = np.where(X[:, 0] > 0, "yes", "no")
SHORT: dict[str, Any] = {"epochs": 2, "lr": 0.1, "device": "cpu", "random_state": 0}
SPEC = DataSpec(
    inputs="features", input_shape=(3,), target="class", num_outputs=2, class_names=("no", "yes")
)


class Net(nn.Module):
    def __init__(self, width: int = 4, outputs: int = 2) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, outputs))

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"logits": self.layers(x)}


def sized(spec: DataSpec) -> nn.Module:
    return nn.Linear(spec.num_features, spec.num_outputs)


def wide(hidden: int) -> nn.Module:
    return nn.Linear(hidden, 2)


def broken() -> nn.Module:
    raise ValueError("no such size\nand more lines")


def silent() -> nn.Module:
    raise AssertionError


@for_each("model", [Net(), Net, partial(Net, width=2), sized])
def test_it_learns_predicts_and_is_cloned(model: Any) -> None:
    estimator = nw.NetClassifier(model, **SHORT).fit(X, LABELS)
    assert set(estimator.predict(X)) <= {"no", "yes"}
    twin = clone(estimator).fit(X, LABELS)
    assert np.array_equal(twin.predict_proba(X), estimator.predict_proba(X))
    assert np.array_equal(estimator.fit(X, LABELS).predict_proba(X), twin.predict_proba(X))


def test_a_module_that_is_given_stays_as_it_is() -> None:
    module = Net()
    before = copy_of(module)
    nw.NetClassifier(module, **SHORT).fit(X, LABELS)
    assert_same(copy_of(module), before)


def test_passes_and_searches_take_it() -> None:
    estimator = nw.NetClassifier(Net, **{**SHORT, "epochs": 1})
    estimator.partial_fit(X, LABELS, classes=["no", "yes"]).partial_fit(X, LABELS)
    assert len(estimator.history_.series("train/loss")) == 2
    search = GridSearchCV(nw.NetClassifier(sized, **SHORT), {"lr": [0.01, 0.1]}, cv=2)
    assert search.fit(X, LABELS).best_params_["lr"] in {0.01, 0.1}


def test_reals_and_objects_of_ones_own() -> None:
    seen: list[Tensor] = []

    def loss(output: dict[str, Tensor], targets: Tensor) -> Tensor:
        seen.append(targets)
        return (output["logits"] - targets).abs().mean(dim=1)

    estimator = nw.NetRegressor(partial(Net, outputs=1), loss=loss, optimizer=SGD, **SHORT)
    assert estimator.fit(X, X[:, 0]).predict(X).shape == (40,)
    assert seen
    given = {"schedule": partial(ExponentialLR, gamma=0.5), **SHORT}
    with pytest.raises(
        ConfigError, match="partial_fit takes the schedules that follow from the step"
    ):
        nw.NetRegressor(partial(Net, outputs=1), **given).partial_fit(X, X[:, 0])


def test_a_function_draws_from_the_seed_and_is_given_what_it_asks_for() -> None:
    drawn = torch.get_rng_state()
    first, again, other = (build_own_model(sized, SPEC, seed) for seed in (0, 0, 1))
    assert_same(copy_of(first), copy_of(again))
    assert not torch.equal(first.weight, other.weight)  # type: ignore[arg-type]
    assert torch.equal(torch.get_rng_state(), drawn)


@for_each(
    ("model", "sentence"),
    [
        (3, "a name, an nn.Module or a function that returns one, got int"),
        (nn.Linear, r"Linear must take nothing, or a DataSpec .* got 2 arguments: use functools"),
        (
            wide,
            r"^wide, called with a DataSpec, fails: TypeError: .*: take the sizes from the "
            r"DataSpec, as num_features and num_outputs, or use functools\.partial$",
        ),
        (broken, r"^broken, called without arguments, fails: ValueError: no such size$"),
        (silent, r"^silent, called without arguments, fails: AssertionError$"),
        (lambda: 3, "must return an nn.Module, got int"),
    ],
)
def test_what_is_no_model_is_refused(model: Any, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        build_own_model(model, SPEC, 0)
