r"""Columns of a table as tokens: one vector each, for whatever reads sequences.

    t_g = b_g + \sum_{j \in g} x_j w_j

A number is a group of one feature, whose vector grows with it. The 0-or-1 features of a category
are one group, in which one vector is taken: its embedding. A category that training did not have
is all zeros, and leaves the bias of its column.

Shapes: B batch, F features, G groups, D width.
Source: Gorishniy et al., "Revisiting Deep Learning Models for Tabular Data" (2021), section 3.3.
"""

import torch
from torch import Tensor, nn

from netwright.core.checks import check_groups, check_positive, check_shape


class FeatureTokens(nn.Module):
    """One token for each group of features.

    Args:
        groups: the group of each feature (F), numbered from 0 in their order.
        width: D.
    """

    groups: Tensor

    def __init__(self, groups: tuple[int, ...], width: int) -> None:
        super().__init__()
        check_positive("width", width)
        check_groups("groups", groups, len(groups))
        self.count = groups[-1] + 1
        # It follows from the data, and stays out of checkpoints.
        self.register_buffer("groups", torch.tensor(groups), persistent=False)
        self.weight = nn.Parameter(torch.empty(len(groups), width))
        self.bias = nn.Parameter(torch.empty(self.count, width))
        for parameter in (self.weight, self.bias):
            nn.init.uniform_(parameter, -(width**-0.5), width**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        """(B, F) -> (B, G, D)."""
        check_shape("x", x, "B", len(self.weight))
        vectors = x[..., None] * self.weight  # (B, F, D)
        if self.count < len(self.weight):
            empty = vectors.new_zeros(x.shape[0], self.count, vectors.shape[-1])
            vectors = empty.index_add(1, self.groups, vectors)
        return vectors + self.bias
