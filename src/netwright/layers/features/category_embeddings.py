r"""Categories of a table as vectors: one is looked up for each, and stands in its place.

    [x_1, ..., x_F] -> [numbers, e_{1, x_1}, ..., e_{E, x_E}]

A category that training did not have is the last of its column: its vector is 0 and stays 0. Others
start near 0, so that a category of few rows says little.

Shapes: B batch, F features, E of them places of categories, W the numbers and vectors together.
Source: Guo and Berkhahn, "Entity Embeddings of Categorical Variables" (2016), arXiv 1604.06737.
"""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from netwright.core.checks import check_levels, check_shape

WIDEST = 50  # features of a vector; of few categories half as many as there are
SMALL = 0.01  # standard deviation of the vectors at the start


class CategoryTables(nn.ModuleList):
    """A table of vectors for each column of categories.

    Args:
        levels: of each column (E); the last of them is of categories not seen.
        widths: of the vectors of each column (E).
        spread: standard deviation of the vectors at the start.
    """

    def __init__(self, levels: Sequence[int], widths: Sequence[int], spread: float) -> None:
        super().__init__()
        for count, width in zip(levels, widths, strict=True):
            table = nn.Embedding(count, width, padding_idx=count - 1)
            nn.init.normal_(table.weight, std=spread)
            with torch.no_grad():
                table.weight[-1] = 0
            self.append(table)

    def vectors(self, places: Tensor) -> list[Tensor]:
        """(B, E) -> E times (B, width)."""
        columns = places.long().unbind(1)
        return [cast(Tensor, table(one)) for table, one in zip(self, columns, strict=True)]


class CategoryEmbeddings(nn.Module):
    """Numbers as they are, then the vectors of the categories.

    Args:
        levels: the categories of each feature (F), with one more for those not seen; 0 of a number.
    """

    numbers: Tensor
    places: Tensor

    def __init__(self, levels: tuple[int, ...]) -> None:
        super().__init__()
        check_levels("levels", levels, len(levels))
        numbers, places = split_features(levels)
        # They follow from the data, and stay out of checkpoints.
        for name, found in (("numbers", numbers), ("places", places)):
            self.register_buffer(name, torch.tensor(found, dtype=torch.int64), persistent=False)
        counts = [count for count in levels if count]
        widths = [min(WIDEST, (count + 1) // 2) for count in counts]
        self.tables = CategoryTables(counts, widths, SMALL)
        self.features = len(levels)
        self.width = len(numbers) + sum(widths)

    def forward(self, x: Tensor) -> Tensor:
        """(B, F) -> (B, W)."""
        check_shape("x", x, "B", self.features)
        vectors = self.tables.vectors(x.index_select(1, self.places))
        return torch.cat([x.index_select(1, self.numbers), *vectors], dim=1)


def split_features(levels: Sequence[int]) -> tuple[list[int], list[int]]:
    """Which features are numbers, and which the places of categories."""
    numbers = [feature for feature, count in enumerate(levels) if not count]
    return numbers, [feature for feature, count in enumerate(levels) if count]
