"""A digest of each row's input: rows are equal where these are, whatever their kind and size.

Shapes: N rows.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from netwright.core.trees import tensors_of
from netwright.data.dataset import Split
from netwright.data.pixels import PixelSplit

DIGEST_BYTES = 8


def row_digests(split: Split, *, with_targets: bool = False) -> NDArray[np.uint64]:
    """One number a row (N,); images that are held as bytes are read as bytes."""
    inputs = split.pixels if isinstance(split, PixelSplit) else split.inputs
    # Windows that overlap stay views of their stream.
    parts = [array_digests(part.detach().cpu().numpy()) for part in tensors_of(inputs)]
    if with_targets:
        parts.append(array_digests(split.targets.cpu().numpy()))
    return parts[0] if len(parts) == 1 else array_digests(np.stack(parts, axis=1))


def array_digests(rows: NDArray[np.generic]) -> NDArray[np.uint64]:
    """One number a row (N,) of an array (N, ...)."""
    digests = b"".join(
        hashlib.blake2b(row.tobytes(), digest_size=DIGEST_BYTES).digest() for row in rows
    )
    return np.frombuffer(digests, np.uint64)
