"""Ensembles: Jensen's inequality and the variance of a mean; the bound of boosting."""

import math

import numpy as np
import pytest
import torch
from sklearn.ensemble import AdaBoostClassifier

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.regularisation.ensembles import (
    BOOSTING,
    ENSEMBLES,
    BoostingConfig,
    EnsembleConfig,
    boost,
    circles,
    member_outputs,
    stump_votes,
    variances_of_means,
)


@pytest.mark.parametrize("claim", [ENSEMBLES, BOOSTING], ids=["ensembles", "boosting"])
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check, claim) -> None:  # type: ignore[no-untyped-def]
    check(claim)


def test_error_of_the_mean_is_the_mean_error_less_the_spread() -> None:
    outputs, targets = member_outputs(6, seed=0)
    own = (outputs - targets).square().mean(dim=0)
    joint = (outputs.mean(dim=0) - targets).square()
    torch.testing.assert_close(joint, own - outputs.var(dim=0, correction=0))
    assert float(own.mean()) < 0.2  # they have learned the curve


@pytest.mark.covers("ensemble-methods")
@pytest.mark.parametrize("correlation", [0.1, 0.3, 0.9])
def test_variance_of_a_mean_of_correlated_errors(correlation: float) -> None:
    given = EnsembleConfig(members=10, correlation=correlation, variance=2.0)
    found = variances_of_means(given, generator(0, "test"), 50_000)
    wanted = [2 * correlation + 2 * (1 - correlation) / m for m in range(1, 11)]
    assert found.tolist() == pytest.approx(wanted, rel=4 * math.sqrt(2 / 50_000))


def test_errors_shared_within_halves_leave_half_of_what_is_shared() -> None:
    given = EnsembleConfig(members=10, correlation=0.4, equal_correlation=False)
    found = variances_of_means(given, generator(0, "test"), 50_000)
    assert float(found[-1]) == pytest.approx(0.4 / 2 + 0.6 / 10, rel=4 * math.sqrt(2 / 50_000))


def test_the_loss_is_named_and_independent_errors_are_refused() -> None:
    whats = [ENSEMBLES.check(convex_loss=convex).findings[0].what for convex in (True, False)]
    assert ["squared error" in what for what in whats] == [True, False]
    with pytest.raises(ConfigError, match=r"^correlation must be at least 0.1, got 0.0$"):
        ENSEMBLES.check(correlation=0.0)


def test_stumps_compare_one_coordinate_with_one_point() -> None:
    points = torch.tensor([[[0.0, 5.0], [1.0, 4.0], [2.0, 3.0]]])
    votes = stump_votes(points)[0]
    assert votes.shape == (12, 3)
    assert votes[0].tolist() == [1, 1, 1]  # x >= 0
    assert votes[2].tolist() == [-1, -1, 1]  # x >= 2
    assert votes[4].tolist() == [1, 1, -1]  # y >= 4
    assert torch.equal(votes[6:], -votes[:6])


def test_two_rounds_by_hand() -> None:
    # Labels + - + on a line: every good stump is wrong about one point.
    points = torch.tensor([[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]], dtype=torch.float64)
    labels = torch.tensor([[1.0, -1.0, 1.0]], dtype=torch.float64)
    wrong, bounds, losses = boost(BoostingConfig(rounds=2), points, labels)
    first = 2 * math.sqrt(1 / 3 * 2 / 3)  # e = 1/3
    second = 2 * math.sqrt(1 / 4 * 3 / 4)  # weights 1/4, 1/4, 1/2: e = 1/4
    assert wrong[:, 0].tolist() == pytest.approx([1 / 3, 1 / 3])
    assert bounds[:, 0].tolist() == pytest.approx([first, first * second])
    assert losses[:, 0].tolist() == pytest.approx([first, first * second])


@pytest.mark.covers("boosting")
def test_training_error_is_below_its_bound_in_every_round() -> None:
    given = BoostingConfig()
    wrong, bounds, _ = boost(given, *circles(given, 30, generator(1, "test")))
    assert wrong.shape == (40, 30)
    assert (wrong <= bounds).all()
    assert (bounds.diff(dim=0) < 0).all()
    assert wrong[-1].mean() < wrong[0].mean() / 3


def test_training_errors_are_near_those_of_scikit_learn() -> None:
    given = BoostingConfig(examples=100, rounds=20)
    points, labels = circles(given, 4, generator(0, "test"))
    wrong, _, _ = boost(given, points, labels)
    peers = []
    for x, y in zip(points.numpy(), labels.numpy(), strict=True):
        peer = AdaBoostClassifier(n_estimators=20, random_state=0).fit(x, y)
        peers.append(1 - peer.score(x, y))
    assert float(wrong[-1].mean()) == pytest.approx(np.mean(peers), abs=0.04)


def test_too_few_points_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^examples must be at least 20, got 3$"):
        BOOSTING.check(examples=3)
