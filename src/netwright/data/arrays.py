"""Arrays as data: numbers in, encoded tensors out, and all that is needed to encode the next ones.

    encoded = (x - mean) / scale      features, with the mean and scale of the training rows
    encoded = factor * x              images (1/255 brings bytes to [0, 1])

Shapes: N examples, F features, C channels, I/J image height and width, K outputs.
Source: LeCun et al., "Efficient BackProp" (1998), section 4.3 (why inputs are standardised).
"""

from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.checks import check_finite, check_shape
from netwright.core.config import Doc, Positive
from netwright.core.errors import ConfigError, DataError, ShapeError
from netwright.data.dataset import Data, Split, check_data
from netwright.data.preprocessing import Preprocessor
from netwright.data.raw_arrays import column_names, read_numbers, to_float32, to_floats
from netwright.data.source import DataConfig
from netwright.data.spec import DataSpec
from netwright.data.split import hold_out
from netwright.data.targets import (
    ArrayTarget,
    encode_classes,
    encode_labels,
    encode_reals,
    infer_kind,
    names_of_classes,
    read_targets,
)


@dataclass(frozen=True, kw_only=True)
class ArraysConfig(DataConfig):
    """How arrays become data."""

    kind: Annotated[
        Literal["auto", "class", "labels", "real"],
        Doc("what the targets are; auto: whole numbers and text are classes, floats are reals"),
    ] = "auto"
    standardize: Annotated[
        bool, Doc("bring each feature to mean 0 and spread 1 on the training rows; images stay")
    ] = True
    factor: Annotated[
        Positive, Doc("multiplies inputs that are not standardised; 1/255 brings bytes to [0, 1]")
    ] = 1.0


@dataclass(frozen=True, kw_only=True)
class Names:
    """What things are called; what is left empty is called after its place.

    Args:
        features: one a feature; else x0, x1 ...
        classes: the classes or labels in the order of the outputs; else the labels, sorted.
        targets: one a target column; else y, or y0, y1 ...
    """

    features: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


DEFAULTS = ArraysConfig()
UNNAMED = Names()


@dataclass(frozen=True, kw_only=True)
class ArrayEncoder(Preprocessor):
    """Encodes inputs of one shape, and targets of one kind.

    Args:
        input_shape: the shape of one input, (F,) or (C, I, J).
        target: what is predicted.
        num_outputs: classes, labels or reals.
        class_names: the classes in the order of their indices; empty for reals.
        mean: taken from each feature (F,); empty where inputs are not standardised.
        scale: each feature is divided by it (F,); empty where inputs are not standardised.
        factor: multiplies inputs that are not standardised.
        columns: the columns of the frame that was learned from; a frame with others is refused.
    """

    kind: ClassVar[str] = "arrays"

    input_shape: tuple[int, ...]
    target: ArrayTarget
    num_outputs: int
    class_names: tuple[str, ...] = ()
    mean: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    factor: float = 1.0
    columns: tuple[str, ...] = ()

    def encode(self, source: Any, name: str = "inputs") -> Tensor:
        """Arrays, tensors, lists or frames (N, ...) -> float32 (N, ...), never in place."""
        columns = column_names(source)
        if self.columns and columns and columns != self.columns:
            raise DataError(
                f"{name} must have the columns {', '.join(self.columns)}, got {', '.join(columns)}"
            )
        values = to_floats(name, read_numbers(name, source))
        check_shape(name, values, "N", *self.input_shape)
        return self.scaled(values, name)

    def scaled(self, values: Tensor, name: str = "inputs") -> Tensor:
        """Floats (N, ...) -> float32 (N, ...), standardised or multiplied by the factor."""
        if not self.mean:
            return to_float32(name, values * self.factor)
        # In double precision: held in 24 bits, a timestamp such as 1.7e9 loses its seconds.
        mean, scale = (torch.tensor(row, dtype=torch.float64) for row in (self.mean, self.scale))
        return to_float32(name, (values.double() - mean) / scale)

    def encode_targets(self, source: Any, name: str = "targets") -> Tensor:
        """Labels -> indices (N,) int64; 0/1 labels or reals -> float32 (N, K)."""
        if self.target == "class":
            return encode_classes(source, self.class_names, name)
        encode = encode_labels if self.target == "labels" else encode_reals
        return encode(source, self.num_outputs, name)

    def to_json(self) -> dict[str, Any]:
        """Plain lists, numbers and text."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "ArrayEncoder":
        """The encoder that `to_json` gave, number for number."""
        return cls(
            **{
                name: tuple(value) if isinstance(value, list) else value
                for name, value in values.items()
            }
        )


def mean_and_scale(values: Tensor) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation of each feature (N, F); a constant feature has scale 1."""
    values = values.double()
    mean, scale = values.mean(dim=0), values.std(dim=0, correction=0)
    # Rounding can give a constant a spread of 1e-17; dividing by that would make noise of it.
    constant = (values == values[0]).all(dim=0) | (scale == 0)
    mean, scale = mean.where(~constant, values[0]), scale.where(~constant, 1.0)
    check_finite("the mean of the training inputs", mean)
    check_finite("the scale of the training inputs", scale)
    return tuple(mean.tolist()), tuple(scale.tolist())


def arrays_config(config: DataConfig, **settings: Any) -> ArraysConfig:
    """The settings of `from_arrays` for a source whose rows are divided as `config` says."""
    return ArraysConfig(
        val_size=config.val_size,
        test_size=config.test_size,
        split_seed=config.split_seed,
        **settings,
    )


def from_arrays(  # noqa: PLR0913 - the one door for arrays; all but the first two have defaults
    inputs: Any,
    targets: Any,
    *,
    config: ArraysConfig = DEFAULTS,
    name: str = "arrays",
    names: Names = UNNAMED,
    weights: Any = None,
    validation: tuple[Any, Any] | None = None,
    test: tuple[Any, Any] | None = None,
) -> Data:
    """Inputs and targets in memory as data, scaled by what the training rows alone show.

    Args:
        inputs: features (N, F) or images (N, C, I, J).
        targets: classes (N,), labels (N, K), or reals (N,) or (N, K).
        config: the kind of target, the scaling, and how rows are held out.
        name: what refusals and reports call the data.
        names: of features, classes and targets; a frame brings its own.
        weights: how much each row counts (N,).
        validation: inputs and targets to choose by; then no row is held out for that.
        test: inputs and targets to report on; then no row is held out for that.
    """
    values = to_floats("inputs", read_numbers("inputs", inputs))  # (N, ...)
    raw_targets = read_targets(targets)
    _check_inputs(values, config)
    if len(values) != len(raw_targets):
        raise DataError(f"{name} has {len(values)} inputs but {len(raw_targets)} targets")
    kind, note = infer_kind(raw_targets) if config.kind == "auto" else (config.kind, "")
    columns = column_names(inputs)
    names = replace(
        names,
        features=names.features or columns,
        targets=names.targets or column_names(targets),
    )
    spec = _spec(values, raw_targets, kind, names)
    encoder = ArrayEncoder(
        input_shape=spec.input_shape,
        target=kind,
        num_outputs=spec.num_outputs,
        class_names=spec.class_names,
        factor=config.factor,
        columns=columns,
    )
    whole = Split(
        inputs=values,
        targets=encoder.encode_targets(raw_targets),
        weights=None if weights is None else _read_weights(weights, len(values)),
    )
    parts = hold_out(
        len(values),
        val_size=config.val_size if validation is None else 0.0,
        test_size=config.test_size if test is None else 0.0,
        seed=config.split_seed,
        classes=whole.targets if kind == "class" else None,
    )
    if config.standardize and spec.inputs == "features":
        mean, scale = mean_and_scale(values[parts[0]])
        encoder = replace(encoder, mean=mean, scale=scale)
    whole = replace(whole, inputs=encoder.scaled(values))
    train, val, held_out = (whole.take(rows) if len(rows) else None for rows in parts)
