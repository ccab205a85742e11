r"""Forward and reverse mode side by side: one Jacobian two ways, and what each costs.

For f: R^N -> R^M the Jacobian J has M rows and N columns.

    forward mode    J e_j       a column a pass, N passes        cheap where N is small
    reverse mode    J^T e_i     a row a pass, M passes           cheap where M is small

Each pass costs about as many operations as an evaluation of f, or twice as many. A loss is M = 1:
reverse mode gives all N derivatives at once, which is why networks learn by it.

Shapes: N inputs, M outputs; x is one row, (1, N).
Source: Griewank and Walther, "Evaluating Derivatives" (2008), chapters 3 and 4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from netwright.backprop.computation_graph import Node, gradients_of
from netwright.backprop.dual_numbers import forward_derivative

Function = Callable[[Any], Any]  # of a tensor, a dual number or a node (1, N) -> the same, (1, M)


@dataclass(frozen=True, kw_only=True)
class ModeCosts:
    """Floating-point operations of the products of matrices: a multiplication and an addition.

    Args:
        inputs: N.
        outputs: M.
        evaluation: of the function once.
        forward: of its Jacobian by forward mode.
        reverse: of its Jacobian by reverse mode.
    """

    inputs: int
    outputs: int
    evaluation: int
    forward: int
    reverse: int


def forward_jacobian(function: Function, x: Tensor) -> Tensor:
    """J (M, N) by its columns: a pass for each input."""
    directions = torch.eye(x.numel(), dtype=x.dtype)[:, None]
    return torch.cat([forward_derivative(function, x, along) for along in directions]).T


def reverse_jacobian(function: Function, x: Tensor) -> Tensor:
    """J (M, N) by its rows: one pass forward, and one back for each output."""
    start = Node(x)
    output: Node = function(start)
    seeds = torch.eye(output.value.numel(), dtype=x.dtype)[:, None]
    return torch.cat([gradients_of(output, seed)[start] for seed in seeds])


def count_mode_costs(function: Function, x: Tensor) -> ModeCosts:
    """Take the Jacobian at x (1, N) both ways and count."""
    return ModeCosts(
        inputs=x.numel(),
        outputs=function(x).numel(),
        evaluation=_operations(lambda: function(x)),
        forward=_operations(lambda: forward_jacobian(function, x)),
        reverse=_operations(lambda: reverse_jacobian(function, x)),
    )


def _operations(work: Callable[[], object]) -> int:
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())
