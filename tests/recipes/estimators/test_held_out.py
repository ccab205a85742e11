"""When rows are held out to choose the weights by, and when all of them are learned from."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.estimator_checks import _NotAnArray
from torch import nn

from netwright.core.errors import ConfigError
from netwright.recipes.estimators.held_out import FEWEST, count_rows, held_out_share
from netwright.recipes.estimators.scikit_learn import NetClassifier, NetRegressor
from tests.repetition import for_each, slow_but

Rows = tuple[NDArray[np.float64], NDArray[np.float64]]


def share(
    model: Any = "mlp",
    *,
    val_size: Any = "auto",
    early_stopping: bool = False,
    rows: int | None = FEWEST,
    **settings: Any,
) -> float:
    return held_out_share(
        val_size, early_stopping=early_stopping, model=model, settings=settings, rows=rows
    )


@for_each("model", ["mlp", "ft-transformer", "cnn", "lstm", nn.Linear(2, 1), lambda spec: None])
def test_rows_choose_the_weights_of_a_network_where_nobody_says_how_long(model: Any) -> None:
    assert share(model) == 0.1
    given: dict[str, Any] = {"lr": 0.1, "batch_size": 7, "train.weight_decay": 0.1}
    assert share(model, **given) == 0.1


@for_each("name", ["epochs", "train.max_steps", "max_time", "patience", "monitor"])
def test_who_says_how_long_gets_that(name: str) -> None:
    given: dict[str, Any] = {name: 1}
    assert share(**given) == 0


@for_each(
    ("model", "settings"),
    [
        ("ridge", {}),  # a rule of its own
        ("bagging", {}),
        ("softmax", {}),  # convex
        ("mlp", {"hidden": ()}),
        ("mlp", {"model.hidden": ()}),
    ],
)
def test_what_needs_no_choice_learns_from_all_rows(model: str, settings: dict[str, Any]) -> None:
    assert share(model, **settings) == 0


def test_few_rows_are_all_learned_from() -> None:
    assert share(rows=FEWEST - 1) == 0
    assert share(rows=None) == 0


def test_a_share_that_is_given_is_held_out() -> None:
    for model in ("mlp", "ridge"):
        for size in (0.0, 0.3):
            assert share(model, val_size=size, rows=3) == size
    with pytest.raises(ConfigError, match="val_size must be a number or 'auto', got 'half'"):
        share(val_size="half")
    with pytest.raises(ConfigError, match=r"model\.hidden"):
        share(hidden="wide")


def test_early_stopping_needs_rows() -> None:
    for size in ("auto", 0.0):
        assert share("ridge", val_size=size, early_stopping=True, epochs=3, rows=10) == 0.1
        with pytest.raises(ConfigError, match="holds out 10% of the rows, 3 are too few: give val"):
            share(val_size=size, early_stopping=True, rows=3)
    assert share(val_size=0.3, early_stopping=True, rows=3) == 0.3


def test_targets_have_rows_however_they_are_given() -> None:
    assert count_rows([1, 2, 3]) == count_rows(np.zeros((3, 2))) == 3
    assert count_rows(sparse.eye_array(3)) == 3
    assert count_rows(_NotAnArray(np.zeros(3))) == 3
    assert count_rows(np.array(1.0)) is count_rows(iter([1])) is count_rows(None) is None


@pytest.fixture(scope="module")
def noise() -> Rows:
    """Two classes that the inputs hardly tell."""
    draw = np.random.default_rng(0)
    inputs = draw.normal(size=(120, 6))
    return inputs, (inputs[:, 0] + 2 * draw.normal(size=120) > 0).astype(float)


@pytest.mark.parametrize("kind", slow_but([NetClassifier], [NetClassifier, NetRegressor]))
def test_by_default_an_estimator_keeps_the_best_weights(noise: Rows, kind: Any) -> None:
    how: Any = {"hidden": (4,), "lr": 0.1, "random_state": 0, "device": "cpu", "batch_size": 60}
    found = kind(**how).fit(*noise)
    spelt = kind(val_size=0.1, **how).fit(*noise)
    for ours, theirs in zip(found.model_.parameters(), spelt.model_.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert found.history_.series("val/loss")


def test_probabilities_stay_honest_where_training_went_on_to_certainty(noise: Rows) -> None:
    how: Any = {"hidden": (64,), "lr": 0.01, "random_state": 0, "device": "cpu"}
    draw = np.random.default_rng(1)
    inputs = draw.normal(size=(2000, 6))
    classes = (inputs[:, 0] + 2 * draw.normal(size=2000) > 0).astype(int)

    def loss(**settings: Any) -> float:
        shares = NetClassifier(**how, **settings).fit(*noise).predict_proba(inputs)
        return -float(np.log(shares[np.arange(2000), classes]).mean())

    assert loss() < np.log(2) + 0.05  # hardly worse than to know nothing
    assert loss(max_steps=300) > np.log(2) + 0.15
