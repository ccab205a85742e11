"""The rows of a tensor that one of several ranks holds.

    rows of rank r = [r c, (r + 1) c)        c = ceil(n / ranks), as torch.chunk divides n rows

Shapes: n rows of a tensor.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

ReadRows = Callable[[int, int], Tensor]  # from the first row to the one behind the last


class Part(NamedTuple):
    """What a rank holds of a tensor.

    Args:
        own: its rows.
        shape: of the whole.
    """

    own: Tensor
    shape: tuple[int, ...]


def rows_of(count: int, rank: int, world: int) -> slice:
    """Which of n rows a rank holds; the last ranks may hold fewer, or none."""
    size = math.ceil(count / world)
    return slice(min(rank * size, count), min((rank + 1) * size, count))
