r"""Position encodings: attention alone does not know the order of its inputs; these tell it.

    sinusoidal   p_{t, 2i} = sin(t w_i),  p_{t, 2i+1} = cos(t w_i),  w_i = 10000^{-2i/D}     added
    learned      p_t is a row of a table                                                     added
    rotary       the pair (x_{2i}, x_{2i+1}) of a query or key turns by the angle t w_i

Sine and cosine of a pair share their frequency, so that a shift is a rotation. Often i is taken for
the number of the feature, which gives them different ones.

Shapes: B batch, H heads, T positions, D features, K features of a head, P = K / 2 pairs.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.5; Su et al., "RoFormer"
(2021), section 3.2.
"""

import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError

BASE = 10_000.0  # sets the slowest turn; it is no limit to the positions


def pair_angles(positions: int, features: int, base: float = BASE) -> Tensor:
    """The angle t w_i of each position and pair, (T, D / 2), in float64."""
    if features % 2:
        raise ConfigError(
            f"rotary positions rotate pairs of features: wanted an even number, got {features}"
        )
    pairs = torch.arange(0, features, 2, dtype=torch.float64)
    return torch.outer(torch.arange(positions, dtype=torch.float64), base ** -(pairs / features))


def sinusoidal_encoding(positions: int, features: int, base: float = BASE) -> Tensor:
    """The matrix (T, D) of sines at even and cosines at odd features, in float64."""
    angles = pair_angles(positions, features, base)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


def rotate_pairs(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn the pairs of x (..., T, K) by angles with these cosines and sines (T, P)."""
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(-2).type_as(x)  # the tables are float32 where x may be less


class SinusoidalPositions(nn.Module):
    """Fixed positions: sines and cosines, as large as the embeddings that they are added to.

    Args:
        positions: the longest sequence that will be asked for.
        width: D, even.
        scale: of the sines; 1 beside embeddings whose features have variance 1.
    """

    table: Tensor

    def __init__(self, positions: int, width: int, scale: float = 1.0) -> None:
        super().__init__()
        table = scale * sinusoidal_encoding(positions, width)
        # No weight: it is not saved.
        self.register_buffer("table", table.to(torch.get_default_dtype()), persistent=False)

    def forward(self, start: int, count: int) -> Tensor:
        """(T, D) of the places from `start` on."""
        return self.table[start : start + count]


class LearnedPositions(nn.Module):
    """A table (positions, width) that is trained."""

    def __init__(self, positions: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(positions, width).normal_())

    def forward(self, start: int, count: int) -> Tensor:
        """(T, D) of the places from `start` on."""
        return self.weight[start : start + count]


class Rotary(nn.Module):
    """Make the score of a query and a key depend on their distance alone.

    With R_t the rotation at position t, <R_s q, R_t k> is a function of s - t.

    Args:
        head_size: K, even.
        positions: the longest sequence that will be asked for.
    """

    cos: Tensor
    sin: Tensor

    def __init__(self, head_size: int, positions: int) -> None:
        super().__init__()
        angles = pair_angles(positions, head_size)
        for name, table in (("cos", angles.cos()), ("sin", angles.sin())):
            self.register_buffer(name, table.to(torch.get_default_dtype()), persistent=False)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Turn queries or keys (B, H, T, K), the first of which is at place `start`."""
        places = slice(start, start + x.shape[-2])
        return rotate_pairs(x, self.cos[places], self.sin[places])
