"""Numbers that are missing (NaN) in arrays: refused, filled with a mean, or dropped with their row.

Tables fill with the median and say which cells were missing, in a column of their own; a frame is
the way to have that for arrays.

Shapes: N examples, T steps, F features.
"""

from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.data.raw_arrays import read_array

Missing = Literal["refuse", "mean", "drop"]


def complete_rows(name: str, parts: tuple[Any, ...]) -> tuple[tuple[Any, ...], str]:
    """Inputs, targets and weights without the rows in which one is missing, and how many those are.

    Args:
        name: what the note calls the rows.
        parts: (N, ...) each.
    """
    arrays = [read_array(name, part) for part in parts]
    if len({len(array) for array in arrays}) > 1:
        return parts, ""  # whoever reads them says which have too few rows
    gone = np.zeros(len(arrays[0]), dtype=bool)
    for array in arrays:
        if array.dtype.kind == "f":
            gone |= np.isnan(array.reshape(len(array), -1)).any(axis=1)
    if not gone.any():
        return parts, ""
    if gone.all():
        raise DataError(f"a value is missing in each of the {len(gone)} rows of {name}")
    note = f"{gone.sum()} of the {len(gone)} rows of {name} were dropped, a value is missing"
    return tuple(array[~gone] for array in arrays), note


def means_of_present(values: Tensor, rows: Tensor) -> tuple[float, ...]:
    """The mean of each feature (F,) over what is there in these rows of (N, F) or (N, T, F)."""
    if values.ndim > 3:
        raise ConfigError(
            "missing='mean' is for features and series, not for images: fill in the pixels before"
        )
    means = values[rows].double().flatten(0, -2).nanmean(dim=0)
    absent = means.isnan().nonzero().flatten().tolist()
    if absent:
        raise DataError(
            f"feature {absent[0]} has no value in any training row: leave it out of the inputs"
        )
    return tuple(means.tolist())


def filled(values: Tensor, means: tuple[float, ...]) -> Tensor:
    """The values (..., F) with the mean of its feature in each gap."""
    return torch.where(values.isnan(), torch.tensor(means, dtype=values.dtype), values)
