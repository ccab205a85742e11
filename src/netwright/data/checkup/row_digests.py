"""A digest of each row's input: rows are equal where these are, whatever their kind and size.

Shapes: N rows.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from netwright.data.dataset import Split
from netwright.data.pixels import PixelSplit

DIGEST_BYTES = 8


def row_digests(split: Split, *, with_targets: bool = False) -> NDArray[np.uint64]:
    """One number a row (N,); images that are held as bytes are read as bytes."""
    inputs = split.pixels if isinstance(split, PixelSplit) else split.inputs
    rows = inputs.detach().cpu().numpy()  # windows that overlap stay views of their stream
    digests = array_digests(rows)
    if not with_targets:
        return digests
    both = np.stack([digests, array_digests(split.targets.cpu().numpy())], axis=1)
    return array_digests(both)


def array_digests(rows: NDArray[np.generic]) -> NDArray[np.uint64]:
    """One number a row (N,) of an array (N, ...)."""
    digests = b"".join(
        hashlib.blake2b(row.tobytes(), digest_size=DIGEST_BYTES).digest() for row in rows
    )
    return np.frombuffer(digests, np.uint64)
