"""Verdicts that are true: equal models are hardly ever told apart, convex ones as elsewhere.

Equal models are two lots of fits of one recipe under seeds of their own. `compare` knows that the
recipe is the same and calls any gap noise; here the gap is judged as if it did not know.
"""

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.metrics.paired import SIGNIFICANCE, paired_gap
from netwright.recipes.judging.compare import compare
from netwright.recipes.judging.comparison import Comparison
from netwright.recipes.judging.gap_verdict import judge_gap
from tests.repetition import slow_but

REPETITIONS = 20
L2 = 0.01
QUICK = {"epochs": 3, "batch_size": 64, "lr": 0.02}
EQUAL: dict[str, tuple[str, str, dict[str, Any]]] = {
    "moons": ("mlp:hidden=8", "moons", QUICK),
    "log loss": ("mlp:hidden=8", "moons", {**QUICK, "metric": "log_loss"}),
    "iris": ("mlp:hidden=8", "iris", QUICK),
    "wine": ("mlp:hidden=8:dropout=0.5", "wine", QUICK),
    "normalised": ("mlp:hidden=8:batch_norm=true", "wine", QUICK),
    "cancer": ("mlp:hidden=4", "breast-cancer", QUICK),
    "reals": ("mlp:hidden=8", "diabetes", QUICK),
    "five seeds": ("mlp:hidden=4", "iris", {**QUICK, "seeds": 5}),
    "forest": ("random-forest:trees=5", "breast-cancer", {}),
    "bagging": ("bagging:of=decision-tree:members=3", "moons", {}),
}


def said_different(entry: str, data: str, settings: dict[str, Any]) -> int:
    """How often two lots of fits of one recipe are called better or worse."""
    loaded, count = load(data), 0
    given = {"seeds": 3, "device": "cpu", **settings}
    for turn in range(REPETITIONS):
        told = compare(entry, entry, data=loaded, seed=100 * turn, quiet=True, **given)
        verdict = judge_gap(told.verdicts[0].gap, better=told.better)
        count += verdict.word in {"better", "worse"}
    return count


@pytest.mark.slow
@pytest.mark.parametrize("pair", EQUAL)
def test_equal_models_are_told_apart_in_one_of_twenty_repetitions_at_most(pair: str) -> None:
    assert said_different(*EQUAL[pair]) <= 1


def test_equal_scores_are_told_apart_in_one_of_a_hundred_repetitions_at_most() -> None:
    """Shares of 80 test rows, as the accuracies of two lots of fits are: 2,000 repetitions."""
    for seeds in (3, 5, 10):
        rng = np.random.default_rng(seeds)
        right = rng.binomial(80, rng.normal(0.9, 0.01, size=(2, 2000, seeds)).clip(0, 1)) / 80
        gaps = [paired_gap(list(a), list(b)) for a, b in zip(*right, strict=True)]
        alarms = sum(gap.p_value is not None and gap.p_value < SIGNIFICANCE for gap in gaps)
        assert alarms <= 20


def in_their_words(told: Comparison, *scores: float) -> str:
    """The word on the second entry, if both had scored as scikit-learn's models did."""
    first, second = ([score] * len(told.rows[0].seeds) for score in scores)
    return judge_gap(paired_gap(first, second), better=told.better, seeds_matter=False).word


def logistic(data: Data) -> LogisticRegression:
    return LogisticRegression(C=1 / (L2 * len(data.train)), tol=1e-8, max_iter=10_000)


def accuracy(theirs: Any, data: Data) -> float:
    test = data.split("test")
    theirs.fit(data.train.inputs.numpy(), data.train.targets.numpy())
    return float(theirs.score(test.inputs.numpy(), test.targets.numpy()))


def rmse(theirs: Any, data: Data) -> float:
    test = data.split("test")
    theirs.fit(data.train.inputs.numpy(), data.train.targets.numpy())
    predicted = theirs.predict(test.inputs.numpy()).reshape(test.targets.shape)
    wrong = predicted - test.targets.numpy()
    return float(np.sqrt(np.mean(wrong**2)))


@pytest.mark.parametrize("split_seed", slow_but([0], range(3)))
@pytest.mark.parametrize("name", ["breast-cancer", "wine", "iris"])
def test_a_convex_classifier_gets_the_verdict_that_scikit_learn_gives(
    name: str, split_seed: int
) -> None:
    data = load(name, val_size=0, split_seed=split_seed)
    # Of two classes scikit-learn has the one row of weights that `logistic` has.
    model = "softmax" if data.spec.num_outputs > 2 else "logistic"
    ours = f"{model}:l2={L2}:penalize=weights"
    told = compare(ours, "lda", data=data, seeds=3, device="cpu", quiet=True)
    theirs = accuracy(logistic(data), data), accuracy(LinearDiscriminantAnalysis(), data)
    assert told.rows[0].unconverged == 0
    assert told.verdicts[0].word == in_their_words(told, *theirs)


def test_a_convex_regression_gets_the_verdict_that_scikit_learn_gives() -> None:
    for split_seed in range(3):
        data = load("diabetes", val_size=0, split_seed=split_seed)
        told = compare(
            "linear-regression", "ridge:l2=0.1", data=data, seeds=3, device="cpu", quiet=True
        )
        alpha = 0.1 * len(data.train)
        theirs = rmse(LinearRegression(), data), rmse(Ridge(alpha=alpha), data)
        assert [row.mean for row in told.rows] == pytest.approx(theirs, rel=1e-4)
        assert told.verdicts[0].word == in_their_words(told, *theirs)


def passengers() -> tuple[torch.Tensor, torch.Tensor]:
    """A table like that of the Titanic: few columns, labels that follow from them by log-odds."""
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(700, 6, generator=rng)
    odds = x @ torch.tensor([1.5, -1.0, 0.5, 0.3, 0.0, 0.0]) - 0.4
    return x, (torch.rand(700, generator=rng) < odds.sigmoid()).long()


@pytest.mark.slow
def test_a_network_is_not_better_than_a_logistic_regression_that_was_not_trained() -> None:
    """The verdict on a network is that against scikit-learn's weights, and against Newton's."""
    settings: dict[str, Any] = {"seeds": 3, "epochs": 10, "device": "cpu", "quiet": True}
    table = passengers()
    told = compare("mlp:hidden=16", "logistic", data=table, **settings)
    newton = compare("mlp:hidden=16", "logistic-newton:l2=1e-9", data=table, **settings)
    assert told.rows[1].scores == newton.rows[1].scores
    assert told.verdicts[0].word == newton.verdicts[0].word
    assert told.verdicts[0].word != "worse"
    assert told.rows[1].unconverged == 0
