"""Arrays as data: tell the kind of target, hold rows out, scale by the training rows alone.

An array that lies in a file (`np.load(path, mmap_mode="r")`) stays there: its rows are looked
through once, a stretch at a time, and then read a batch at a time.

Shapes: N examples, T steps, F features, C channels, I/J image height and width, K outputs.
"""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.config import Doc, Positive
from netwright.core.errors import ConfigError, DataError, ShapeError
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.coarse_targets import check_not_coarse
from netwright.data.dataset import Data, Split, check_data
from netwright.data.groups import read_groups
from netwright.data.image_layout import to_channels_first
from netwright.data.input_profile import (
    FeatureProfile,
    measure_features,
    measure_largest,
    stretches,
    training_weights,
)
from netwright.data.loading.mapped_inputs import MappedInputs, is_stored
from netwright.data.loading.stored import StoredSplit
from netwright.data.missing_values import Missing, filled, means_of_present
from netwright.data.raw_arrays import WHOLE, column_names, read_numbers, to_float32, to_floats
from netwright.data.source import DataConfig
from netwright.data.sparse_rows import SparseRows, rows_of
from netwright.data.spec import ClassType, DataSpec, InputKind
from netwright.data.split import hold_out
from netwright.data.targets import (
    ArrayTarget,
    infer_kind,
    names_of_classes,
    read_targets,
    type_of_classes,
)


@dataclass(frozen=True, kw_only=True)
class ArraysConfig(DataConfig):
    """How arrays become data."""

    kind: Annotated[
        Literal["auto", "class", "labels", "real"],
        Doc("kind of target; auto: integers and text are classes, floats are real"),
    ] = "auto"
    standardize: Annotated[
        bool,
        Doc(
            "standardise each feature to mean 0 and standard deviation 1 on the training "
            "rows; images are left as they are"
        ),
    ] = True
    factor: Annotated[
        Positive, Doc("factor for inputs that are not standardised; 1/255 scales bytes to [0, 1]")
    ] = 1.0
    missing: Annotated[
        Missing,
        Doc(
            "numbers that are missing (NaN): refuse them, fill in the mean of the training rows, "
            "or drop their rows"
        ),
    ] = "refuse"


@dataclass(frozen=True, kw_only=True)
class Names:
    """What things are called; what is left empty is called after its place.

    Args:
        features: one a feature; else a frame's columns, else x0, x1 ...
        classes: the classes or labels in the order of the outputs; else the labels, sorted.
        class_type: what the classes are where they are named; else what the labels are.
        targets: one a target column; else a frame's columns, else y, or y0, y1 ...
    """

    features: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    class_type: ClassType = ""
    targets: tuple[str, ...] = ()


# Floats in memory, or rows that are read when they are needed: in a file, or in a sparse matrix.
Inputs = Tensor | NDArray[Any] | SparseRows
DEFAULTS = ArraysConfig()
UNNAMED = Names()
KINDS: dict[int, InputKind] = {2: "features", 3: "series", 4: "image"}  # by their dimensions
UNSCALED = 10.0  # images beyond this are hardly meant to go into a network as they are


def from_arrays(  # noqa: PLR0913 - all that may stand beside inputs, each by its name
    inputs: Any,
    targets: Any,
    *,
    config: ArraysConfig = DEFAULTS,
    name: str = "arrays",
    names: Names = UNNAMED,
    weights: Any = None,
    groups: Any = None,
    validation: tuple[Any, ...] | None = None,
    test: tuple[Any, ...] | None = None,
    is_part: bool = False,
) -> Data:
    """Inputs and targets as data.

    Args:
        inputs: features (N, F), series (N, T, F) of floats, or images (N, C, I, J) or (N, I, J, C),
            of bytes also (N, I, J); a mapped array is not copied, a large sparse matrix stays one.
        targets: classes (N,), labels (N, K), or reals (N,) or (N, K).
        config: the kind of target, the scaling, and how rows are held out.
        name: what refusals and reports call the data.
        names: of features, classes and targets.
        weights: how much each row counts (N,).
        groups: of each row (N,); rows of one group are never in two splits.
        validation: inputs, targets and perhaps weights to choose by; then no row is held out for
            that.
        test: the same to report on; then no row is held out for that.
        is_part: more rows will come, so the reals of these may lie close together.
    """
    inputs = rows_of(inputs)
    values, layout = _read_inputs(inputs, config.missing)
    raw_targets = read_targets(targets)
    _check_rows(name, values, raw_targets, config)
    kind, note = infer_kind(raw_targets) if config.kind == "auto" else (config.kind, "")
    spec = _spec(values, raw_targets, kind, _with_columns(names, inputs, targets))
    encoder = ArrayEncoder(
        input_shape=spec.input_shape,
        target=kind,
        num_outputs=spec.num_outputs,
        class_names=spec.class_names,
        factor=config.factor,
        columns=column_names(inputs),
    )
    encoded = encoder.encode_targets(raw_targets)
    if kind == "real" and not is_part:
        for column in raw_targets.reshape(len(raw_targets), -1).T:
            check_not_coarse("targets", column)
    train, val, held_out = hold_out(
        len(values),
        val_size=config.val_size if validation is None else 0.0,
        test_size=config.test_size if test is None else 0.0,
        seed=config.split_seed,
        classes=encoded if kind == "class" else None,
        groups=read_groups(groups, len(values)),
    )
    row_weights = read_weights(weights, len(values))
    notes = [note, layout]
    if isinstance(values, Tensor) and config.missing == "mean":
        encoder = encoder.filling(means_of_present(values, train))
        notes += [_note_on_gaps(values)]
        values = filled(values, encoder.fill)
    content = hashlib.sha256()
    seen = stretches("inputs", values, train, watch=content.update)
    if spec.inputs == "image":
        notes += _notes_on_images(*measure_largest(seen), config)
    else:
        steps = math.prod(spec.input_shape[:-1])  # of a series: those of all are looked at together
        profile = measure_features(
            (part.flatten(0, -2) for part in seen), training_weights(row_weights, train, steps)
        )
        notes += _notes_on_features(profile, spec)
        fitted = encoder.standardised if config.standardize else encoder.ranging
        encoder = fitted(profile)
    whole = _split(values, encoder, content.hexdigest(), encoded, row_weights)
    data = Data(
        name=name,
        spec=spec,
        train=whole.take(train),
        val=_part(whole, val, encoder, "validation", validation),
        test=_part(whole, held_out, encoder, "test", test),
        preprocessor=encoder,
        notes=tuple(filter(None, notes)),
    )
    check_data(data, is_part=len(names.classes) > 1)  # rows may lack classes that are known
    return data


def arrays_config(config: DataConfig, **settings: Any) -> ArraysConfig:
    """The settings of `from_arrays` for a source whose rows are divided as `config` says."""
    return ArraysConfig(
        val_size=config.val_size,
        test_size=config.test_size,
        split_seed=config.split_seed,
        **settings,
    )


def _read_inputs(
    source: Any, missing: Missing = "refuse", name: str = "inputs"
) -> tuple[Inputs, str]:
    """Floats in memory, or rows that are read later; and what was told of their layout."""
    if is_stored(source) and missing != "refuse":
        raise ConfigError(
            f"missing={missing!r} is for arrays in memory: fill in or drop what is missing before"
        )
    if isinstance(source, SparseRows):
        return source, ""
    array, layout = to_channels_first(read_numbers(name, source))
    if array.ndim == 3 and array.dtype.kind in WHOLE:
        raise ShapeError(
            f"{name} of shape {array.shape} are integers: give a series (N, T, F) as floats, or "
            f"images as (N, C, I, J)"
        )
    if is_stored(source):
        return array, layout
    try:
        return to_floats(name, array, gaps=missing == "mean"), layout
    except DataError as error:
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise DataError(f"{error}; set missing to 'mean' or 'drop'") from None
        raise


def _split(
    values: Inputs, encoder: ArrayEncoder, content: str, targets: Tensor, weights: Tensor | None
) -> Split:
    """Inputs encoded now where they are in memory, else as they are read."""
    if isinstance(values, Tensor):
        return Split(inputs=encoder.scaled(values), targets=targets, weights=weights)
    stored = MappedInputs(values, encoder, content)
    return StoredSplit(stored=stored, targets=targets, weights=weights)


def _check_rows(name: str, inputs: Inputs, targets: NDArray[Any], config: ArraysConfig) -> None:
    if inputs.ndim not in KINDS:
        shape = tuple(inputs.shape)
        raise ShapeError(f"inputs must have shape (N, F), (N, T, F) or (N, C, I, J), got {shape}")
    if 0 in inputs.shape:
        raise DataError(f"{name} is empty, its inputs have shape {tuple(inputs.shape)}")
    if len(inputs) != len(targets):
        raise DataError(f"{name} has {len(inputs)} inputs but {len(targets)} targets")
    if config.factor != 1 and config.standardize and KINDS[inputs.ndim] != "image":
        raise ConfigError("factor has no effect on standardised inputs, set standardize to false")


def _with_columns(names: Names, inputs: Any, targets: Any) -> Names:
    """The names that were given, else those that frames bring along."""
    return replace(
        names,
        features=names.features or column_names(inputs),
        targets=names.targets or column_names(targets),
    )


def _spec(inputs: Inputs, targets: NDArray[Any], kind: ArrayTarget, names: Names) -> DataSpec:
    input_kind = KINDS[inputs.ndim]
    width = 1 if targets.ndim == 1 else targets.shape[1]
    columns = names.targets or (("y",) if width == 1 else _numbered("y", width))
    num_names = inputs.shape[1] if input_kind == "features" else 0
    features = names.features or _numbered("x", num_names)
    classes, class_type = names.classes, names.class_type
    if kind == "class" and not classes:
        classes, class_type = names_of_classes(targets), type_of_classes(targets)
    elif kind == "labels":
        classes = classes or columns
        _check_names("label", classes, width)
    elif kind == "real":
        classes = ()
    _check_names("class", classes, len(classes))
    _check_names("target", columns, width)
    _check_names("feature", features, num_names)
    return DataSpec(
        inputs=input_kind,
        input_shape=tuple(inputs.shape[1:]),
        target=kind,
        num_outputs=len(classes) if kind == "class" else width,
        class_names=classes,
        class_type=class_type,
        target_names=columns,
        feature_names=features,
    )


def _numbered(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{place}" for place in range(count))


def _check_names(what: str, names: tuple[str, ...], count: int) -> None:
    if len(names) != count:
        raise ConfigError(f"there must be {count} {what} names, got {len(names)}")
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ConfigError(f"{what} names must differ, got {twice!r} twice")


def read_weights(weights: Any, count: int, name: str = "weights") -> Tensor | None:
    """How much each row counts (N,); None where nothing is said of it."""
    if weights is None:
        return None
    values = to_float32(name, to_floats(name, read_numbers(name, weights)))
    check_shape(name, values, count)
    return values


def _part(
    whole: Split, rows: Tensor, encoder: ArrayEncoder, name: str, given: tuple[Any, ...] | None
) -> Split | None:
    """What was given for this part, else the rows that were held out, else nothing."""
    if given is None:
        return whole.take(rows) if len(rows) else None
    inputs, targets, *rest = given
    encoded = encoder.encode_targets(targets, f"{name} targets")
    weights = read_weights(rest[0] if rest else None, len(encoded), f"{name} weights")
    inputs = rows_of(inputs)
    if not is_stored(inputs):
        read = encoder.encode(inputs, f"{name} inputs")
        return Split(inputs=read, targets=encoded, weights=weights)
    values, _ = _read_inputs(inputs, name=f"{name} inputs")
    shaped = torch.empty(values.shape, device="meta")  # of that shape, without its numbers
    check_shape(f"{name} inputs", shaped, "N", *encoder.input_shape)
    content = hashlib.sha256()
    for _ in stretches(f"{name} inputs", values, watch=content.update):
        pass  # what is not finite is refused on the way
    return _split(values, encoder, content.hexdigest(), encoded, weights)


def _note_on_gaps(values: Tensor) -> str:
    count = int(values.isnan().sum())
    return f"{count} missing values, filled with the training mean" if count else ""


def _notes_on_features(profile: FeatureProfile, spec: DataSpec) -> Iterator[str]:
    constant = profile.constant.nonzero().flatten().tolist()
    if constant:
        called = spec.feature_names or _numbered("x", len(profile.constant))
        names = ", ".join(called[place] for place in constant)
        yield f"constant in all training rows: {names}"


def _notes_on_images(largest: float, magnitude: float, config: ArraysConfig) -> Iterator[str]:
    if config.factor == 1 and magnitude > UNSCALED:
        yield (
            f"the images have values up to {largest:g} and are not scaled; set factor to scale them"
        )
