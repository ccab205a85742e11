"""Class balance: how much of each split is of each class.

A model that always answers with the commonest class is right as often as that class occurs, so an
accuracy means little until it is seen beside this.

Shapes: N examples, C classes, K labels.
Source: He and Garcia, "Learning from Imbalanced Data" (2009).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import SPLIT_COLOURS, colour_of
from netwright.inspection.drawing.ticks import name_ticks, percent_ticks
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import check_names, legend_name, percent, quoted
from netwright.metrics.samples import check_classes, check_label_samples, check_not_empty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BARS_WIDTH = 0.8  # of the bars of one class together


@dataclass(frozen=True, kw_only=True)
class ClassBalance(View):
    """The share of each class in each split.

    Args:
        class_names: C of them.
        shares: split -> (C,); of classes they add to 1, of labels they need not.
        several: whether an example may have several of them, as labels do.
    """

    title: ClassVar[str] = "Class balance"

    class_names: tuple[str, ...]
    shares: dict[str, tuple[float, ...]]
    several: bool

    @property
    def size(self) -> tuple[float, float]:
        """Wider with more classes."""
        return (self._length + 0.9, 3.6)

    @property
    def caption(self) -> str:
        """The commonest and the rarest class of the first split, and how splits differ."""
        split, shares = next(iter(self.shares.items()))
        kind = "label" if self.several else "class"
        common, rare = shares.index(max(shares)), shares.index(min(shares))
        if common == rare:
            balance = f"In {split} every {kind} makes up {percent(shares[0])}."
        else:
            balance = (
                f"In {split} the commonest {kind} is {quoted(self.class_names[common])} with "
                f"{percent(shares[common])}, the rarest {quoted(self.class_names[rare])} with "
                f"{percent(shares[rare])}."
            )
        gaps = [max(column) - min(column) for column in zip(*self.shares.values(), strict=True)]
        widest = gaps.index(max(gaps))
        differ = (
            f" The splits differ most in {quoted(self.class_names[widest])}, by "
            f"{100 * gaps[widest]:.1f} percentage points."
        )
        several = " An example may have several labels, or none."
        return f"{balance}{differ if gaps[widest] > 0 else ''}{several if self.several else ''}"

    def draw(self, figure: "Figure") -> None:
        """Bars side by side, one colour a split."""
        axes = figure.subplots()
        width = BARS_WIDTH / len(self.shares)
        for place, (split, shares) in enumerate(self.shares.items()):
            starts = [index - BARS_WIDTH / 2 + place * width for index in range(len(shares))]
            edges = [edge for start in starts for edge in (start, start + width)]
            # The bars of a split as one shape, with nothing between them: hundreds would be slow.
            heights = [height for share in shares for height in (share, 0.0)][:-1]
            colour = SPLIT_COLOURS.get(split, colour_of(place))
            axes.stairs(heights, edges, fill=True, color=colour, label=legend_name(split))
        name_ticks(axes, "x", self.class_names, self._length)
        axes.set_xlim(-0.6, len(self.class_names) - 0.4)
        percent_ticks(axes)
        axes.set_ylabel("share of the examples")
        axes.grid(visible=False, axis="x")
        figure.legend(loc="outside upper right", ncols=len(self.shares))

    @property
    def _length(self) -> float:
        return min(max(1.5 + 0.5 * len(self.class_names), 3.5), 8.0)


def measure_class_balance(splits: Mapping[str, Tensor], class_names: Sequence[str]) -> ClassBalance:
    """The share of each class in each split.

    Args:
        splits: name -> classes, int64 (N,), or labels (N, K) of 0 and 1.
        class_names: C or K names.
    """
    if not splits:
        raise DataError("splits must have at least one split, got none")
    several = next(iter(splits.values())).ndim == 2
    shares = {}
    for split, targets in splits.items():
        name = f"the targets of {split}"
        check_not_empty(name, targets)
        if several:
            check_label_samples(name, targets, targets, None)
            check_names("class_names", class_names, targets.shape[1])
            values = targets.cpu().double().mean(dim=0)
        else:
            check_shape(name, targets, "N")
            check_classes(name, targets, len(class_names))
            values = torch.bincount(targets, minlength=len(class_names)) / len(targets)
        shares[split] = tuple(values.tolist())
    return ClassBalance(class_names=tuple(class_names), shares=shares, several=several)
