"""Reading what a user hands over as an array: NumPy arrays, tensors, lists, frames, sparse ones.

Nothing here changes or keeps the source: what is returned may share its memory and is only read.
"""

from math import inf
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.checks import check_finite
from netwright.core.errors import DataError

NUMBERS = "biuf"  # NumPy's letters for bool, int, unsigned and float
WHOLE = "biu"
TEXT = "U"


def is_sparse(source: Any) -> bool:
    """Whether this is a sparse matrix or array of scipy, without importing scipy."""
    return type(source).__module__.startswith("scipy.sparse") and hasattr(source, "tocsr")


def read_array(name: str, source: Any) -> NDArray[Any]:
    """The source as an array of whatever dtype it has."""
    try:
        if isinstance(source, Tensor):
            tensor = source.detach().cpu()
            # NumPy has no bfloat16; float32 holds all of its values.
            source = (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).numpy()
        if is_sparse(source):
            source = source.toarray()
        return np.asarray(source)
    except (ValueError, TypeError, RuntimeError):
        raise DataError(
            f"{name} must be an array or nested lists of one shape, got {type(source).__name__}"
        ) from None


def read_numbers(name: str, source: Any) -> NDArray[Any]:
    """The source as an array of real numbers."""
    array = read_array(name, source)
    if array.dtype.kind not in NUMBERS:
        raise DataError(f"{name} must be real numbers, got dtype {array.dtype}")
    return array


def to_floats(name: str, array: NDArray[Any], *, gaps: bool = False) -> Tensor:
    """A copy as float32, or as float64 where float32 would lose something; finite throughout.

    Args:
        name: what refusals call it.
        array: real numbers.
        gaps: whether NaN, where a number is missing, is let through.
    """
    exact = np.result_type(array.dtype, np.float32) == np.float32
    with np.errstate(over="ignore"):  # beyond float64 is infinity, and refused as such
        copy = array.astype(np.float32 if exact else np.float64, order="C")
    values = torch.from_numpy(copy)
    check_finite(name, values.nan_to_num(nan=0.0, posinf=inf, neginf=-inf) if gaps else values)
    return values


def to_float32(name: str, values: Tensor) -> Tensor:
    """The values as float32; a number that is too large for it is refused by its place."""
    narrow = values.float()
    check_finite(f"{name} as float32", narrow)
    return narrow


def column_names(source: Any) -> tuple[str, ...]:
    """The names that a frame (or a named column of one) brings along; none for anything else."""
    columns = getattr(source, "columns", None)
    if columns is None:
        name = getattr(source, "name", None)
        columns = () if name is None else (name,)
    return tuple(columns) if all(isinstance(column, str) for column in columns) else ()
