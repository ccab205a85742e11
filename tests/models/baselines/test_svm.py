"""Support vector machine: scikit-learn's decisions, and the widest margin worked by hand."""

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.compose import TransformedTargetRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from torch import Tensor

from netwright.core.errors import DataError
from netwright.data.dataset import Split
from netwright.models.baselines.svm import SVM, SVMConfig, pair_votes
from tests.models.baselines.fitted import CLASSES, arrays, fitted, spec_of, table, weighted
from tests.repetition import for_each

SETTINGS: tuple[dict[str, Any], ...] = ({}, {"kernel": "linear", "C": 0.1}, {"gamma": 0.01, "C": 9})


@for_each("settings", SETTINGS, ids=("default", "linear", "gamma"))
@for_each("name", CLASSES)
def test_decisions_are_those_of_scikit_learn(name: str, settings: dict[str, Any]) -> None:
    data, spec = table(name)
    data = weighted(data)
    x, y, weights = arrays(data)
    mean = np.average(x.mean(axis=1), weights=weights)  # scikit-learn's default leaves weights out
    spread = np.average(np.square(x - mean).sum(axis=1), weights=weights)
    given = {"gamma": 1 / spread, **settings}
    theirs = SVC(break_ties=True, **given).fit(x, y, sample_weight=weights)
    ours = fitted("svm", data, spec, **settings)(data.inputs)
    # Solvers stop within 1e-3 of the best; only rbf takes the same way from the centre of the rows.
    atol = 1e-3 if settings.get("kernel") == "linear" else 2e-5
    np.testing.assert_allclose(ours, theirs.decision_function(x), atol=atol)
    assert ours.argmax(dim=1).tolist() == theirs.predict(x).tolist()


def test_two_classes_have_the_distance_from_the_border_as_log_odds() -> None:
    data, spec = table("iris")
    pair = data.take((data.targets > 0).nonzero()[:, 0])  # class 0 is never seen
    x, y, _ = arrays(pair)
    ours = fitted("svm", pair, spec)(pair.inputs)
    theirs = SVC().fit(x, y).decision_function(x)
    np.testing.assert_allclose(ours[:, 2] - ours[:, 1], theirs, atol=1e-5)
    assert 0 not in ours.argmax(dim=1)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_reals_are_learned_in_units_of_their_spread(is_weighted: bool) -> None:
    data, spec = table("diabetes")
    x, y, _ = arrays(data)
    scaled = TransformedTargetRegressor(SVR(), transformer=StandardScaler()).fit(x, y)
    if not is_weighted:
        ours = fitted("svm", data, spec)(data.inputs)
        np.testing.assert_allclose(ours[:, 0], scaled.predict(x), rtol=1e-5)
        return
    even = Split(inputs=data.inputs, targets=data.targets, weights=torch.full((len(data),), 1.0))
    np.testing.assert_allclose(
        fitted("svm", even, spec)(data.inputs)[:, 0], scaled.predict(x), rtol=1e-5
    )
    heavy = fitted("svm", weighted(data), spec)(data.inputs)[:, 0].numpy()
    assert np.abs(heavy - scaled.predict(x)).max() > 1.0


def test_several_reals_have_machines_of_their_own() -> None:
    data, spec = table("diabetes")
    rows = data.take(torch.arange(60))
    both = Split(
        inputs=rows.inputs, targets=torch.cat((rows.targets, rows.inputs[:, :1] * 1e-3), dim=1)
    )
    model = fitted("svm", both, spec_of(10, target="real", outputs=2))
    for place in range(2):
        alone = Split(inputs=both.inputs, targets=both.targets[:, place : place + 1])
        ours = fitted("svm", alone, spec)(rows.inputs)[:, 0]
        torch.testing.assert_close(model(rows.inputs)[:, place], ours, rtol=1e-4, atol=1e-6)


def test_a_constant_is_learned_without_support_vectors() -> None:
    data = Split(inputs=torch.randn(9, 2), targets=torch.full((9, 1), 7.0))
    model = fitted("svm", data, spec_of(2, target="real", outputs=1))
    assert len(model.vectors) == 0
    assert model(torch.randn(3, 2)).flatten().tolist() == [7.0, 7.0, 7.0]


def test_votes_by_hand() -> None:
    # Pairs (0, 1), (0, 2), (1, 2): 0 beats 1 by 2, 2 beats 0 by 1, 1 beats 2 by 0: one vote each.
    votes = pair_votes(torch.tensor([[2.0, -1.0, 0.0]]))
    by_hand = [1 + 1 / (3 * 2), 1 - 2 / (3 * 3), 1 + 1 / (3 * 2)]
    assert votes[0].tolist() == pytest.approx(by_hand)


@pytest.mark.covers("svm")
def test_the_margin_is_the_widest_there_is() -> None:
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
    y = torch.tensor([0, 0, 1, 1])
    signs = 2.0 * y - 1
    data = Split(inputs=x, targets=y)
    model = SVM.build(SVMConfig(kernel="linear", C=1e6), spec_of(2, outputs=2))
    (step,) = model.fit_steps(data, seed=0)
    assert step["support_vectors"] == len(model.vectors) <= 3  # (3, 1) is far from the border

    def margin(normal: Tensor, offset: Tensor) -> float:
        return float((signs * (x @ normal + offset)).min() / normal.norm())

    offset = model(torch.zeros(1, 2))[0, 1]
    normal = model(torch.eye(2))[:, 1] - offset
    # The nearest two classes come is from x1 = 0 to (2, 0): the border stands at x1 = 1.
    torch.testing.assert_close(normal, torch.tensor([1.0, 0.0]), rtol=0, atol=1e-3)
    assert margin(normal, offset) == pytest.approx(1.0, abs=1e-3)

    for seed in range(20):  # perceptrons, each from another start and in another order
        numbers = torch.Generator().manual_seed(seed)
        weights = torch.randn(3, generator=numbers)
        with_one = torch.cat((x, torch.ones(4, 1)), dim=1)
        wrong = torch.ones(1)
        while len(wrong):
            wrong = (signs * (with_one @ weights) <= 0).nonzero()[:, 0]
            if len(wrong):
                chosen = wrong[torch.randint(len(wrong), (1,), generator=numbers)]
                weights = weights + (signs[chosen, None] * with_one[chosen])[0]
        assert 0 < margin(weights[:2], weights[2]) <= margin(normal, offset) + 1e-3


@for_each("kernel", ["rbf", "linear"])
@for_each("width", [3, 40])
def test_features_far_from_0_lose_no_digits(width: int, kernel: str) -> None:
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(100, width, generator=numbers) + 1e4
    data = Split(inputs=x, targets=(x[:, 0] + x[:, 1] > 2e4).long())
    rows, y, _ = arrays(data)
    ours = fitted("svm", data, spec_of(width, outputs=2), kernel=kernel, gamma=0.1)(x)
    theirs = SVC(kernel=kernel, gamma=0.1).fit(rows - 1e4, y).decision_function(rows - 1e4)
    # Both stop within 1e-3 of the best, a linear machine along another way.
    np.testing.assert_allclose(ours[:, 1], theirs, atol=1e-5 if kernel == "rbf" else 5e-3)


def test_one_class_alone_is_refused() -> None:
    data, spec = table("iris")
    first = data.take((data.targets == 0).nonzero()[:, 0])
    with pytest.raises(DataError, match=r"^scikit-learn rejects the training rows: The number of"):
        fitted("svm", first, spec)


def test_many_rows_are_forewarned_of_since_they_are_compared_with_each_other() -> None:
    _, spec = table("iris")
    machine = SVM(SVMConfig(), spec)
    assert machine.forewarning(20_000) == ""
    assert machine.forewarning(60_000).startswith("svm compares 60,000 rows with each other")
