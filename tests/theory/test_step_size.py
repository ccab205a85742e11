"""The step size: the losses on both sides of 2 / L, and a function that does not run away."""

import pytest
import torch

from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.step_size import STEP_SIZE, descend


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(STEP_SIZE)


def test_losses_on_both_sides_of_two_over_the_curvature() -> None:
    curvatures = torch.tensor([1.0, 100.0], dtype=torch.float64)
    start = torch.ones(2, dtype=torch.float64)
    losses = [
        float(curvatures @ descend(lambda x: curvatures * x, start, rate, 300).square() / 2)
        for rate in (0.019, 0.02, 0.021)
    ]
    assert losses[0] == pytest.approx(5e-6, rel=0.02)
    assert losses[1] == pytest.approx(50, rel=0.02)
    assert losses[2] == pytest.approx(3e26, rel=0.2)


def test_a_wrong_gradient_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def half_a_step(gradient, start, rate, steps):  # type: ignore[no-untyped-def]
        return descend(gradient, start, rate / 2, steps)

    monkeypatch.setattr("netwright.theory.step_size.descend", half_a_step)
    assert not STEP_SIZE.check().holds
