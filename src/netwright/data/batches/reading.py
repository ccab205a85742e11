"""One batch as a loader gives it: which part of it are inputs, targets and weights.

    (x, y)    (x, y, weights)    {"pixels": x, "labels": y, "weights": w}
    x         (x,)               {"pixels": x}                              without targets

x is a tensor, or a tuple or dict of tensors; so may y be, for a training step that takes it.

Shapes: B rows of a batch, K outputs, T tokens.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.trees import Tree, tensors_of
from netwright.data.spec import IGNORED
from netwright.data.targets import PER_TOKEN, ReadyTarget

TARGET_KEYS = ("labels", "label", "target", "targets", "y")
WEIGHT_KEYS = ("weights", "weight", "sample_weight")


class RawBatch(NamedTuple):
    """Inputs, targets (or None) and weights (or None), as they came."""

    inputs: Tree
    targets: Tree
    weights: Tensor | None


def read_batch(item: Any, target: str = "") -> RawBatch:
    """The parts of what a loader gives; where there is no telling which is which, it is refused.

    Args:
        item: a batch.
        target: the key of the targets in a dict; empty: one of the usual names, if it has one.
    """
    if type(item) in {tuple, list} and len(item) == 2 and _are_rows(*item):
        return RawBatch(item[0], item[1], None)  # the usual batch: it is looked at before each step
    if isinstance(item, Mapping):
        batch = _of_dict(item, target)
    elif isinstance(item, tuple | list) and len(item) in {2, 3}:
        inputs, targets, *rest = item
        batch = RawBatch(plain_tree(inputs), _targets(targets), _weights(rest))
    elif isinstance(item, Tensor) or (isinstance(item, tuple | list) and len(item) == 1):
        alone = item if isinstance(item, Tensor) else item[0]
        batch = RawBatch(plain_tree(alone), None, None)
    else:
        got = f"{len(item)} parts" if isinstance(item, tuple | list) else type(item).__name__
        raise DataError(
            f"a batch must be (inputs, targets[, weights]) or a dict with a key such as 'labels', "
            f"got {got}; several inputs are ((a, b), targets)"
        )
    _check_rows(batch)
    return batch


def _of_dict(item: Mapping[str, Any], target: str) -> RawBatch:
    key = target or next((key for key in TARGET_KEYS if key in item), None)
    if target and target not in item:
        raise DataError(
            f"a batch must have its targets by the key {target!r}, got "
            f"{', '.join(map(str, item))}: name one of these as target"
        )
    weights = [item[key] for key in WEIGHT_KEYS if key in item][:1]
    parts = {
        str(name): value
        for name, value in item.items()
        if isinstance(value, Tensor) and name != key and name not in WEIGHT_KEYS
    }
    if not parts:
        beside = "" if key is None else " beside its targets"
        raise DataError(
            f"a batch must have a tensor{beside}, got only {', '.join(map(repr, item))}: let "
            f"collate_fn give tensors"
        )
    inputs = next(iter(parts.values())) if len(parts) == 1 else parts
    return RawBatch(inputs, None if key is None else _targets(item[key]), _weights(weights))


def plain_tree(inputs: Any) -> Tree:
    """Inputs as plain tuples and dicts; what is no tensor in them is left out."""
    if isinstance(inputs, Mapping):
        return {str(key): part for key, part in inputs.items() if isinstance(part, Tensor)}
    if isinstance(inputs, tuple | list):
        return tuple(_tensor(part, "inputs") for part in inputs)
    return _tensor(inputs, "inputs")


def _targets(values: Any) -> Tree:
    """A tensor; or a tuple or dict of them, which a training step takes apart."""
    parts = values.values() if isinstance(values, Mapping) else values
    are_several = isinstance(values, Mapping | tuple | list) and any(
        isinstance(part, Tensor) for part in parts
    )
    return plain_tree(values) if are_several else _tensor(values, "targets")


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


def _are_rows(inputs: Any, targets: Any) -> bool:
    """Whether both are tensors of as many rows, at least one."""
    if not isinstance(inputs, Tensor) or not isinstance(targets, Tensor):
        return False
    return inputs.ndim > 0 < targets.ndim and len(inputs) == len(targets) > 0


def _check_rows(batch: RawBatch) -> None:
    """Refuse parts of one batch that are not of the same rows."""
    parts = tensors_of(batch.inputs)
    if not parts:
        raise DataError(
            "a batch must have inputs that are tensors, got none: let collate_fn give tensors"
        )
    beside = tensors_of((batch.targets, batch.weights))
    sizes = [part.shape[:1] for part in (*parts, *beside)]
    if not all(sizes):
        raise DataError(
            "a batch must have a first dimension of rows, got a single number: let collate_fn "
            "stack one for each row"
        )
    if any(size != sizes[0] for size in sizes) or not sizes[0][0]:
        told = " and ".join(str(size[0]) for size in sizes)
        raise DataError(
            f"all parts of a batch must have as many rows, got {told}: let collate_fn give an "
            f"entry of each for every row"
        )


def encode_targets(targets: Tree, kind: ReadyTarget, outputs: int) -> Tree:
    """The targets of a batch: classes (B,) int64, labels and reals (B, K) float32.

    A tag or a token each place (B, T) is int64, and -100 where it does not count. What is for a
    training step or a loss of one's own stays as it is.

    Args:
        targets: as they came.
        kind: what they are.
        outputs: classes, labels, reals or tokens; 0: not known yet.
    """
    if kind == "none":
        return targets
    if targets is None:
        raise DataError("a batch must be (inputs, targets), or a dict with a key such as 'labels'")
    if not isinstance(targets, Tensor):
        raise DataError(
            f"targets must be one tensor, got {len(tensors_of(targets))} of them: give a "
            f"training_step, which takes them as they are"
        )
    if kind in PER_TOKEN:
        return _encode_tokens(targets, outputs)
    if kind == "class":
        flat = targets.squeeze(1) if targets.ndim == 2 and targets.shape[1] == 1 else targets
        if flat.ndim != 1:
            raise DataError(
                f"classes must have shape (B,), got {tuple(targets.shape)}: one for each token is "
                f"kind=tags, several of which each is yes or no are kind=labels"
            )
        classes = flat.long()
        _check_classes(classes, outputs)
        return classes
    columns = targets[:, None] if targets.ndim == 1 else targets
    if columns.ndim != 2 or (outputs and columns.shape[1] != outputs):
        raise DataError(
            f"targets must have shape (B, {outputs or 'K'}), got {tuple(targets.shape)}"
        )
    return columns.to(torch.float32)


def _encode_tokens(targets: Tensor, outputs: int) -> Tensor:
    if targets.ndim != 2 or targets.is_floating_point():
        raise DataError(
            f"targets must be whole numbers (B, T), one for each token, got "
            f"{tuple(targets.shape)} of {targets.dtype}"
        )
    tokens = targets.long()
    _check_classes(tokens[tokens != IGNORED], outputs)
    return tokens


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
