"""Where the pixels of changed images come from, and how they are read there.

A change of geometry moves places, and places that have been moved can be moved again: however many
changes there are, the images are read once. Places are counted from the middle of an image, so
turning and stretching need no offset. Outside of an image lies its nearest border pixel: black
stays black and a constant image constant, however pixels are encoded.

Shapes: B images (B, C, I, J).
"""

from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

MOST_EXACT = 2**22  # pixels whose numbers, and the halves between them, a float32 can tell apart


class Places(NamedTuple):
    """Rows and columns to read from, in pixels from the middle of the image.

    Args:
        rows: (B, I, 1) while a pixel's row does not depend on its column, else (B, I, J).
        columns: (B, 1, J) or (B, I, J) likewise.
    """

    rows: Tensor
    columns: Tensor


def own_places(images: Tensor) -> Places:
    """Every pixel's own place: nothing has moved."""
    count, _, tall, wide = images.shape
    dtype = torch.promote_types(images.dtype, torch.float32)  # bfloat16 counts to 256 only
    rows, columns = (_from_middle(side, dtype, images.device) for side in (tall, wide))
    return Places(rows[:, None].expand(count, -1, 1), columns.expand(count, 1, -1))


@cache
def _from_middle(side: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Places along one side; the same for every batch."""
    return torch.arange(-(side - 1) / 2, side / 2, dtype=dtype, device=device)


def read_whole(images: Tensor, places: Places, out: Tensor | None = None) -> Tensor:
    """The pixels at places (B, I, 1) and (B, 1, J) that are pixels themselves, exactly."""
    _, _, tall, wide = images.shape
    down, right = (tall - 1) / 2, (wide - 1) / 2
    rows, columns = places.rows.clamp(-down, down), places.columns.clamp(-right, right)
    if tall * wide >= MOST_EXACT:
        rows, columns = rows.double(), columns.double()
    columns = columns.add_(down * wide + right)
    flat = torch.add(columns, rows, alpha=wide).long().flatten(1)[:, None]  # (B, 1, I J)
    pixels = images.flatten(2)
    room = None if out is None else out.view_as(pixels)
    return torch.gather(pixels, 2, flat.expand_as(pixels), out=room).view_as(images)


def read_nearest(masks: Tensor, places: Places) -> Tensor:
    """The pixels of masks (B, I, J) that are nearest to any places: classes are never blended."""
    _, tall, wide = masks.shape
    rows = (places.rows + (tall - 1) / 2).round().clamp(0, tall - 1)
    columns = (places.columns + (wide - 1) / 2).round().clamp(0, wide - 1)
    flat = rows.long() * wide + columns.long()
    return masks.flatten(1).gather(1, flat.flatten(1)).view_as(masks)


def read_between(images: Tensor, places: Places) -> Tensor:
    """The values at any places, each blended from the four pixels around it."""
    dtype, shape = places.rows.dtype, (len(images), *images.shape[2:])
    grid = torch.empty(*shape, 2, dtype=dtype, device=images.device)  # columns first, from -1 to 1
    for axis, place in enumerate(places):
        torch.mul(place.expand(shape), 2 / images.shape[2 + axis], out=grid[..., 1 - axis])
    values = F.grid_sample(images.to(dtype), grid, padding_mode="border", align_corners=False)
    return values.to(images.dtype)
