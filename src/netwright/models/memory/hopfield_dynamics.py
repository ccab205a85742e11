"""The moves of a Hopfield network: each unit turns to where the field of the others points.

With symmetric weights and no negative weight of a unit to itself, an update of one unit at a time
never raises the energy, so that the network comes to rest. Updates of all units at once may circle
between two states.

Shapes: B states, n units; a state is a row of -1 and +1.
Source: Hopfield, "Neural networks and physical systems with emergent collective computational
abilities" (1982).
"""

import torch
from torch import Tensor

BLOCK = 32  # units whose effect on the others is worked out in one product of matrices


def energy(states: Tensor, weights: Tensor, bias: Tensor | None = None) -> Tensor:
    """H(x) = -1/2 x^T W x + b^T x of each state, (B,).

    Args:
        states: (B, n).
        weights: W, (n, n).
        bias: b, (n,); none is 0.
    """
    inner = -0.5 * ((states @ weights.T) * states).sum(dim=1)
    return inner if bias is None else inner + states @ bias


def local_field(states: Tensor, weights: Tensor, bias: Tensor | None = None) -> Tensor:
    """H_i = sum_j w_ij x_j - b_i of each unit, (B, n); H(x_i = +1) - H(x_i = -1) is -2 H_i."""
    fields = states @ weights.T
    return fields if bias is None else fields - bias


def sign(fields: Tensor) -> Tensor:
    """-1 or +1, with sgn(0) = +1; what rounding leaves of 0 counts as 0."""
    rounding = 64 * torch.finfo(fields.dtype).eps
    return torch.where(fields >= -rounding, 1.0, -1.0).to(fields)


def synchronous_update(states: Tensor, weights: Tensor, bias: Tensor | None = None) -> Tensor:
    """All units at once, x <- sgn(W x - b)."""
    return sign(local_field(states, weights, bias))


def asynchronous_sweep(
    states: Tensor, weights: Tensor, bias: Tensor | None = None, order: Tensor | None = None
) -> Tensor:
    """One unit after the other, x_i <- sgn(H_i), each seeing those before it; many states at once.

    The fields are kept up to date instead of computed anew: inside a block of units at once, for
    all others when the block is done. A sweep costs what one product of matrices costs.

    Args:
        states: (B, n).
        weights: W, (n, n).
        bias: b, (n,); none is 0.
        order: different units, in the order of their updates; all from 0 where None.
    """
    if order is None:
        order = torch.arange(states.shape[1], device=states.device)
    states, fields = states.clone(), local_field(states, weights, bias)
    for units in order.split(BLOCK):
        before, field = states[:, units], fields[:, units]  # (B, block), copies
        after, inside = before.clone(), weights[units][:, units]
        for place in range(len(units)):
            turned = sign(field[:, place])
            field.addr_(turned - after[:, place], inside[:, place])
            after[:, place] = turned
        states[:, units] = after
        fields.addmm_(after - before, weights[:, units].T)
    return states


def overlap(states: Tensor, patterns: Tensor) -> Tensor:
    """m = x^T y / n of rows in pairs (...): 1 where they are equal, 0 by chance, -1 for opposites."""
    return (states * patterns).mean(dim=-1)
