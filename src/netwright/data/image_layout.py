"""Where the channels of images stand: arrays are told by their shape, and brought to one layout.

    (N, I, J, C), C 1, 3 or 4 and less than I and J    channels last, as Keras and Pillow have them
    (N, I, J) of bytes                                 grey images
    all other (N, C, I, J)                             channels first, as torch has them

Shapes: N images, C channels, I rows, J columns.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

CHANNELS = frozenset({1, 3, 4})  # grey, colour, colour with alpha


def to_channels_first(array: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Images as (N, C, I, J), a view of the array, and what was recognised; other arrays as is."""
    if array.ndim == 3 and array.dtype == np.uint8:
        return array[:, None], f"the inputs {array.shape} are bytes: read as grey images (N, I, J)"
    if array.ndim != 4:
        return array, ""
    _, height, width, channels = array.shape
    if channels not in CHANNELS or channels >= min(height, width) or height in CHANNELS:
        return array, ""
    note = f"the images {array.shape} have their channels last: read as (N, I, J, C)"
    return np.moveaxis(array, -1, 1), note


def in_layout(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Images in any layout as those that were learned from (N, C, I, J); other arrays as is.

    Args:
        array: the inputs.
        shape: of one input, as it was learned from.
    """
    if len(shape) != 3 or array.shape[1:] == shape:
        return array
    if array.ndim == 4 and array.shape[1:] == (*shape[1:], shape[0]):
        return np.moveaxis(array, -1, 1)
    return array[:, None] if array.ndim == 3 and (1, *array.shape[1:]) == shape else array
