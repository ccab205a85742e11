"""MNIST from its four idx files, or noise of the same shape where the files are absent.

The files are looked for in `mnist/` of the folder that the variable NETWRIGHT_DATA names.
Shapes: N images, each 784 numbers in [0, 1].
"""

import gzip
import os
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

Pair = tuple[Tensor, Tensor]  # images (N, 784) float32, labels (N,) int64
FILES = {"train": ("train-images", "train-labels"), "test": ("t10k-images", "t10k-labels")}


def mnist_folder() -> Path | None:
    """Where the idx files lie, or None."""
    root = os.environ.get("NETWRIGHT_DATA")
    folder = Path(root) / "mnist" if root else None
    return folder if folder is not None and folder.is_dir() else None


def load_mnist(folder: Path, part: str) -> Pair:
    """The 60,000 images of "train" or the 10,000 of "test", in the order of the files."""
    images, labels = FILES[part]
    pixels = _read(folder / f"{images}-idx3-ubyte.gz", header=16).reshape(-1, 784)
    classes = _read(folder / f"{labels}-idx1-ubyte.gz", header=8)
    return torch.from_numpy(pixels / np.float32(255)), torch.from_numpy(classes.astype(np.int64))


def noise_like_mnist(samples: int, *, seed: int = 0) -> Pair:
    """Random bytes and labels: the arithmetic of a step is the same, there is nothing to learn."""
    rng = torch.Generator().manual_seed(seed)
    pixels = torch.randint(0, 256, (samples, 784), generator=rng, dtype=torch.uint8)
    return pixels.float() / 255, torch.randint(0, 10, (samples,), generator=rng)


def _read(path: Path, *, header: int) -> np.ndarray:
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=header)
