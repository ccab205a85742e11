"""Bounded activations: which of them level off."""

import pytest

from netwright.core.errors import UnknownNameError
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.networks.activation_bounds import RELU_BOUNDED, SCALES, largest_outputs
from tests.repetition import for_each


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(RELU_BOUNDED)


def test_outputs_of_the_relu_grow_as_its_inputs_do() -> None:
    assert RELU_BOUNDED.check().measured == pytest.approx(10)
    largest = largest_outputs("relu", seed=0, count=1000)
    assert largest == pytest.approx([scale * largest[0] for scale in SCALES])
    assert 0.99 < largest[0] <= 1


@pytest.mark.parametrize("activation", ["sigmoid", "tanh", "hard-tanh"])
def test_bounded_activations_hold(activation: str) -> None:
    assert RELU_BOUNDED.check(activation=activation).holds


@for_each("activation", ["identity", "leaky-relu", "elu", "gelu", "softplus"])
def test_kin_of_the_relu_fail(activation: str) -> None:
    assert not RELU_BOUNDED.check(activation=activation).holds


def test_unknown_activation_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown activation 'rleu'"):
        RELU_BOUNDED.check(activation="rleu")


def test_the_chart_calls_one_the_bound_of_the_sigmoid() -> None:
    bound, _, sigmoid = RELU_BOUNDED.check().chart.series
    assert bound.name == "1, the bound of the sigmoid"
    assert max(sigmoid.y) == pytest.approx(bound.y[0])
