"""One batch as a loader gives it: which part of it are inputs, targets and weights.

    (x, y)    (x, y, weights)    {"pixels": x, "labels": y, "weights": w}

x is a tensor, or a tuple or dict of tensors.

Shapes: B rows of a batch, K outputs.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.trees import Tree, tensors_of
from netwright.data.targets import ArrayTarget

TARGET_KEYS = ("labels", "label", "target", "targets", "y")
WEIGHT_KEYS = ("weights", "weight", "sample_weight")


class RawBatch(NamedTuple):
    """Inputs, targets and weights (or None), as they came."""

    inputs: Tree
    targets: Tensor
    weights: Tensor | None


def read_batch(item: Any, target: str = "") -> RawBatch:
    """The parts of what a loader gives; what has no targets, or no telling which, is refused.

    Args:
        item: a batch.
        target: the key of the targets in a dict; empty: one of the usual names.
    """
    if isinstance(item, Mapping):
        batch = _of_dict(item, target)
    elif isinstance(item, tuple | list) and len(item) in {2, 3}:
        inputs, targets, *rest = item
        batch = RawBatch(plain_tree(inputs), _tensor(targets, "targets"), _weights(rest))
    else:
        got = f"{len(item)} parts" if isinstance(item, tuple | list) else type(item).__name__
        raise DataError(
            f"a batch must be (inputs, targets[, weights]) or a dict with a key such as 'labels', "
            f"got {got}; several inputs are ((a, b), targets)"
        )
    _check_rows(batch)
    return batch


def _of_dict(item: Mapping[str, Any], target: str) -> RawBatch:
    keys = [target] if target else [key for key in TARGET_KEYS if key in item]
    if not keys or keys[0] not in item:
        wanted = repr(target) if target else " or ".join(map(repr, TARGET_KEYS))
        raise DataError(
            f"a batch must have its targets by the key {wanted}, got {', '.join(map(str, item))}; "
            f"target='...' names another key"
        )
    weights = [item[key] for key in WEIGHT_KEYS if key in item][:1]
    parts = {
        str(key): value
        for key, value in item.items()
        if isinstance(value, Tensor) and key != keys[0] and key not in WEIGHT_KEYS
    }
    if not parts:
        raise DataError(f"a batch must have a tensor beside its targets, got only {keys[0]!r}")
    inputs = next(iter(parts.values())) if len(parts) == 1 else parts
    return RawBatch(inputs, _tensor(item[keys[0]], "targets"), _weights(weights))


def plain_tree(inputs: Any) -> Tree:
    """Inputs as plain tuples and dicts; what is no tensor in them is left out."""
    if isinstance(inputs, Mapping):
        return {str(key): part for key, part in inputs.items() if isinstance(part, Tensor)}
    if isinstance(inputs, tuple | list):
        return tuple(_tensor(part, "inputs") for part in inputs)
    return _tensor(inputs, "inputs")


def _tensor(values: Any, what: str) -> Tensor:
    if not isinstance(values, Tensor):
        raise DataError(
            f"the {what} of a batch must be a tensor, got {type(values).__name__}: let collate_fn "
            f"give tensors"
        )
    return values


def _weights(rest: list[Any]) -> Tensor | None:
    if not rest:
        return None
    weights = _tensor(rest[0], "weights")
    if weights.ndim != 1 or not weights.is_floating_point():
        raise DataError(
            f"the third part of a batch must be weights (B,) of floats, got "
            f"{tuple(weights.shape)} of {weights.dtype}; several inputs are ((a, b), targets)"
        )
    return weights.float()


def _check_rows(batch: RawBatch) -> None:
    """Refuse parts of one batch that are not of the same rows."""
    parts = tensors_of(batch.inputs)
    if not parts:
        raise DataError("a batch must have inputs that are tensors, got none")
    beside = [batch.targets] if batch.weights is None else [batch.targets, batch.weights]
    sizes = [part.shape[:1] for part in (*parts, *beside)]
    if not all(sizes):
        raise DataError("a batch must have a first dimension of rows, got a single number")
    if any(size != sizes[0] for size in sizes) or not sizes[0][0]:
        told = " and ".join(str(size[0]) for size in sizes)
        raise DataError(f"all parts of a batch must have as many rows, got {told}")


def encode_targets(targets: Tensor, kind: ArrayTarget, outputs: int) -> Tensor:
    """The targets of a batch: classes (B,) int64, labels and reals (B, K) float32.

    Args:
        targets: as they came.
        kind: what they are.
        outputs: classes, labels or reals; 0: not known yet.
    """
    if kind == "class":
        flat = targets.squeeze(1) if targets.ndim == 2 and targets.shape[1] == 1 else targets
        if flat.ndim != 1:
            raise DataError(f"classes must have shape (B,), got {tuple(targets.shape)}")
        classes = flat.long()
        _check_classes(classes, outputs)
        return classes
    columns = targets[:, None] if targets.ndim == 1 else targets
    if columns.ndim != 2 or (outputs and columns.shape[1] != outputs):
        raise DataError(
            f"targets must have shape (B, {outputs or 'K'}), got {tuple(targets.shape)}"
        )
    return columns.to(torch.float32)


def _check_classes(targets: Tensor, outputs: int) -> None:
    """Refuse a class that there is no output for."""
    if not outputs or not targets.numel():
        return
    values = targets.tolist()  # a few numbers are compared sooner here than by a kernel
    low, high = min(values), max(values)
    if low < 0 or high >= outputs:
        raise DataError(
            f"label {low if low < 0 else high} is out of range: there are {outputs} classes, 0 to "
            f"{outputs - 1}; the first batches did not have it, so give a module with as many "
            f"outputs as classes"
        )
