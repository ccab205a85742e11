"""Small pictures with masks, written as folders of pairs."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def picture(place: int, shape: tuple[int, ...] = (8, 6)) -> NDArray[np.uint8]:
    """Noise of its own for each place."""
    return np.random.default_rng(place).integers(0, 256, shape, dtype=np.uint8)


def mask_of(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """255 where the image is bright."""
    grey = image if image.ndim == 2 else image[..., 0]
    return np.where(grey > 127, 255, 0).astype(np.uint8)


def write_pairs(
    root: Path,
    places: range,
    *,
    folders: tuple[str, str] = ("images", "masks"),
    shape: tuple[int, ...] = (8, 6),
) -> Path:
    """Pictures and their masks in two folders below the root."""
    for name in folders:
        (root / name).mkdir(parents=True, exist_ok=True)
    for place in places:
        image = picture(place, shape)
        Image.fromarray(image).save(root / folders[0] / f"{place}.png")
        Image.fromarray(mask_of(image)).save(root / folders[1] / f"{place}.png")
    return root
