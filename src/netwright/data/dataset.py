"""Data: named splits of inputs and targets, what they are, and how they were encoded.

Shapes: N examples, K outputs, I rows, J columns.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from netwright.core.checks import check_finite
from netwright.core.errors import DataError
from netwright.core.terminal.notebook_table import notebook_list, notebook_table
from netwright.core.trees import Tree, count_rows, map_tensors, move, take_rows, tensors_of
from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import IGNORED, VARIES, DataSpec


@dataclass(frozen=True, kw_only=True)
class Split:
    """Examples that are used together.

    Args:
        inputs: (N, ...), encoded; or a tuple, list or dict of such tensors with the same N.
        targets: class indices (N,) int64; labels (N, K) float 0 or 1; reals (N, K) float; masks
            (N, I, J) of class indices, uint8 or int64; tokens or tags (N, T) int64, IGNORED where
            they do not count; boxes (N, M, 5) float: a class, -1 where there is no object, and
            centre x, centre y, width and height as shares of the image.
        weights: how much each example counts (N,), or None where all count the same.
    """

    inputs: Tree
    targets: Tensor
    weights: Tensor | None = None

    def __len__(self) -> int:
        return count_rows(self.inputs)

    @property
    def total(self) -> int:
        """How many examples are trained on: more than its length where not all are in memory."""
        return len(self)

    def order(self, random: torch.Generator) -> Tensor:
        """The places of all examples (N,) in an order that is drawn."""
        return torch.randperm(self.total, generator=random)

    def __repr__(self) -> str:
        parts = {"inputs": self.inputs, "targets": self.targets, "weights": self.weights}
        told = [
            f"{name} {tuple(part.shape)} {str(part.dtype).removeprefix('torch.')}"
            for name, tree in parts.items()
            for part in tensors_of(tree)
        ]
        return f"{type(self).__name__}({', '.join(told)})"

    def read(self, rows: Tensor) -> Tree:
        """The inputs at these places, in this order."""
        return map_tensors(lambda part: part.index_select(0, rows), self.inputs)

    def each_target(self) -> Tensor:
        """Every value that is a target, at least once; in any shape, the smaller the better."""
        return self.targets

    def take(self, indices: Tensor) -> "Split":
        """The examples at these places, in this order."""
        return Split(
            inputs=take_rows(self.inputs, indices),
            targets=self.targets[indices],
            weights=None if self.weights is None else self.weights[indices],
        )

    def with_targets(self, targets: Tensor, weights: Tensor | None) -> "Split":
        """The same inputs, held as they are, with other targets and weights."""
        return Split(inputs=self.inputs, targets=targets, weights=weights)

    def check_inputs(self, name: str) -> None:
        """Refuse NaN and infinity, naming the first place."""
        for part in tensors_of(self.inputs):
            check_finite(name, part)

    def to(self, device: torch.device) -> "Split":
        """The same examples on another device."""
        return Split(
            inputs=move(self.inputs, device),
            targets=self.targets.to(device),
            weights=None if self.weights is None else self.weights.to(device),
        )


@dataclass(frozen=True, kw_only=True)
class Data:
    """A data set: its splits, its spec, and the preprocessing that travels with a model.

    Args:
        name: a name in the catalog, a file's name, or "arrays".
        spec: kinds, shapes and names.
        train: the examples to learn from.
        val: the examples to choose by, or None.
        test: the examples to report on, or None.
        preprocessor: encodes new inputs exactly as these were encoded.
        notes: what was inferred or repaired on the way, one sentence each.
        load_seconds: that reading it took; 0 for data that was at hand.
        test_is_given: the source itself says which examples are the test, nobody drew them.
    """

    name: str
    spec: DataSpec
    train: Split
    val: Split | None = None
    test: Split | None = None
    preprocessor: Preprocessor
    notes: tuple[str, ...] = ()
    load_seconds: float = 0.0
    test_is_given: bool = False

    def __repr__(self) -> str:
        rows = ", ".join(f"{len(split):,} {name}" for name, split in self.splits())
        spec = self.spec
        outputs = f" of {spec.num_outputs}" if spec.num_outputs else ""
        return (
            f"Data({self.name}: {rows} rows; {spec.inputs} {spec.input_shape} -> "
            f"{spec.target}{outputs})"
        )

    def _repr_html_(self) -> str:
        rows = [{"split": name, "rows": f"{len(split):,}"} for name, split in self.splits()]
        return notebook_table(self.name, rows) + self.spec._repr_html_() + notebook_list(self.notes)

    def splits(self) -> Iterator[tuple[str, Split]]:
        """The splits that are there, by name."""
        for name, split in (("train", self.train), ("val", self.val), ("test", self.test)):
            if split is not None:
                yield name, split

    def split(self, name: str) -> Split:
        """One split by name; refused where it is not there."""
        found = dict(self.splits())
        if name not in found:
            raise DataError(f"{self.name} has no {name!r} split, it has {', '.join(found)}")
        return found[name]

    def to(self, device: torch.device) -> "Data":
        """The same data on another device."""
        moved = {name: split.to(device) for name, split in self.splits()}
        return replace(self, train=moved["train"], val=moved.get("val"), test=moved.get("test"))


def check_data(data: Data, *, is_part: bool = False) -> None:
    """Refuse data that nothing can be learned from, before the first step.

    Empty splits, lengths that differ, NaN and infinity, labels out of range, one class only.

    Args:
        data: what is to be learned from.
        is_part: more rows will come, so these may well be of one class.
    """
    for name, split in data.splits():
        if len(split) == 0:
            raise DataError(f"the {name} split of {data.name} is empty")
        _check_parts(data, name, split)
        if len(split.targets) != len(split):
            raise DataError(
                f"{data.name} has {len(split)} {name} inputs but {len(split.targets)} targets"
            )
        split.check_inputs(f"the {name} inputs of {data.name}")
        check_finite(f"the {name} targets of {data.name}", split.targets)
        if split.weights is not None:
            if split.weights.shape != (len(split),):
                raise DataError(
                    f"the {name} weights of {data.name} must have shape ({len(split)},), "
                    f"got {tuple(split.weights.shape)}"
                )
            check_finite(f"the {name} weights of {data.name}", split.weights)
            if bool((split.weights < 0).any()) or not bool((split.weights > 0).any()):
                raise DataError(f"the {name} weights of {data.name} must be >= 0 and not all zero")
        if data.spec.target in _TARGET_CHECKS:
            _TARGET_CHECKS[data.spec.target](data, name, split)
    targets = data.train.targets
    one_class = data.spec.target in {"class", "mask"} and bool(targets.min() == targets.max())
    if one_class and not is_part:
        rows = "rows" if data.spec.target == "class" else "masks"
        only = data.spec.class_names[int(targets.min())]
        raise DataError(f"{data.name} has only one class in its training {rows}, {only!r}")


def _check_parts(data: Data, name: str, split: Split) -> None:
    """Refuse several inputs that are not of the same rows; one that is not held has one length."""
    if data.spec.inputs != "parts":
        return
    lengths = [len(part) for part in tensors_of(split.inputs)]
    if len(set(lengths)) != 1:
        raise DataError(
            f"the {name} inputs of {data.name} must all have as many rows, got "
            f"{' and '.join(map(str, lengths))}"
        )


def _check_spans(data: Data, name: str, split: Split) -> None:
    """Refuse targets that are no places of the context and of the answers in it."""
    targets, length = split.targets, data.spec.input_shape[0]
    if targets.ndim != 3 or targets.shape[1] < 2 or targets.shape[2] != 2:
        raise DataError(
            f"the {name} targets of {data.name} must be the places (N, 1 + answers, 2) of contexts "
            f"and answers, got {tuple(targets.shape)}"
        )
    is_place = (targets >= 0) & (targets < length) & (targets[..., :1] <= targets[..., 1:])
    is_none = (targets == IGNORED).all(dim=2, keepdim=True)
    is_none[:, 0] = False
    for row in (~(is_place | is_none)).any(dim=2).any(dim=1).nonzero().flatten().tolist():
        raise DataError(
            f"the spans in row {row} of the {name} split of {data.name} are not places of its "
            f"{length} tokens: {targets[row].tolist()}"
        )


def _check_boxes(data: Data, name: str, split: Split) -> None:
    """Refuse targets that are no classes and boxes within the image, and parts without any."""
    targets, classes = split.targets, data.spec.num_outputs
    if targets.ndim != 3 or targets.shape[2] != 5:
        raise DataError(
            f"the {name} targets of {data.name} must be a class and a box of each object "
            f"(N, objects, 5), got {tuple(targets.shape)}"
        )
    kind, centre, size = targets[..., 0], targets[..., 1:3], targets[..., 3:]
    is_class = (kind >= 0) & (kind < classes) & (kind == kind.round())
    is_box = (centre >= 0).all(dim=2) & (centre <= 1).all(dim=2) & (size > 0).all(dim=2)
    wrong = ~((is_class & is_box & (size <= 1).all(dim=2)) | (kind == -1))
    for row in wrong.any(dim=1).nonzero().flatten().tolist():
        raise DataError(
            f"the objects in row {row} of the {name} split of {data.name} must be a class below "
            f"{classes}, or -1, and a box in shares of the image, got {targets[row].tolist()}"
        )
    counted = kind if split.weights is None else kind[split.weights > 0]
    if not bool((counted >= 0).any()):
        raise DataError(f"the {name} split of {data.name} has no object in any image")


def _check_classes(data: Data, name: str, split: Split) -> None:
    shape: tuple[int, ...] = (len(split),)
    dtypes, wanted = [torch.int64], "class indices (N,) of dtype int64"
    if data.spec.target in {"tokens", "tags"}:
        length = data.spec.output_shape[0]
        shape = (len(split), *(split.targets.shape[1:2] if length == VARIES else [length]))
        wanted = f"{data.spec.target} {shape} of dtype int64"
    if data.spec.target == "mask":
        dtypes.append(torch.uint8)
        shape = (len(split), *data.spec.input_shape[1:])
        wanted = f"masks {shape} of dtype uint8 or int64"
    if tuple(split.targets.shape) != shape or split.targets.dtype not in dtypes:
        raise DataError(
            f"the {name} targets of {data.name} must be {wanted}, "
            f"got {tuple(split.targets.shape)} of {split.targets.dtype}"
        )
    counted = split.each_target()
    if data.spec.target in {"tokens", "tags"}:
        counted = counted[counted != IGNORED]
        if not len(counted):
            raise DataError(f"the {name} split of {data.name} has no target to learn from")
    low, high = int(counted.min()), int(counted.max())
    wrong = low if low < 0 else high
    if low < 0 or high >= data.spec.num_outputs:
        row = int((split.targets == wrong).nonzero()[0, 0])
        raise DataError(
            f"label {wrong} in row {row} of the {name} split of {data.name} is out of range: "
            f"there are {data.spec.num_outputs} classes, 0 to {data.spec.num_outputs - 1}"
        )


_TARGET_CHECKS: Mapping[str, Callable[[Data, str, Split], None]] = {
    **dict.fromkeys(("class", "mask", "tokens", "tags"), _check_classes),
    "span": _check_spans,
    "boxes": _check_boxes,
}
