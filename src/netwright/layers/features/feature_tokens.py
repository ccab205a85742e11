r"""Columns of a table as tokens: one vector each, for whatever reads sequences.

    t_g = b_g + \sum_{j \in g} x_j w_j

A number is a group of one feature, whose vector grows with it. The 0-or-1 features of a category
are one group, in which one vector is taken: its embedding. A category that training did not have
is all zeros, and leaves the bias of its column. Where a category is one feature, its place, its
vector is looked up.

Shapes: B batch, F features, G groups, D width.
Source: Gorishniy et al., "Revisiting Deep Learning Models for Tabular Data" (2021), section 3.3.
"""

import torch
from torch import Tensor, nn

from netwright.core.checks import check_groups, check_levels, check_positive, check_shape
from netwright.layers.features.category_embeddings import CategoryTables, split_features


class FeatureTokens(nn.Module):
    """One token for each group of features.

    Args:
        groups: the group of each feature (F), numbered from 0 in their order.
        width: D.
        levels: the categories of each feature (F), with one more for those not seen; 0 of a
            number. Empty where all are numbers.
    """

    numbers: Tensor
    places: Tensor
    groups: Tensor

    def __init__(self, groups: tuple[int, ...], width: int, levels: tuple[int, ...] = ()) -> None:
        super().__init__()
        check_positive("width", width)
        check_groups("groups", groups, len(groups))
        self.features, self.count = len(groups), groups[-1] + 1
        # It follows from the data, and stays out of checkpoints.
        self.register_buffer("groups", torch.tensor(groups), persistent=False)
        if levels:
            check_levels("levels", levels, len(groups))
        numbers, places = split_features(levels or (0,) * len(groups))
        for name, found in (("numbers", numbers), ("places", places)):
            self.register_buffer(name, torch.tensor(found, dtype=torch.int64), persistent=False)
        self.weight = nn.Parameter(torch.empty(len(numbers), width))
        self.bias = nn.Parameter(torch.empty(self.count, width))
        for parameter in (self.weight, self.bias):
            nn.init.uniform_(parameter, -(width**-0.5), width**-0.5)
        counts = [count for count in levels if count]
        widths, spread = [width] * len(counts), (3 * width) ** -0.5  # as uniform ones have it
        self.tables = CategoryTables(counts, widths, spread) if counts else None

    def forward(self, x: Tensor) -> Tensor:
        """(B, F) -> (B, G, D)."""
        check_shape("x", x, "B", self.features)
        if self.tables is not None:
            return self._looked_up(x, self.tables) + self.bias
        vectors = x[..., None] * self.weight  # (B, F, D)
        if self.count < len(self.weight):
            empty = vectors.new_zeros(x.shape[0], self.count, vectors.shape[-1])
            vectors = empty.index_add(1, self.groups, vectors)
        return vectors + self.bias

    def _looked_up(self, x: Tensor, tables: CategoryTables) -> Tensor:
        """Numbers times their vectors, and the vectors at the places of categories (B, G, D)."""
        numbers = x.index_select(1, self.numbers)[..., None] * self.weight
        found = torch.stack(tables.vectors(x.index_select(1, self.places)), dim=1)
        empty = numbers.new_zeros(x.shape[0], self.count, numbers.shape[-1])
        tokens = empty.index_add(1, self.groups[self.numbers], numbers)
        return tokens.index_add(1, self.groups[self.places], found)
