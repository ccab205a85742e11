"""The moves of a Hopfield network: each unit turns to where the field of the others points.

With symmetric weights and no negative weight of a unit to itself, an update of one unit at a time
never raises the energy, so that the network comes to rest. Updates of all units at once may circle
between two states.

Shapes: B states, n units; a state is a row of -1 and +1.
Source: Hopfield, "Neural networks and physical systems with emergent collective computational
abilities" (1982).
"""

from collections.abc import Iterable

import numpy as np
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
    return torch.ones_like(fields).copysign(fields + _rounding(fields))


def _rounding(fields: Tensor) -> float:
    return 64 * torch.finfo(fields.dtype).eps


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
    states, fields = states.clone(), local_field(states, weights, bias)
    for units in _blocks(states.shape[1], order):
        before, field = states[:, units], fields[:, units]
        if torch.equal(sign(field), before):
            continue  # no unit of the block moves, so that none is moved by another
        after = _one_by_one(before, field, weights[units][:, units])
        fields.addmm_(after - before, weights[:, units].T)
        states[:, units] = after
    return states


def _blocks(num_units: int, order: Tensor | None) -> Iterable[slice | Tensor]:
    """The units, some at a time; those in a row as slices, which need no copy of the weights."""
    if order is not None:
        return torch.split(order, BLOCK)
    return (slice(start, start + BLOCK) for start in range(0, num_units, BLOCK))


def _one_by_one(states: Tensor, fields: Tensor, weights: Tensor) -> Tensor:
    """A few units, each after the other: (B, block) -> (B, block).

    So many steps on so few numbers are ten times as quick in NumPy, which starts each at once.
    """
    bits = states.T.cpu().numpy().copy()  # (block, B)
    pulls = fields.T.cpu().numpy() + _rounding(fields)
    one = bits.dtype.type(1)
    for unit, column in enumerate(weights.T.cpu().numpy()):
        turned = np.copysign(one, pulls[unit])
        change = turned - bits[unit]
        if change.any():
            pulls += np.multiply.outer(column, change)
            bits[unit] = turned
    return torch.from_numpy(bits.T).to(states)


def overlap(states: Tensor, patterns: Tensor) -> Tensor:
    """The mean of x_i y_i of rows in pairs: 1 for equals, 0 by chance, -1 for opposites."""
    return (states * patterns).mean(dim=-1)
