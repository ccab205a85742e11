"""Jacobians over many steps: bounded, vanishing, exploding, and the condition for it."""

from functools import partial

import pytest
import torch
from torch import Tensor
from torch.func import jacrev

from netwright.core.seeding import generator
from netwright.layers.recurrence.recurrent_cells import States, elman_step
from netwright.layers.recurrence.unrolled import unroll
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.sequences.rnn_jacobians import (
    JACOBIAN_BOUND,
    STEPS,
    VANISHING_CONDITION,
    jacobian_norms,
    jacobians,
    random_matrix,
    rotation,
)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("claim", [JACOBIAN_BOUND, VANISHING_CONDITION], ids=["bound", "condition"])
def test_keeps_the_claim_contract(claim: Claim, check) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.covers("rnn-gradient-product")
def test_over_fifty_steps_it_lies_below_the_bound_vanishes_or_explodes() -> None:
    above, last = JACOBIAN_BOUND.check().findings
    assert above.measured == 0
    assert last.measured == pytest.approx(0.9**50)  # the rotation; all others are below
    assert JACOBIAN_BOUND.check(contracting=False).measured == pytest.approx(1.5**50)


def test_two_steps_by_hand() -> None:
    weights = {"weight_ih": torch.ones(1, 1).double(), "weight_hh": torch.tensor([[0.5]]).double()}
    inputs = torch.tensor([[1.0], [-2.0]]).double()
    first = torch.tensor(1.0).double().tanh()
    second = (first / 2 - 2).tanh()
    by_hand = [(1 - first**2) / 2, (1 - first**2) * (1 - second**2) / 4]
    found = jacobians(weights, torch.tanh, inputs).flatten()
    torch.testing.assert_close(found, torch.stack(by_hand), rtol=0, atol=1e-15)


def test_the_product_is_the_jacobian_of_all_steps_together() -> None:
    rng = generator(0, "test")
    recurrent, inputs = random_matrix(5, rng), torch.randn(6, 5, generator=rng).double()
    weights = {"weight_ih": torch.eye(5).double(), "weight_hh": recurrent}

    def last(start: Tensor) -> Tensor:
        return unroll(partial(elman_step, weights=weights), inputs[None], (start[None],))[1][0][0]

    wanted = jacrev(last)(torch.zeros(5).double())
    torch.testing.assert_close(jacobians(weights, torch.tanh, inputs)[-1], wanted)
    norms = jacobian_norms(recurrent, torch.tanh, inputs)
    torch.testing.assert_close(norms[-1], torch.linalg.svdvals(wanted)[0])


@pytest.mark.covers("rnn-vanishing")
def test_the_first_of_a_hundred_inputs_is_forgotten() -> None:
    rng = generator(0, "test")
    weights = {
        "weight_ih": torch.eye(32).double(),
        "weight_hh": 0.8 * random_matrix(32, rng),
    }
    inputs = torch.randn(100, 32, generator=rng, dtype=torch.float64).requires_grad_()
    state: States = (torch.zeros(32).double(),)
    for x in inputs.unbind():
        state = elman_step(x, state, weights)
    (grads,) = torch.autograd.grad(state[0].sum(), inputs)
    first, last = grads.norm(dim=1)[[0, -1]].tolist()
    assert 0 < first < 1e-10 * last


def test_singular_values_are_as_asked_for() -> None:
    rng = generator(0, "test")
    torch.testing.assert_close(torch.linalg.svdvals(rotation(6, rng)), torch.ones(6).double())
    assert float(torch.linalg.svdvals(random_matrix(6, rng))[0]) == pytest.approx(1)


def test_a_rotation_explodes_where_it_is_said_to_vanish() -> None:
    verdict = VANISHING_CONDITION.check()
    assert (verdict.measured, verdict.n) == (14, 14)
    found = dict(zip(verdict.chart.series[1].x, verdict.chart.series[1].y, strict=True))
    assert found[1.1] == pytest.approx(1.1**50)  # 117
    assert found[0.9] == pytest.approx(0.9**STEPS)


def test_a_steeper_cell_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def steeper(x, state, weights, activation):  # type: ignore[no-untyped-def]
        return (2 * elman_step(x, state, weights, activation)[0],)

    monkeypatch.setattr("netwright.theory.sequences.rnn_jacobians.elman_step", steeper)
    assert not JACOBIAN_BOUND.check().holds
