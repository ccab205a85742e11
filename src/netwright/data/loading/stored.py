"""Examples whose inputs stay where they are stored and are read a batch at a time.

Targets and weights are in memory: they are small, and class names, baselines and balancing need
all of them. Inputs may be larger than memory, so only the rows of a batch are ever read together.

Shapes: N examples, B rows read together.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Data, Split
from netwright.data.loading.piece_order import Pieces
from netwright.data.loading.windows import WindowSplit
from netwright.data.pixels import PixelSplit

MOST_BYTES = 2**31  # of inputs that are read all together
MOST_SHOWN = 10_000  # rows of a split that are looked at, where it is not held as floats
MOST_SHOWN_BYTES = 2**28  # of floats that these rows are


class StoredInputs(ABC):
    """Inputs that are read when they are needed.

    A row that cannot be read, or is not finite, is refused in the batch that wants it. Reading may
    draw random numbers (augmentation): loaders seed every batch by its number.
    """

    # The setting with which the same examples would be held in memory, where there is one.
    in_memory_by: ClassVar[str] = ""
    # Seconds beyond the usual that a worker may take for a batch: to fetch what lies elsewhere.
    fetching: float = 0.0

    @abstractmethod
    def __len__(self) -> int:
        """How many inputs are stored."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape of one input, encoded."""

    @property
    def pieces(self) -> Pieces | None:
        """Where rows lie that are read best with those beside them; None: any row by itself."""
        return None

    @abstractmethod
    def read(self, rows: Tensor) -> Tensor:
        """The inputs at these places (B,), encoded, on the CPU: float32 (B, ...)."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A digest that changes when what `read` returns changes."""


class StoredSplit(Split):
    """A split of stored inputs: whoever takes rows of it takes their places, and reads nothing.

    Args:
        stored: where the inputs are read from.
        targets: as in `Split`, of these rows.
        weights: as in `Split`, of these rows.
        rows: the places of these rows in `stored` (N,), on the CPU; by default all.
    """

    stored: StoredInputs
    rows: Tensor

    def __init__(
        self,
        *,
        stored: StoredInputs,
        targets: Tensor,
        weights: Tensor | None = None,
        rows: Tensor | None = None,
    ) -> None:
        places = torch.arange(len(stored)) if rows is None else rows
        values = {"stored": stored, "targets": targets, "weights": weights, "rows": places}
        for name, value in values.items():
            object.__setattr__(self, name, value)  # a split is frozen

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"StoredSplit({len(self)} rows of {self.stored!r})"

    @property
    def inputs(self) -> Tensor:
        """All inputs (N, ...), read now: for parts that are known to be small."""
        size = len(self) * math.prod(self.stored.shape) * torch.float32.itemsize
        if size > MOST_BYTES:
            raise DataError(
                f"all {len(self):,} stored inputs together take {size / 2**30:.1f} GiB, at most "
                f"{MOST_BYTES / 2**30:.0f} GiB are read at once: use fewer rows, or a model that "
                f"trains in batches"
            )
        return self.read(torch.arange(len(self)))

    def read(self, rows: Tensor) -> Tensor:
        """The inputs at these places of the split, on the device of its targets."""
        return self.stored.read(self.rows[rows.cpu()]).to(self.targets.device)

    def order(self, random: torch.Generator) -> Tensor:
        """See `Split.order`; rows that are read together lie near each other where they should."""
        pieces = self.stored.pieces
        return super().order(random) if pieces is None else pieces.order(self.rows, random)

    def take(self, indices: Tensor) -> "StoredSplit":
        """The examples at these places, in this order; nothing is read."""
        return StoredSplit(
            stored=self.stored,
            targets=self.targets[indices],
            weights=None if self.weights is None else self.weights[indices],
            rows=self.rows[indices.cpu()],
        )

    def with_targets(self, targets: Tensor, weights: Tensor | None) -> "StoredSplit":
        """The same rows with other targets and weights; nothing is read."""
        return StoredSplit(stored=self.stored, targets=targets, weights=weights, rows=self.rows)

    def check_inputs(self, name: str) -> None:
        """Nothing to do: stored inputs are checked as they are read, not all of them at once."""

    def to(self, device: torch.device) -> "StoredSplit":
        """The same examples with targets and weights on another device; batches follow them."""
        weights = None if self.weights is None else self.weights.to(device)
        return self.with_targets(self.targets.to(device), weights)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What is looked at of data, where reading all of it would take too long.

    Args:
        shown: the data with some rows of each split, spread evenly.
        whole: the data itself; its targets are in memory, its inputs need not be.
    """

    shown: Data
    whole: Data

    def rows(self, split: str) -> Tensor | None:
        """The places in a split of the rows that are shown; None where it is shown as a whole."""
        some, total = len(self.shown.split(split)), len(self.whole.split(split))
        return evenly_spaced(total, some) if some < total else None

    def described(self, split: str) -> str:
        """How many rows of a split are shown, in words; empty where it is shown as a whole."""
        some, total = len(self.shown.split(split)), len(self.whole.split(split))
        return f"{some:,} of the {total:,} {split} rows, evenly spaced" if some < total else ""


def sample_stored(data: Data, most: int = MOST_SHOWN) -> Sample:
    """At most so many rows of each split that is not held as floats.

    For looking at, not for measuring: fewer rows are taken where they are large.
    """
    most = min(most, max(1, MOST_SHOWN_BYTES // (data.spec.num_features * torch.float32.itemsize)))
    parts = {name: _shown(split, most) for name, split in data.splits()}
    shown = replace(data, train=parts["train"], val=parts.get("val"), test=parts.get("test"))
    return Sample(shown=shown, whole=data)


def _shown(split: Split, most: int) -> Split:
    """Stored rows are read, bytes stay bytes, few windows are copied; all else stays as it is."""
    if isinstance(split, SourceSplit):
        return split.take(evenly_spaced(len(split), most).to(split.targets.device))
    if isinstance(split, StoredSplit):
        shown = split.take(evenly_spaced(len(split), most))
        return Split(inputs=shown.inputs, targets=shown.targets, weights=shown.weights)
    if isinstance(split, PixelSplit | WindowSplit) and len(split) > most:
        return split.take(evenly_spaced(len(split), most).to(split.targets.device))
    return split


def evenly_spaced(total: int, most: int) -> Tensor:
    """At most so many of the places 0 ... total - 1, from the first to the last."""
    if total <= most:
        return torch.arange(total)
    return torch.linspace(0, total - 1, most, dtype=torch.float64).round().long()
