r"""Numbers as waves: sines and cosines of learned frequencies, then a small layer for each number.

    v_j = [\sin(2 \pi c_j x_j), \cos(2 \pi c_j x_j)],    e_j = \mathrm{ReLU}(W_j v_j + b_j)

A network whose inputs are plain numbers learns functions that vary slowly; waves let it draw sharp
steps, as trees do.

Shapes: B batch, F numbers, K frequencies, D width.
Source: Gorishniy, Rubachev and Babenko, "On Embeddings for Numerical Features in Tabular Deep
Learning" (2022), section 3.3.
"""

import math

import torch
from torch import Tensor, nn

from netwright.core.checks import check_positive, check_shape


def waves(x: Tensor, frequencies: Tensor) -> Tensor:
    """Sines, then cosines: (B, F), (F, K) -> (B, F, 2 K)."""
    angles = 2 * math.pi * frequencies * x[..., None]
    return torch.cat((angles.sin(), angles.cos()), dim=-1)


class PeriodicEmbedding(nn.Module):
    """A vector for each number.

    Args:
        features: F.
        frequencies: K.
        width: D.
        spread: standard deviation of the frequencies at the start; the larger, the finer the waves.
    """

    def __init__(self, features: int, frequencies: int, width: int, *, spread: float) -> None:
        super().__init__()
        for name, size in (("features", features), ("frequencies", frequencies), ("width", width)):
            check_positive(name, size)
        check_positive("spread", spread)
        self.frequencies = nn.Parameter(torch.empty(features, frequencies))
        self.weight = nn.Parameter(torch.empty(features, 2 * frequencies, width))
        self.bias = nn.Parameter(torch.empty(features, width))
        bound = (2 * frequencies) ** -0.5
        nn.init.normal_(self.frequencies, std=spread)
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        """(B, F) -> (B, F, D)."""
        check_shape("x", x, "B", len(self.bias))
        mixed = torch.einsum("bfk,fkd->bfd", waves(x, self.frequencies), self.weight)
        return torch.relu(mixed + self.bias)
