"""Small pictures in folders, made on the spot."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def bytes_of(seed: int, *shape: int) -> NDArray[np.uint8]:
    """Random bytes of this shape, the same for the same seed."""
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def save(path: Path, pixels: NDArray[np.uint8], **settings: Any) -> Path:
    """Write bytes (I, J) or (I, J, C) as an image, in a folder that is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **settings)
    return path


def folder_of(root: Path, *names: str, shape: tuple[int, ...] = (4, 4)) -> Path:
    """A different picture at each of these names below a folder."""
    for seed, name in enumerate(names):
        save(root / name, bytes_of(seed, *shape))
    return root
