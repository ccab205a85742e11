"""Inputs that go into a model as they are: one tensor, or a tuple or dict of them.

Nothing is scaled: whoever hands over ready batches has done so. What is kept is the form of one
example, so that new inputs are compared with it before the model sees them.

Shapes: N examples.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from netwright.core.checks import check_finite
from netwright.core.errors import DataError, ShapeError
from netwright.core.flat_record import from_plain, to_plain
from netwright.core.limits import INPUT
from netwright.core.trees import Tree, tensors_of
from netwright.data.batches.unlabelled import unlabelled_inputs
from netwright.data.encoder_checks import check_count, check_positive
from netwright.data.preprocessing import Preprocessor, readable
from netwright.data.spec import VARIES
from netwright.data.targets import (
    PER_TOKEN,
    ReadyTarget,
    encode_classes,
    encode_labels,
    encode_reals,
    encode_tokens,
)

Form = Literal["tensor", "tuple", "dict"]
MOST_SHOWN = 4  # numbers of one part that are shown of an example


@dataclass(frozen=True, kw_only=True)
class TreeEncoder(Preprocessor):
    """Takes inputs of one form, each part with a shape and a dtype of its own.

    Args:
        form: one tensor, a tuple of them, or a dict.
        names: of the parts: the keys of a dict, the places of a tuple, "x" for one tensor.
        shapes: of one example, a part each; -1 where the size varies.
        dtypes: a part each, as "float32".
        target: what is predicted.
        num_outputs: classes, labels, reals or tokens; 0 where nothing is predicted.
        class_names: the classes, labels or tags in the order of the outputs; empty for others.
    """

    kind: ClassVar[str] = "tree"

    form: Form
    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    target: ReadyTarget
    num_outputs: int
    class_names: tuple[str, ...] = ()

    def encode(self, source: Any, name: str = "inputs") -> Tree:
        """Tensors or arrays of the form that was learned from, or a loader of them -> tensors."""
        if isinstance(source, DataLoader):
            source = unlabelled_inputs(source)
        values = [self._part(name, *part) for part in enumerate(self._given(source, name))]
        if len({len(part) for part in values}) > 1:
            lengths = " and ".join(str(len(part)) for part in values)
            raise DataError(f"the parts of {name} must have as many rows, got {lengths}")
        if self.form == "dict":
            return dict(zip(self.names, values, strict=True))
        return values[0] if self.form == "tensor" else tuple(values)

    def _given(self, source: Any, name: str) -> list[Any]:
        """The parts of a source in their order; one of another form is refused."""
        if self.form == "tensor":
            return [source]
        if self.form == "dict":
            if not isinstance(source, Mapping):
                raise DataError(
                    f"{name} must be a dict with {', '.join(self.names)}, "
                    f"got {type(source).__name__}"
                )
            missing = [key for key in self.names if key not in source]
            if missing:
                raise DataError(f"{name} must have {', '.join(missing)}, got {', '.join(source)}")
            return [source[key] for key in self.names]
        is_sequence = isinstance(source, tuple | list)
        if not is_sequence or len(source) != len(self.names):
            got = f"{len(source)} parts" if is_sequence else type(source).__name__
            raise DataError(f"{name} must be a tuple of {len(self.names)} parts, got {got}")
        return list(source)

    def _part(self, name: str, place: int, source: Any) -> Tensor:
        what = name if self.form == "tensor" else f"part {self.names[place]!r} of {name}"
        try:
            values = torch.as_tensor(source).to(getattr(torch, self.dtypes[place]))
        except (TypeError, ValueError, RuntimeError):
            raise DataError(f"{what} must be numbers, got {type(source).__name__}") from None
        shape = self.shapes[place]
        fits = values.ndim == 1 + len(shape) and all(
            wanted in {VARIES, got} for wanted, got in zip(shape, values.shape[1:], strict=True)
        )
        if not fits:
            wanted = ", ".join(["N", *("any" if size == VARIES else str(size) for size in shape)])
            raise ShapeError(f"{what} must have shape ({wanted}), got {tuple(values.shape)}")
        check_finite(what, values)
        return values

    def encode_targets(self, source: Any, name: str = "targets") -> Tensor:
        """Class labels -> indices (N,) int64; yes/no labels and reals -> float32 (N, K).

        Tags and tokens (N, T) are numbers, -100 where they do not count.
        """
        if self.target == "none":
            raise DataError("this run has learned from batches without targets: there are none")
        if self.target == "class":
            return encode_classes(source, self.class_names, name)
        if self.target in PER_TOKEN:
            return encode_tokens(source, self.num_outputs, name)
        encode = encode_labels if self.target == "labels" else encode_reals
        return encode(source, self.num_outputs, name)

    def units(self) -> tuple[Tensor, Tensor]:
        """Offset 0 and scale 1 of every number: nothing was scaled."""
        offset = torch.zeros(self.size, dtype=torch.float64)
        return offset, torch.ones_like(offset)

    @property
    def size(self) -> int:
        """The numbers of one example, where none of its sizes varies."""
        return sum(math.prod(max(one, 1) for one in shape) for shape in self.shapes)

    def decode(self, inputs: Tree) -> list[dict[str, str]]:
        """Each part by its name: its few numbers, or the size of what it is."""
        parts = dict(zip(self.names, tensors_of(inputs), strict=True))
        rows = len(next(iter(parts.values())))
        return [{name: _shown(part[row]) for name, part in parts.items()} for row in range(rows)]

    def check_numbers(self) -> None:
        """Refuse parts of which not all is told, and sizes and dtypes that cannot be."""
        check_positive("the number of parts", len(self.names))
        parts = 1 if self.form == "tensor" else len(self.names)
        check_count(parts, names=self.names, shapes=self.shapes, dtypes=self.dtypes)
        for size in (size for shape in self.shapes for size in shape):
            if size < VARIES:
                raise DataError(f"a size of a saved encoder must be {VARIES} or more, got {size}")
        INPUT.check("an example", self.size)
        for name in self.dtypes:
            if not isinstance(getattr(torch, name, None), torch.dtype):
                raise DataError(f"there is no dtype {name!r:.40}")

    def to_json(self) -> dict[str, Any]:
        """Plain lists, numbers and text."""
        return {**to_plain(self), "shapes": [list(shape) for shape in self.shapes]}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "TreeEncoder":
        """The encoder that `to_json` gave."""
        shapes = [tuple(shape) for shape in values["shapes"]]
        return from_plain(cls, {**values, "shapes": shapes})


def form_of(tree: Tree) -> tuple[Form, tuple[str, ...], list[Tensor]]:
    """The form of inputs, the names of their parts, and the parts; trees in trees are refused."""
    if isinstance(tree, Tensor):
        return "tensor", ("x",), [tree]
    is_dict = isinstance(tree, Mapping)
    parts: Sequence[Any] = list(tree.values()) if is_dict else list(tree)
    names = tuple(str(key) for key in tree) if is_dict else tuple(map(str, range(len(parts))))
    for name, part in zip(names, parts, strict=True):
        if not isinstance(part, Tensor):
            raise DataError(
                f"inputs must be a tensor, or a tuple or dict of tensors, got "
                f"{type(part).__name__} in part {name!r}"
            )
    return "dict" if is_dict else "tuple", names, list(parts)


def _shown(values: Tensor) -> str:
    if values.numel() > MOST_SHOWN:
        return f"{' x '.join(map(str, values.shape))} numbers"
    return ", ".join(readable(float(value), 1.0) for value in values.flatten())
