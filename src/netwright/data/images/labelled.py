"""Images by their files, with what each shows and the part it belongs to.

Shapes: N images, K outputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.data.split import hold_out
from netwright.data.tables.targets import TableTarget

PARTS = ("train", "val", "test")


@dataclass(frozen=True, kw_only=True)
class LabelledImages:
    """Files that nobody has opened yet.

    Args:
        files: the images; of those that are in memory, what refusals call them; of those in
            shards, none.
        targets: class indices (N,), or labels or reals (N, K).
        target: the kind of the targets.
        class_names: the classes or labels in the order of the outputs; empty for reals.
        target_names: the columns that the targets come from; empty where folders name them.
        parts: train, val or test for each image; empty where they are still to be divided.
        how: where the parts come from, for the note on them.
        notes: what was left out on the way.
        weights: how much each image counts (N,), or None where all count the same.
        groups: of each image (N,), none of which is in two parts; None where there are none.
    """

    files: tuple[Path, ...]
    targets: Tensor
    target: TableTarget
    class_names: tuple[str, ...] = ()
    target_names: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    how: str = ""
    notes: tuple[str, ...] = ()
    weights: Tensor | None = None
    groups: Tensor | None = None

    @property
    def num_outputs(self) -> int:
        """Classes, labels or reals."""
        return len(self.class_names) or len(self.target_names)

    def take(self, rows: Sequence[int]) -> "LabelledImages":
        """The images at these places, in this order."""
        return replace(
            self,
            files=tuple(self.files[row] for row in rows),
            targets=self.targets[list(rows)],
            parts=tuple(self.parts[row] for row in rows) if self.parts else (),
            weights=None if self.weights is None else self.weights[list(rows)],
            groups=None if self.groups is None else self.groups[list(rows)],
        )


def divide(
    images: LabelledImages, *, val_size: float, test_size: float, seed: int
) -> tuple[dict[str, Tensor], str]:
    """The places of the images of each part, and a sentence on how they were found.

    Where parts are given but none to choose by, `val_size` of the training images are held out.
    """
    places, how = _places(images, val_size=val_size, test_size=test_size, seed=seed)
    parts = {part: rows for part, rows in places.items() if len(rows)}
    _check_learned(images, places["train"])
    counts = ", ".join(f"{len(rows)} {part}" for part, rows in parts.items())
    return parts, f"images: {counts} ({how})"


def _places(
    images: LabelledImages, *, val_size: float, test_size: float, seed: int
) -> tuple[dict[str, Tensor], str]:
    classes = images.targets if images.target == "class" else None
    if not images.parts:
        count = len(images.targets)
        rows = hold_out(
            count,
            val_size=val_size,
            test_size=test_size,
            seed=seed,
            classes=classes,
            groups=images.groups,
        )
        chance = "at random" if classes is None else "at random, stratified by class"
        chance = chance if images.groups is None else "by group"
        return dict(zip(PARTS, rows, strict=True)), f"held out {chance}"
    found = {
        part: torch.tensor([row for row, its in enumerate(images.parts) if its == part]).long()
        for part in PARTS
    }
    if len(found["val"]) or not val_size:
        return found, images.how
    train = found["train"]
    learned, chosen, _ = hold_out(
        len(train),
        val_size=val_size,
        test_size=0,
        seed=seed,
        classes=None if classes is None else classes[train],
        groups=None if images.groups is None else images.groups[train],
    )
    found |= {"train": train[learned], "val": train[chosen]}
    return found, f"{images.how}; val is held out of train"


def _check_learned(images: LabelledImages, train: Tensor) -> None:
    """Refuse a class that no training image shows."""
    if images.target != "class":
        return
    learned = set(images.targets[train].tolist())
    for place, name in enumerate(images.class_names):
        if place not in learned:
            raise DataError(f"class {name!r} has no training image")
