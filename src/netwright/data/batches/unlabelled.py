"""The inputs of a loader's batches alone, to be predicted: its targets, if any, are left out.

Shapes: N rows of all batches.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.trees import Tree, join_rows
from netwright.data.batches.reading import TARGET_KEYS, WEIGHT_KEYS, plain_tree
from netwright.data.batches.source import NO_BATCH


def unlabelled_inputs(loader: Iterable[Any]) -> Tree:
    """The inputs of all batches of a loader, with or without targets, one after the other."""
    parts = [inputs_of(item) for item in loader]
    if not parts:
        raise DataError(NO_BATCH)
    try:
        return join_rows(parts)
    except (RuntimeError, ValueError):
        raise DataError(
            "the batches of the loader have different shapes: predict them one by one"
        ) from None


def inputs_of(item: Any) -> Tree:
    """The inputs of a batch that may have no targets: of (x, y) and (x,) the first part."""
    if isinstance(item, Mapping):
        parts = {
            str(key): value
            for key, value in item.items()
            if isinstance(value, Tensor) and key not in {*TARGET_KEYS, *WEIGHT_KEYS}
        }
        return next(iter(parts.values())) if len(parts) == 1 else parts
    return plain_tree(item[0] if isinstance(item, tuple | list) else item)
