"""Which rows a figure shows where there are too many to draw, and how large their dots are."""

import torch
from torch import Tensor


def shown_rows(num_rows: int, most: int) -> Tensor:
    """All rows, or `most` of them drawn evenly by chance: always the same ones, in their order."""
    if num_rows <= most:
        return torch.arange(num_rows)
    order = torch.randperm(num_rows, generator=torch.Generator().manual_seed(0))
    return order[:most].sort().values


def dot_size(num_dots: int) -> float:
    """The area of a dot, in points: smaller where there are many."""
    return min(max(4_000 / num_dots, 9.0), 28.0)
