"""Images that somebody drew, as data: each a few grey pixels and its class.

Shapes: N drawings (1, SIDE, SIDE).
"""

from collections.abc import Sequence

import torch

from netwright.core.errors import ConfigError
from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.dataset import Data

SIDE = 8  # as scikit-learn's digits have
WHITE = 15  # the lightest of their pixels; 0 is black
CLASSES = 10
MOST_DRAWINGS = 500
_WANTED = f"each drawing must be {SIDE * SIDE} whole numbers from 0 to {WHITE}, and its class"


def drawn_images(drawings: Sequence[Sequence[int]]) -> Data:
    """Drawings, each its pixels row by row and then its class; a fifth of them are for validation.

    They are scaled to [0, 1], as the digits are that come with scikit-learn.
    """
    if not 4 <= len(drawings) <= MOST_DRAWINGS:
        raise ConfigError(f"draw 4 to {MOST_DRAWINGS} pictures, got {len(drawings)}")
    for row in drawings:
        is_row = isinstance(row, list | tuple) and len(row) == SIDE * SIDE + 1
        if not is_row or not all(type(one) is int and 0 <= one <= WHITE for one in row):
            raise ConfigError(_WANTED)
    rows = torch.tensor(drawings)
    pixels, classes = rows[:, :-1], rows[:, -1]
    if bool((classes >= CLASSES).any()):
        raise ConfigError(f"the class of a drawing must be 0 to {CLASSES - 1}")
    if len({int(one) for one in classes}) < 2:
        raise ConfigError("draw pictures of two classes at least")
    config = ArraysConfig(kind="class", val_size=0.2, test_size=0.0, factor=1 / WHITE)
    images = pixels.float().view(-1, 1, SIDE, SIDE)
    return from_arrays(images, classes, config=config, name="drawn")
