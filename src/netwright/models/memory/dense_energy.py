"""The moves of a dense associative memory: an energy that grows faster than the square of overlaps.

E(x) = -sum_t F(x_t^T x). With F(z) = z^2 it is the Hopfield network; a steeper F lets the nearest
pattern drown the cross-talk of the others, so that far more patterns than units can be stored.

Shapes: B states, s patterns, n units; states and patterns are rows of -1 and +1.
Source: Krotov and Hopfield, "Dense Associative Memory for Pattern Recognition" (2016); Demircigil
et al., "On a Model of Associative Memory with Huge Storage Capacity" (2017), for the exponential.
"""

import torch
from torch import Tensor

from netwright.models.memory.hopfield_dynamics import sign

LOWEST = -80.0  # exponents below leave the range in which single precision is quick


def dense_energy(states: Tensor, patterns: Tensor, power: int | None) -> Tensor:
    """-sum_t (z_t/n)^k, or -log sum_t exp(z_t) where `power` is None; z = x_t^T x, (B,).

    The scale by n and the logarithm keep the numbers in range and the order of the energies.
    """
    overlaps = states @ patterns.T  # (B, s)
    if power is None:
        return -overlaps.logsumexp(dim=1)
    return -(overlaps / patterns.shape[1]).pow(power).sum(dim=1)


def gain(rest: Tensor, power: int | None) -> Tensor:
    """F(a + 1) - F(a - 1) of each pattern, up to a positive factor a state, (B, s).

    Args:
        rest: a, the overlap of the pattern with all units but the one that is updated, (B, s).
        power: k of F(z) = z^k; None is F(z) = exp(z).
    """
    if power is None:  # 2 sinh(1) exp(a), and the largest exponent is taken out
        return (rest - rest.amax(dim=1, keepdim=True)).clamp_min(LOWEST).exp()
    reach = rest.abs().amax(dim=1, keepdim=True) + 1  # taken out first: no power overflows
    steps = ((rest + 1) / reach).pow(power) - ((rest - 1) / reach).pow(power)
    largest = steps.abs().amax(dim=1, keepdim=True)  # 0 for an even power where all rests are 0
    return steps / largest.clamp_min(torch.finfo(steps.dtype).tiny)


def dense_sweep(
    states: Tensor, patterns: Tensor, power: int | None, order: Tensor | None = None
) -> Tensor:
    """One unit after the other, each to the side of the lower energy; many states at once.

    E(x_i = -1) - E(x_i = +1) is sum_t x_ti (F(a_t + 1) - F(a_t - 1)), with a_t the overlap without
    unit i. Overlaps are kept up to date: a sweep takes O(B n s).

    Args:
        states: (B, n).
        patterns: (s, n), at least one.
        power: k of F(z) = z^k; None is F(z) = exp(z).
        order: units in the order of their updates; all from 0 where None.
    """
    if order is None:
        order = torch.arange(states.shape[1], device=states.device)
    states, overlaps = states.clone(), states @ patterns.T
    columns = patterns.T.contiguous()  # (n, s): one row a unit
    for unit in order.tolist():
        bits = columns[unit]
        rest = overlaps.addr(states[:, unit], bits, alpha=-1)
        turned = sign(gain(rest, power) @ bits)
        overlaps = rest.addr_(turned, bits)
        states[:, unit] = turned
    return states
