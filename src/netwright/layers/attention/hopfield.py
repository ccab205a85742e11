"""The modern Hopfield layer: a query moves to the stored pattern it is nearest to, by attention.

One update is softmax attention with the stored patterns as keys and values. It lowers an energy
and, for a large beta, retrieves a pattern in a single step.

Shapes: B queries, S stored patterns, D features, E features of the values.
Source: Ramsauer et al., "Hopfield Networks is All You Need" (2020); the softmax over blocks is that
of Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from netwright.core.checks import check_positive, check_shape
from netwright.core.errors import ShapeError

BLOCK_SCORES = 2**20  # scores that are held at a time: 4 MB in single precision


def hopfield_retrieval(
    queries: Tensor,
    patterns: Tensor,
    beta: float,
    *,
    values: Tensor | None = None,
    offsets: Tensor | None = None,
) -> Tensor:
    """softmax(beta xi X^T + offsets) V of each query, (B, E); the patterns go by in blocks.

    Args:
        queries: xi, (B, D).
        patterns: X, (S, D).
        beta: how sharply the nearest pattern wins; 1/sqrt(D) is a transformer's attention.
        values: V, what each pattern stands for, (S, E); the patterns themselves where None.
        offsets: added to the scores of each pattern, (S,); 0 where None.
    """
    check_patterns(queries, patterns, beta)
    values = patterns if values is None else values
    highest = queries.new_full((len(queries), 1), -math.inf)
    mass = queries.new_zeros(len(queries), 1)
    total = queries.new_zeros(len(queries), values.shape[1])
    for rows, scores in _blocks(queries, patterns, beta, offsets):
        top = torch.maximum(highest, scores.amax(dim=1, keepdim=True))
        shrink, parts = (highest - top).exp(), (scores - top).exp()
        mass = mass * shrink + parts.sum(dim=1, keepdim=True)
        total = total * shrink + parts @ values[rows]
        highest = top
    return total / mass


def hopfield_energy(states: Tensor, patterns: Tensor, beta: float) -> Tensor:
    """-lse(beta, X xi) + |xi|^2 / 2 + log(S) / beta + M^2 / 2 of each state, (B,); never below 0.

    lse(beta, z) = log(sum_i exp(beta z_i)) / beta, and M is the length of the longest pattern.
    """
    check_patterns(states, patterns, beta)
    parts = [scores.logsumexp(dim=1) for _, scores in _blocks(states, patterns, beta, None)]
    near = torch.stack(parts).logsumexp(dim=0)
    longest = patterns.square().sum(dim=1).amax()
    lengths = states.square().sum(dim=1)
    return (math.log(len(patterns)) - near) / beta + (lengths + longest) / 2


def check_patterns(queries: Tensor, patterns: Tensor, beta: float) -> None:
    """Refuse no patterns, patterns of another size than the queries, and a beta of 0 or below."""
    check_shape("queries", queries, "B", "D")
    check_shape("patterns", patterns, "S", queries.shape[1])
    if not len(patterns):
        raise ShapeError("patterns must not be empty")
    check_positive("beta", beta)


def _blocks(
    queries: Tensor, patterns: Tensor, beta: float, offsets: Tensor | None
) -> Iterator[tuple[slice, Tensor]]:
    """The scores of a block of patterns at a time, (B, block)."""
    block = max(BLOCK_SCORES // max(len(queries), 1), 1)
    scaled = beta * queries
    for start in range(0, len(patterns), block):
        rows = slice(start, start + block)
        scores = scaled @ patterns[rows].T
        yield rows, scores if offsets is None else scores + offsets[rows]


class Hopfield(nn.Module):
    """Stored patterns that are learned by gradient steps; inputs are the queries.

    Args:
        num_patterns: S.
        dim: D.
        beta: 1/sqrt(D) where None.
        steps: updates of a query.
    """

    def __init__(
        self, num_patterns: int, dim: int, *, beta: float | None = None, steps: int = 1
    ) -> None:
        super().__init__()
        for name, value in (("num_patterns", num_patterns), ("dim", dim), ("steps", steps)):
            check_positive(name, value)
        self.beta = 1 / math.sqrt(dim) if beta is None else beta
        check_positive("beta", self.beta)
        self.steps = steps
        self.patterns = nn.Parameter(torch.randn(num_patterns, dim))

    def forward(self, x: Tensor) -> Tensor:
        """(B, D) -> (B, D)."""
        for _ in range(self.steps):
            x = hopfield_retrieval(x, self.patterns, self.beta)
        return x
