"""The confusion matrix: which classes are taken for which.

Shapes: N examples, C classes; the matrix is (C, C), row = true, column = predicted.
Source: Kohavi and Provost, "Glossary of Terms" (1998), confusion matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from netwright.inspection.drawing.figure_style import COLOURS
from netwright.inspection.drawing.ticks import name_ticks, names_room
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import amount, check_names, percent, quoted
from netwright.metrics.classification import confusion_matrix
from netwright.metrics.labels import is_yes
from netwright.metrics.samples import check_class_samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NUMBERED = 30  # classes whose cells hold numbers
MOST_WITH_SHARES = 5  # classes whose cells hold the share below the count
CELL, LEAST_SIDE, MOST_SIDE = 0.46, 2.9, 6.2  # inches
SMALLEST_FONT, LARGEST_FONT, DIGIT = 6.0, 11.0, 0.68  # points, and the width of a digit


@dataclass(frozen=True, kw_only=True)
class Confusion(View):
    """How often each true class was called each class.

    Args:
        class_names: C of them.
        counts: (C, C) examples, or sums of their weights; row = true, column = predicted.
        is_sample: whether they are a sample of the split.
    """

    title: ClassVar[str] = "Confusion matrix"

    class_names: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]
    is_sample: bool = False

    @property
    def size(self) -> tuple[float, float]:
        """Square cells, and room for names."""
        names = names_room(self.class_names)
        return (self._side + 0.8 + names, self._side + 0.7 + names)

    @property
    def caption(self) -> str:
        """How many are right, and what is confused most."""
        right, total = self._matrix.trace(), self._matrix.sum()
        sample = " in a sample of the split" if self.is_sample else ""
        return (
            f"{amount(right)} of {amount(total)}{sample} are right ({percent(right / total)}). "
            f"{self._worst} Rows are true classes, columns predictions; blue is right, "
            f"orange is wrong, and the darker a cell, the larger its share of its row."
            f"{' Numbers are percent of the row.' if self._written == 'shares' else ''}"
        )

    def draw(self, figure: "Figure") -> None:
        """A square of cells, with numbers where they can be read."""
        axes = figure.subplots()
        axes.imshow(self._colours(), interpolation="none")
        name_ticks(axes, "x", self.class_names, self._side)
        name_ticks(axes, "y", self.class_names, self._side)
        axes.set(xlabel="predicted", ylabel="true")
        axes.spines[:].set_visible(True)
        axes.grid(visible=False)
        if self._written != "nothing":
            self._write_numbers(axes)

    @cached_property
    def _matrix(self) -> NDArray[np.float64]:
        return np.array(self.counts)

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        """Each cell as a share of its row; a class that does not occur has zeros."""
        rows = self._matrix.sum(axis=1, keepdims=True)
        empty = np.zeros_like(self._matrix)
        shares: NDArray[np.float64] = np.divide(self._matrix, rows, out=empty, where=rows > 0)
        return shares

    @property
    def _side(self) -> float:
        return min(max(CELL * len(self.counts), LEAST_SIDE), MOST_SIDE)

    @cached_property
    def _written(self) -> str:
        """What the cells say: as much as fits, from both counts and shares to nothing."""
        if len(self.counts) > MOST_NUMBERED:
            return "nothing"
        rich = len(self.counts) <= MOST_WITH_SHARES
        kinds = ("both", "counts", "shares") if rich else ("counts", "shares")
        return next((kind for kind in kinds if self._font(kind) >= SMALLEST_FONT), "nothing")

    def _words(self, kind: str, row: int, column: int) -> str:
        count, share = amount(self._matrix[row, column]), self._shares[row, column]
        if kind == "both":
            return f"{count}\n{percent(share)}"
        return count if kind == "counts" else _whole_percent(share)

    def _font(self, kind: str) -> float:
        """The size at which the longest line of a kind of words fits into a cell."""
        places = range(len(self.counts))
        words = "\n".join(self._words(kind, *place) for place in product(places, places))
        longest = max(len(line) for line in words.split("\n"))
        return min(72 * self._side / len(self.counts) / (DIGIT * longest), LARGEST_FONT)

    @property
    def _worst(self) -> str:
        wrong = self._matrix - np.diag(self._matrix.diagonal())
        if not wrong.any():
            return "Nothing is confused."
        true, said = np.unravel_index(wrong.argmax(), wrong.shape)
        return (
            f"Confused most: {quoted(self.class_names[true])} predicted as "
            f"{quoted(self.class_names[said])}, {amount(wrong[true, said])} of "
            f"{amount(self._matrix[true].sum())}."
        )

    def _colours(self) -> NDArray[np.float64]:
        """(C, C, 3): from white to blue on the diagonal, to orange beside it."""
        from matplotlib.colors import to_rgb  # noqa: PLC0415 - it costs a second

        right = np.eye(len(self.counts), dtype=bool)[:, :, None]
        full = np.where(right, to_rgb(COLOURS[0]), to_rgb(COLOURS[1]))
        # The root, so that a few in a hundred can still be seen.
        colours: NDArray[np.float64] = 1 - np.sqrt(self._shares)[:, :, None] * (1 - full)
        return colours

    def _write_numbers(self, axes: "Axes") -> None:
        """Cells that hold nothing stay empty, so that the eye finds the others."""
        font = self._font(self._written)
        for row, column in np.argwhere(self._matrix > 0).tolist():
            axes.text(
                column,
                row,
                self._words(self._written, row, column),
                ha="center",
                va="center",
                fontsize=font,
                color="white" if self._shares[row, column] > 0.4 else None,
            )


def measure_confusion(
    targets: Tensor,
    probabilities: Tensor,
    class_names: Sequence[str],
    weights: Tensor | None = None,
    *,
    is_sample: bool = False,
    threshold: float | None = None,
) -> Confusion:
    """Count what was called what; the likeliest class is the answer.

    Args:
        targets: the true classes, int64 (N,).
        probabilities: (N, C).
        class_names: C names.
        weights: how much each example counts, (N,).
        is_sample: whether the examples are a sample of a split.
        threshold: of two classes, the probability above which the second is the answer.
    """
    check_class_samples("probabilities", probabilities, targets, weights)
    num_classes = probabilities.shape[1]
    check_names("class_names", class_names, num_classes)
    said = probabilities.argmax(dim=1)
    if threshold is not None:
        said = is_yes(probabilities[:, 1], threshold).long()
    matrix = confusion_matrix(targets, said, num_classes, weights)
    return Confusion(
        class_names=tuple(class_names),
        counts=tuple(tuple(float(count) for count in row) for row in matrix.tolist()),
        is_sample=is_sample,
    )


def _whole_percent(share: float) -> str:
    return "<1" if share < 0.005 else f"{100 * share:.0f}"
