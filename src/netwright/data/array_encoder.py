"""How arrays are encoded, and all that is needed to encode the next ones in the same way.

    encoded = (x - mean) / scale      features, with the mean and scale of the training rows; of a
                                      series those of all steps together
    encoded = factor * x              images (1/255 brings bytes to [0, 1])

Shapes: N examples, T steps, F features, C channels, I/J image height and width, K outputs.
Source: LeCun et al., "Efficient BackProp" (1998), section 4.3 (why inputs are standardised).
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.errors import DataError
from netwright.core.flat_record import from_plain, to_plain
from netwright.data.encoder_checks import check_count, check_positive, check_sizes
from netwright.data.image_layout import in_layout
from netwright.data.input_profile import FeatureProfile
from netwright.data.missing_values import filled
from netwright.data.preprocessing import Preprocessor, readable
from netwright.data.raw_arrays import column_names, read_numbers, to_float32, to_floats
from netwright.data.targets import ArrayTarget, encode_classes, encode_labels, encode_reals
from netwright.data.training_range import far_columns


@dataclass(frozen=True, kw_only=True)
class ArrayEncoder(Preprocessor):
    """Encodes inputs of one shape, and targets of one kind.

    Args:
        input_shape: the shape of one input, (F,), (T, F) or (C, I, J).
        target: what is predicted.
        num_outputs: classes, labels or reals.
        class_names: the classes or labels in the order of the outputs; empty for reals.
        mean: taken from each feature (F,); empty where inputs are not standardised.
        scale: each feature is divided by it (F,); empty where inputs are not standardised.
        factor: multiplies inputs that are not standardised.
        columns: the columns of the frame that was learned from; a frame with others is refused.
        fill: stands for each feature (F,) that is missing; empty where none may be.
        low: the smallest training value of each feature (F,); empty for images, and in older runs.
        high: the largest of them (F,).
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
    fill: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    def filling(self, means: tuple[float, ...]) -> "ArrayEncoder":
        """The same encoder with what stands for missing numbers."""
        return replace(self, fill=means)

    def ranging(self, profile: FeatureProfile) -> "ArrayEncoder":
        """The same encoder with what the training rows range over."""
        return replace(self, low=tuple(profile.low.tolist()), high=tuple(profile.high.tolist()))

    def standardised(self, profile: FeatureProfile) -> "ArrayEncoder":
        """The same encoder with the range, the mean and the scale of the training rows."""
        mean, scale = tuple(profile.mean.tolist()), tuple(profile.scale.tolist())
        return replace(self.ranging(profile), mean=mean, scale=scale)

    def encode(self, source: Any, name: str = "inputs") -> Tensor:
        """Arrays, tensors, lists or frames (N, ...) -> float32 (N, ...), never in place."""
        values = self._read(source, name)
        return self.scaled(filled(values, self.fill) if self.fill else values, name)

    def _read(self, source: Any, name: str) -> Tensor:
        """The source as floats (N, ...), NaN where a number is missing that may be."""
        columns = column_names(source)
        if self.columns and columns and columns != self.columns:
            raise DataError(
                f"{name} must have the columns {', '.join(self.columns)}, got {', '.join(columns)}"
            )
        array = in_layout(read_numbers(name, source), self.input_shape)
        values = to_floats(name, array, gaps=bool(self.fill))
        check_shape(name, values, "N", *self.input_shape)
        return values

    def remarks(self, source: Any, names: tuple[str, ...] = ()) -> tuple[str, ...]:
        """How many numbers are missing, where they are filled in, and which are far outside.

        Args:
            source: as `encode` takes it.
            names: what the features are called; else as their columns, else x0, x1 ...
        """
        if not self.fill and not self.low:
            return ()
        values = self._read(source, "inputs").double().numpy()
        gaps = int(np.isnan(values).sum())
        said = (f"{gaps} missing values, filled with the training mean",) if gaps else ()
        if not self.low:
            return said
        if len(names) != len(self.low):
            names = self._names(len(self.low))
        return (*said, *far_columns(values, self.low, self.high, names))

    def _names(self, count: int) -> tuple[str, ...]:
        """The columns, or x0, x1 ... where they have no names."""
        named = len(self.columns) == count
        return self.columns if named else tuple(f"x{place}" for place in range(count))

    def scaled(self, values: Tensor, name: str = "inputs") -> Tensor:
        """Floats (N, ...) -> float32 (N, ...), standardised or multiplied by the factor."""
        if not self.mean:
            return to_float32(name, values * self.factor)
        # In double precision: held in 24 bits, a timestamp such as 1.7e9 loses its seconds.
        mean, scale = self._shaped_units
        return to_float32(name, (values.double() - mean).div_(scale))

    def units(self) -> tuple[Tensor, Tensor]:
        """Offset and scale of every number of an input, flattened (F,) or (T F,), float64."""
        size = math.prod(self.input_shape)
        if self.mean:
            steps = size // len(self.mean)
            mean, scale = (
                torch.tensor(row, dtype=torch.float64).repeat(steps)
                for row in (self.mean, self.scale)
            )
            return mean, scale
        offset = torch.zeros(size, dtype=torch.float64)
        return offset, torch.full_like(offset, 1 / self.factor)

    @cached_property
    def _shaped_units(self) -> tuple[Tensor, Tensor]:
        """The same, shaped as an input: of ten thousand words they take longer than a batch."""
        mean, scale = self.units()
        return mean.reshape(self.input_shape), scale.reshape(self.input_shape)

    def decode(self, inputs: Tensor) -> list[dict[str, str]]:
        """Each number of an input by its column, or x0, x1 ... where columns have no names."""
        offset, scale = self.units()
        names = self._names(len(scale))
        rows = (inputs.flatten(1).double() * scale + offset).tolist()
        scales = scale.tolist()
        return [
            {name: readable(*pair) for name, *pair in zip(names, row, scales, strict=True)}
            for row in rows
        ]

    def encode_targets(self, source: Any, name: str = "targets") -> Tensor:
        """Class labels -> indices (N,) int64; yes/no labels and reals -> float32 (N, K)."""
        if self.target == "class":
            return encode_classes(source, self.class_names, name)
        encode = encode_labels if self.target == "labels" else encode_reals
        return encode(source, self.num_outputs, name)

    def check_numbers(self) -> None:
        """Refuse inputs of no size, and scaling that is not that of their features."""
        check_sizes("input_shape", *self.input_shape)
        features = self.input_shape[-1]
        if self.mean or self.scale:
            check_count(features, mean=self.mean, scale=self.scale)
        if self.fill:
            check_count(features, fill=self.fill)
        if self.low or self.high:
            check_count(features, low=self.low, high=self.high)
        if self.columns:
            check_count(math.prod(self.input_shape), columns=self.columns)
        check_positive("scale", *self.scale)
        check_positive("factor", self.factor)

    def to_json(self) -> dict[str, Any]:
        """Plain lists, numbers and text."""
        return to_plain(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "ArrayEncoder":
        """The encoder that `to_json` gave, number for number."""
        return from_plain(cls, values)
