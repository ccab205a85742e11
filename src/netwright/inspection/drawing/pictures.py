"""Images from data as small pictures on a figure, with words below each.

Shapes: N images (channels, I, J) with one channel or three.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor
from torch.nn import functional as F

from netwright.core.errors import ShapeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# (I, J) of grey levels, or (I, J, 3) of colours, from 0 to 255.
Pixels = tuple[tuple[Any, ...], ...]

MOST_PIXELS = 64  # along each side; larger images are shown smaller
COLUMNS = 6
ROW_HEIGHT = 1.38  # of a picture with its words, where a picture is at most 1 high
PICTURE = 0.9  # the side of a picture in a place of width 1


def as_images(inputs: Tensor, image_shape: tuple[int, ...] | None) -> Tensor | None:
    """Inputs (N, ...) as images (N, channels, I, J); None where they are none.

    Args:
        inputs: images, or features that are pixels.
        image_shape: (I, J) or (channels, I, J) of images that come as features.
    """
    if image_shape is None:
        is_image = inputs.ndim == 4 and inputs.shape[1] in (1, 3)
        return inputs if is_image else None
    shape = (1, *image_shape) if len(image_shape) == 2 else image_shape
    if len(shape) != 3 or shape[0] not in (1, 3) or math.prod(shape) != math.prod(inputs.shape[1:]):
        raise ShapeError(
            f"image_shape {image_shape} must be (I, J), (1, I, J) or (3, I, J) of the "
            f"{math.prod(inputs.shape[1:])} numbers in an input"
        )
    return inputs.reshape(-1, *shape)


def pixels_of(image: Tensor) -> Pixels:
    """An image (channels, I, J) from its darkest to its lightest value, as whole numbers."""
    small = image.detach().cpu().double()
    if max(small.shape[1:]) > MOST_PIXELS:
        shrink = MOST_PIXELS / max(small.shape[1:])
        tall, wide = (max(round(shrink * side), 1) for side in small.shape[1:])
        small = F.adaptive_avg_pool2d(small, (tall, wide))
    low, high = small.aminmax()
    levels = ((small - low) / (high - low if high > low else 1.0) * 255).round().long()
    grid = levels[0] if len(levels) == 1 else levels.permute(1, 2, 0)
    return tuple(
        tuple(tuple(cell) if isinstance(cell, list) else cell for cell in row)
        for row in grid.tolist()
    )


def draw_pictures(axes: "Axes", pictures: Sequence[tuple[Pixels, str]]) -> None:
    """Pictures from left to right, then down, each with its words below.

    One set of axes holds them all: a set for each picture would take ten times as long.
    """
    for place, (pixels, words) in enumerate(pictures):
        row, column = divmod(place, COLUMNS)
        grid = np.array(pixels, dtype=np.uint8)
        tall, wide = (PICTURE * side / max(grid.shape[:2]) for side in grid.shape[:2])
        middle, bottom = column + 0.5, row * ROW_HEIGHT + PICTURE
        axes.imshow(
            grid,
            extent=(middle - wide / 2, middle + wide / 2, bottom, bottom - tall),
            cmap="gray",
            vmin=0,
            vmax=255,
            interpolation="none",
        )
        axes.text(middle, bottom + 0.04, words, ha="center", va="top", fontsize=8)
    axes.set(xlim=(0, COLUMNS), ylim=(num_rows(len(pictures)) * ROW_HEIGHT, 0), aspect="equal")
    axes.set_axis_off()


def num_rows(num_pictures: int) -> int:
    """How many rows so many pictures take."""
    return math.ceil(num_pictures / COLUMNS)
