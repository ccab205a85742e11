"""What is to be predicted: telling its kind, and turning it into indices, labels or reals.

    whole numbers, yes/no or text (N,)      one class      -> indices (N,) int64
    whole 0 or 1, or yes/no (N, K)          K labels       -> (N, K) float32, 0 or 1
    floats (N,) or (N, K)                   K reals        -> (N, K) float32

The dtype decides, not the values: floats are reals even where all of them are whole, and a note
says so where they are few. (scikit-learn's `type_of_target` calls such floats classes; the diabetes
scores, 25.0 to 346.0, would be 214 of them.) A column (N, 1) is read as (N,).

Shapes: N examples, K outputs, T tokens.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.checks import check_finite, check_shape, nearest
from netwright.core.errors import DataError, ShapeError
from netwright.data.raw_arrays import (
    NUMBERS,
    TEXT,
    WHOLE,
    read_array,
    read_numbers,
    to_float32,
    to_floats,
)
from netwright.data.spec import IGNORED, ClassType

ArrayTarget = Literal["class", "labels", "real"]
ReadyTarget = Literal["class", "labels", "real", "tags", "tokens", "none"]  # of ready batches
PER_TOKEN = frozenset({"tags", "tokens"})

FEW = 20  # up to so many different whole floats are worth a second look: they may be classes
BY_TOKEN = (
    "for one target a token, a tag or the next token, give a DataLoader or Dataset whose inputs "
    "are tokens of the same shape"
)
SHOWN = 10  # so many class names fit into a refusal


def read_targets(source: Any, name: str = "targets") -> NDArray[Any]:
    """Targets as an array of numbers or text; a single column loses its second axis."""
    array = read_array(name, source)
    if array.dtype.kind == "O":
        array = _of_one_kind(name, array)
    if array.dtype.kind not in NUMBERS + TEXT:
        raise DataError(f"{name} must be numbers or text, got dtype {array.dtype}")
    if array.ndim not in {1, 2}:
        raise ShapeError(f"{name} must have shape (N,) or (N, K), got {array.shape}")
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def infer_kind(targets: NDArray[Any]) -> tuple[ArrayTarget, str]:
    """The kind of the targets, and the sentence that says how it was told."""
    letter, columns = targets.dtype.kind, targets.ndim == 2
    if letter == "f":
        return "real", _note_on_reals(targets)
    if not columns:
        return "class", _note_on_classes(targets)
    if letter in WHOLE and bool(np.isin(targets, (0, 1)).all()):
        return "labels", _note_on_labels(targets)
    what = "text" if letter == TEXT else f"whole numbers: {BY_TOKEN}"
    raise DataError(
        f"targets must be one column, floats, or columns of 0 and 1, "
        f"got {targets.shape[1]} columns of {what}"
    )


def names_of_classes(targets: NDArray[Any]) -> tuple[str, ...]:
    """The different labels in their own order (numbers by size, text by alphabet), as text."""
    return tuple(_text(label) for label in np.unique(targets))


def type_of_classes(targets: NDArray[Any]) -> ClassType:
    """What the labels are, so that answers can be the same again."""
    letters: dict[str, ClassType] = {"b": "bool", "i": "int", "u": "int", "f": "float"}
    return letters.get(targets.dtype.kind, "text")


def encode_classes(source: Any, class_names: Sequence[str], name: str = "targets") -> Tensor:
    """Labels -> their places among the class names (N,); an unknown label is refused by name."""
    labels = read_targets(source, name)
    if labels.ndim != 1:
        raise ShapeError(f"{name} must have shape (N,), got {labels.shape}")
    if labels.dtype.kind == "f":
        check_finite(name, torch.from_numpy(labels.astype(np.float64)))
    different, which = np.unique(labels, return_inverse=True)
    place_of = {class_name: place for place, class_name in enumerate(class_names)}
    places = np.zeros(len(different), dtype=np.int64)
    for index, label in enumerate(different):
        text = _text(label)
        if text not in place_of:
            row = int(np.flatnonzero(which == index)[0])
            hint = nearest(text, class_names) or f"; there are {_listed(class_names)}"
            raise DataError(f"{name} have an unknown label {text!r} in row {row}{hint}")
        places[index] = place_of[text]
    return torch.from_numpy(places[which])


def encode_labels(source: Any, count: int, name: str = "targets") -> Tensor:
    """Columns of 0 and 1 -> (N, K) float32."""
    values = encode_reals(source, count, name)
    wrong = ((values != 0) & (values != 1)).nonzero()
    if len(wrong):
        row, column = wrong[0].tolist()
        raise DataError(f"{name} must be 0 or 1, got {values[row, column]:g} at [{row}, {column}]")
    return values


def encode_reals(source: Any, count: int, name: str = "targets") -> Tensor:
    """Numbers -> (N, K) float32."""
    values = to_float32(name, to_floats(name, read_numbers(name, source)))
    if values.ndim == 1 and count == 1:
        values = values[:, None]
    check_shape(name, values, "N", count)
    return values


def encode_tokens(source: Any, count: int, name: str = "targets") -> Tensor:
    """Whole numbers below `count`, or -100 where one does not count -> (N, T) int64."""
    array = read_numbers(name, source)
    if array.ndim != 2 or array.dtype.kind not in WHOLE:
        raise ShapeError(
            f"{name} must be whole numbers (N, T), one for each token, got {array.shape} of dtype "
            f"{array.dtype}"
        )
    tokens = torch.from_numpy(array.astype(np.int64))
    wrong = ((tokens != IGNORED) & ((tokens < 0) | (tokens >= count))).nonzero()
    if len(wrong):
        row, place = wrong[0].tolist()
        raise DataError(
            f"{name} must be below {count}, or {IGNORED} where one does not count, got "
            f"{int(tokens[row, place])} at [{row}, {place}]"
        )
    return tokens


def _of_one_kind(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """An array of Python objects as text, numbers or yes/no, whichever all of them are."""
    flat = array.ravel().tolist()
    for place, value in enumerate(flat):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            row = place // (array.shape[1] if array.ndim > 1 else 1)
            raise DataError(f"{name} must not be missing, got {value} in row {row}")
    kinds = {type(value).__name__ for value in flat}
    if len(kinds) > 1 and not kinds <= {"int", "float"}:
        raise DataError(f"{name} must be of one kind, got {' and '.join(sorted(kinds))}")
    return np.array(array.tolist())


def _text(label: Any) -> str:
    """A label's name: 1, 1.0 and "1" are the same class."""
    if isinstance(label, np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)


def _listed(names: Sequence[str]) -> str:
    rest = f" ... ({len(names)} in all)" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + rest


def _note_on_reals(targets: NDArray[Any]) -> str:
    columns = 1 if targets.ndim == 1 else targets.shape[1]
    different = np.unique(targets)
    if columns == 1 and len(different) <= FEW and bool((different == np.trunc(different)).all()):
        return (
            f"the targets are floats with {len(different)} distinct values, all integers: treated "
            f"as real; kind=class makes them classes"
        )
    return f"the targets are floats: treated as {columns} real{'s' if columns > 1 else ''}"


def _note_on_classes(targets: NDArray[Any]) -> str:
    what = {"b": "true or false", TEXT: "text"}.get(targets.dtype.kind, "whole numbers")
    count = len(np.unique(targets))
    doubt = "; kind=real makes them real" if what == "whole numbers" and count > FEW else ""
    return f"the targets are {what}: treated as {count} classes{doubt}"


def _note_on_labels(targets: NDArray[Any]) -> str:
    note = f"the targets are {targets.shape[1]} columns of 0 and 1: treated as labels"
    if bool((targets.sum(axis=1) == 1).all()):
        note += "; each row has exactly one, so class indices may be intended"
    return note
