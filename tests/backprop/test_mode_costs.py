"""Forward and reverse mode: one Jacobian, and who is cheaper when."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from netwright.backprop.computation_graph import Node, gradients_of
from netwright.backprop.mode_costs import (
    count_mode_costs,
    forward_jacobian,
    reverse_jacobian,
)
from tests.backprop.references import assert_equal, numbers


def net(inputs: int, outputs: int, width: int = 16) -> Callable[[Any], Any]:
    first, second = numbers(inputs, width, seed=1), numbers(width, outputs, seed=2)
    return lambda x: (x @ first).tanh() @ second


def test_both_modes_give_the_jacobian_of_torch() -> None:
    function, x = net(3, 5), numbers(1, 3)
    expected = torch.func.jacrev(function)(x).reshape(5, 3)
    assert_equal(forward_jacobian(function, x), expected)
    assert_equal(reverse_jacobian(function, x), expected)


def test_one_function_of_sines_and_sigmoids_goes_both_ways() -> None:
    weights = numbers(3, 2, seed=1)

    def function(x: Any) -> Any:
        return (x.sin() @ weights).sigmoid().sqrt()

    x = numbers(1, 3)
    assert_equal(forward_jacobian(function, x), reverse_jacobian(function, x))


@pytest.mark.parametrize(("inputs", "outputs"), [(64, 1), (1, 64), (16, 16)])
def test_forward_mode_pays_for_inputs_and_reverse_mode_for_outputs(
    inputs: int, outputs: int
) -> None:
    costs = count_mode_costs(net(inputs, outputs), numbers(1, inputs))
    once = 2 * 16 * (inputs + outputs)  # a multiplication and an addition for each weight
    assert (costs.inputs, costs.outputs, costs.evaluation) == (inputs, outputs, once)
    assert costs.forward == inputs * 2 * once  # a pass carries the value and its slope
    assert costs.reverse == once + outputs * once
    assert (costs.reverse < costs.forward) is (outputs <= inputs)


@pytest.mark.covers("backprop-cost")
def test_a_gradient_costs_a_few_evaluations_however_wide_the_net_is() -> None:
    evaluations, ratios = [], []
    for width in (64, 256, 1024):
        weights = [Node(torch.ones(width, width)) for _ in range(3)]
        with FlopCounterMode(display=False) as forward:
            h: Any = torch.ones(8, width)
            for weight in weights:
                h = (h @ weight).tanh()
            loss = (h * h).sum()
        with FlopCounterMode(display=False) as backward:
            gradients_of(loss)
        evaluations.append(forward.get_total_flops())
        ratios.append(1 + backward.get_total_flops() / evaluations[-1])
    assert all(2 < ratio < 5 for ratio in ratios)
    assert len(set(ratios)) == 1
    assert evaluations[1] == 16 * evaluations[0] and evaluations[2] == 16 * evaluations[1]
