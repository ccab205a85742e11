"""Degradation: the networks differ in their skips alone, and gradients that do not vanish."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from netwright.layers.residual import Residual
from netwright.models.mlp import MLP
from netwright.theory.held_out import digits
from netwright.theory.images.degradation import (
    DEGRADATION,
    DegradationConfig,
    Fit,
    build_deep,
    fit_deep,
    gradient_ratio,
)
from tests.theory.costly import COSTLY_CLAIM_CHECKS

SMALL = DegradationConfig(width=8)


@pytest.mark.covers("degradation-problem")
@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(DEGRADATION)


def shapes_of(net: MLP) -> list[tuple[int, ...]]:
    """Of all weights but those that project the picture for the first skip."""
    return [tuple(weight.shape) for name, weight in net.named_parameters() if "skip" not in name]


def test_a_residual_network_is_a_plain_one_with_skips() -> None:
    data = digits(100, 0)
    plain, residual = (build_deep(SMALL, 5, data, residual=skip) for skip in (False, True))
    assert shapes_of(plain) == shapes_of(residual)
    assert [isinstance(layer, Residual) for layer in residual.hidden] == [True] * 5
    assert not any(isinstance(layer, Residual) for layer in plain.hidden)


def test_the_gradients_are_those_of_the_second_and_of_the_last_hidden_layer() -> None:
    data = digits(100, 0)
    net = build_deep(SMALL, 3, data, residual=False)
    cross_entropy(net(data.train.inputs), data.train.targets).backward()  # type: ignore[no-untyped-call]
    early, late = (net.get_parameter(f"hidden.{place}.0.weight").grad for place in (1, 2))
    assert early is not None
    assert late is not None
    loss = cross_entropy(net(data.train.inputs), data.train.targets)
    assert gradient_ratio(net, loss) == pytest.approx(float(early.norm() / late.norm()))


def test_training_lowers_the_loss_and_a_seed_gives_one_result() -> None:
    first, again, longer = (fit_deep(SMALL, 2, 0, steps, residual=True) for steps in (1, 1, 10))
    assert first == again
    assert longer.loss < first.loss < 4
    assert longer.gradient == first.gradient  # of the first step, for both


@pytest.mark.parametrize(
    ("plain", "residual", "gradient", "failing"),
    [
        (2.0, 1.05, 5.0, []),
        (0.9, 1.05, 5.0, [0]),
        (2.0, 1.2, 5.0, [1]),
        (2.0, 1.05, 0.5, [2]),
    ],
)
def test_each_ratio_that_is_not_as_claimed_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
    plain: float,
    residual: float,
    gradient: float,
    failing: list[int],
) -> None:
    def fit(given, depth, seed, steps, *, residual: bool, ratios=(plain, residual)):  # type: ignore[no-untyped-def]
        return Fit(ratios[residual] if depth == 40 else 1.0, gradient)

    monkeypatch.setattr("netwright.theory.images.degradation.fit_deep", fit)
    findings = DEGRADATION.check().findings
    assert [place for place, one in enumerate(findings) if not one.holds] == failing


def test_losses_are_of_the_networks_that_are_left_as_they_are() -> None:
    before = torch.get_rng_state()
    fit_deep(SMALL, 2, 0, 1, residual=False)
    assert torch.equal(before, torch.get_rng_state())
