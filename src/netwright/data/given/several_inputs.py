"""Several inputs as they are given: a tuple or dict of arrays, for a module that takes them.

Nothing is scaled: what the parts are (numbers, places in a vocabulary, masks), only the module
knows.

Shapes: N examples.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, cast

import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.checks import check_finite
from netwright.core.config import Config, Doc
from netwright.core.errors import DataError
from netwright.core.trees import Tree, count_rows, tensors_of
from netwright.data.arrays import read_weights
from netwright.data.dataset import Data, Split, check_data
from netwright.data.given.arrays import check_same_form, is_pair
from netwright.data.given.form import GivenForm
from netwright.data.given.given import Given
from netwright.data.given.held_out import add_splits
from netwright.data.given.ready_inputs import AskedKind, Shapes, ready_kinds, tell_target
from netwright.data.groups import read_groups
from netwright.data.raw_arrays import WHOLE, read_numbers
from netwright.data.source import DataConfig
from netwright.data.spec import VARIES
from netwright.data.split import hold_out
from netwright.data.targets import (
    encode_classes,
    infer_kind,
    names_of_classes,
    read_targets,
    type_of_classes,
)

AS_THEY_ARE = "several inputs are taken as they are: nothing is scaled"


@dataclass(frozen=True, kw_only=True)
class SeveralInputsConfig(DataConfig):
    """How several inputs become data."""

    kind: Annotated[
        AskedKind, Doc("kind of target; auto: integers and text are classes, floats are real")
    ] = "auto"


def is_several(source: Any) -> bool:
    """Whether the inputs are several arrays, each with a row for every target.

    A tuple of as many arrays as there are targets is one input: its rows.
    """
    if not is_pair(source):
        return False
    inputs, targets = source[:2]
    if isinstance(inputs, Mapping):
        return bool(inputs)
    if not isinstance(inputs, tuple) or not hasattr(targets, "__len__"):
        return False
    rows = len(targets)
    are_arrays = all(hasattr(part, "shape") and len(part.shape) for part in inputs)
    return are_arrays and len(inputs) != rows and {len(part) for part in inputs} == {rows}


def several_inputs_data(
    given: Given, config: SeveralInputsConfig, *, any_length: bool = False
) -> Data:
    """Several inputs and targets as data.

    Args:
        given: what is handed over.
        config: its settings.
        any_length: parts of two dimensions are sequences, of which the next may be longer.
    """
    check_same_form(given, "(several inputs, targets[, weights])")
    source, raw, *weights = given.data
    inputs, targets = _tensors(source), read_targets(raw)
    shapes = _any_length(inputs) if any_length else None
    kind, note = _tell(inputs, targets, shapes) if config.kind == "auto" else (config.kind, "")
    names = names_of_classes(targets) if kind == "class" else ()
    told = encode_classes(targets, names) if names else torch.from_numpy(targets)
    kinds = ready_kinds(
        inputs,
        [told],
        kind=kind,
        classes=names,
        shapes=shapes,
    )
    encoded = kinds.encoder.encode_targets(targets)
    if len(encoded) != count_rows(inputs):
        raise DataError(f"there are {count_rows(inputs)} inputs but {len(encoded)} targets")
    counted = read_weights(weights[0], len(encoded)) if weights else None
    whole = Split(inputs=inputs, targets=encoded, weights=counted)
    train, val, test = hold_out(
        len(whole),
        val_size=config.val_size,
        test_size=config.test_size,
        seed=config.split_seed,
        classes=encoded if kind == "class" else None,
        groups=read_groups(given.groups, len(whole)),
    )
    data = Data(
        name="several inputs",
        spec=replace(kinds.spec, class_type=type_of_classes(targets) if names else ""),
        train=whole.take(train),
        val=whole.take(val) if len(val) else None,
        test=whole.take(test) if len(test) else None,
        preprocessor=kinds.encoder,
        notes=(*filter(None, [note]), AS_THEY_ARE),
    )
    check_data(data)
    return add_splits(data, given)


def _tell(inputs: Tree, targets: NDArray[Any], shapes: Shapes | None) -> tuple[AskedKind, str]:
    """What the targets are: whole numbers beside tokens may be one for each."""
    if targets.ndim == 2 and targets.dtype.kind in WHOLE:
        told, note = tell_target(inputs, torch.from_numpy(targets), shapes=shapes)
        return cast(AskedKind, told), note
    return infer_kind(targets)


def _any_length(inputs: Tree) -> Shapes:
    return tuple(
        (VARIES,) if part.ndim == 2 else tuple(part.shape[1:]) for part in tensors_of(inputs)
    )


def _tensors(source: Any) -> Tree:
    """Each part as a tensor: floats as float32, whole numbers as int64."""
    if isinstance(source, Mapping):
        parts = {str(name): _tensor(f"part {name!r}", part) for name, part in source.items()}
        lengths = {len(part) for part in parts.values()}
        if len(lengths) > 1:
            told = " and ".join(str(len(part)) for part in parts.values())
            raise DataError(f"the parts of the inputs must have as many rows, got {told}")
        return parts
    return tuple(_tensor(f"part {place}", part) for place, part in enumerate(source))


def _tensor(name: str, source: Any) -> Tensor:
    array = read_numbers(f"{name} of the inputs", source)
    values = torch.tensor(array)
    values = values.float() if values.is_floating_point() else values.long()
    check_finite(f"{name} of the inputs", values)
    return values


def _settings(_source: Any, _given: Mapping[str, Any]) -> type[Config]:
    return SeveralInputsConfig


SEVERAL_INPUTS = GivenForm(
    name="(a tuple or dict of arrays, targets[, weights])",
    recognises=is_several,
    settings=_settings,
    load=several_inputs_data,
)
