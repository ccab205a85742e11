"""Masks: pictures in which the value of a pixel names its class.

    values of all masks, in ascending order -> classes 0, 1, ...      0 and 255 -> 0 and 1

A value is a shade of grey, or the index of a palette's colour, whatever that colour is.

Shapes: N masks, I rows, J columns.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.core.files.storage import write_bytes
from netwright.data.images.decoding import opened, refusing, upright
from netwright.data.images.decoding_room import ROOM
from netwright.data.images.quiet_pillow import QUIET

COPIES = 8  # bytes a pixel: as it is stored, turned, and as an array
MOST_VALUES = 64  # that are taken for classes where nobody has named them
MOST_CLASSES = 256  # that fit into a byte
MOST_SHADE = 2**16 - 1  # of a grey PNG


def read_mask(path: Path) -> NDArray[np.integer]:
    """The values of a mask (I, J)."""
    with refusing(path), QUIET, opened(path, whole=True) as image:
        if image.format == "JPEG":
            raise ValueError("JPEG compression changes the values of a mask, wanted a PNG")
        with ROOM.hold(image.width * image.height * COPIES):
            return _values(upright(image))


def resize_mask(mask: NDArray[np.integer], height: int, width: int) -> NDArray[np.integer]:
    """The mask in another size: every pixel takes the value of the one at its centre."""
    rows, columns = (
        ((np.arange(new) + 0.5) * old / new).astype(int)
        for new, old in zip((height, width), mask.shape, strict=True)
    )
    return mask[np.ix_(rows, columns)]


def mask_values(masks: Sequence[NDArray[np.integer]], class_names: Sequence[str]) -> list[int]:
    """The values that all masks hold together, ascending; as many as there are names, if any."""
    values = sorted(set().union(*(np.unique(mask).tolist() for mask in masks)))
    if class_names and len(values) != len(class_names):
        held = ", ".join(map(str, values[:10])) + (", ..." if len(values) > 10 else "")
        raise ConfigError(
            f"class_names must be as many as the masks have values, {len(values)} ({held}), "
            f"got {len(class_names)}"
        )
    most = MOST_CLASSES if class_names else MOST_VALUES
    if len(values) > most:
        raise DataError(
            f"the masks hold {len(values)} different values, more than {most} classes: are they "
            f"photographs? (with class_names there may be up to 256)"
        )
    return values


def encode_masks(masks: Sequence[NDArray[np.integer]], values: Sequence[int]) -> Tensor:
    """Masks of one size -> the place of each pixel's value among the values, uint8 (N, I, J)."""
    places = [np.searchsorted(values, mask).astype(np.uint8) for mask in masks]
    return torch.from_numpy(np.stack(places))


def write_mask(path: Path, mask: NDArray[np.integer]) -> None:
    """Write the values of a mask (I, J) as a PNG file."""
    write_bytes(path, mask_png(mask))


def mask_png(mask: NDArray[np.integer]) -> bytes:
    """The values of a mask (I, J) as a PNG: a byte a pixel, or two where they need it."""
    low, high = int(mask.min()), int(mask.max())
    if not 0 <= low <= high <= MOST_SHADE:
        raise DataError(f"a PNG holds values from 0 to {MOST_SHADE}, the mask has {low} to {high}")
    content, kind = BytesIO(), np.uint8 if high < MOST_CLASSES else np.uint16
    Image.fromarray(mask.astype(kind)).save(content, "PNG")
    return content.getvalue()


def _values(image: Image.Image) -> NDArray[np.integer]:
    pixels = np.array(image)
    if pixels.ndim == 3:
        colours = pixels[..., : {2: 1, 4: 3}.get(pixels.shape[2])]  # without alpha
        if not (colours == colours[..., :1]).all():
            raise ValueError("its pixels are colours, wanted a greyscale or palette image")
        pixels = colours[..., 0]
    if pixels.dtype.kind == "f":
        raise ValueError("its pixels are floats, wanted integers")
    return pixels.astype(np.uint8) if pixels.dtype == bool else pixels
