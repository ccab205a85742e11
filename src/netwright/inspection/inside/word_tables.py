"""Tables of words: those that are nearest to some, then and now, and those at the ends of features.

Shapes: V words, D features.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.checks import check_shape
from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import COLOURS, INK
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import short_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LETTERS = 14  # of a word that is shown
SHADE = 0.15  # of cells that say no number
NEAR, FEATURES, ENDS = 5, 8, 3  # neighbours of a word; features, and words at each end of one


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A word, or a few, and how much it is shaded, from 0 to 1."""

    text: str
    shade: float = 0.0


@dataclass(frozen=True, kw_only=True)
class WordTable(View):
    """The abstract kind: lines of cells.

    Args:
        heads: of the columns; the first is that of the names of the lines.
        lines: the name of each, and its cells.
    """

    heads: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Cell, ...]], ...]

    @property
    @abstractmethod
    def caption(self) -> str:
        """See `View.caption`."""

    @property
    def size(self) -> tuple[float, float]:
        """A line a row."""
        return (1.3 * len(self.heads) + 0.2, 0.28 * len(self.lines) + 0.6)

    def table_rows(self) -> list[dict[str, str]]:
        """The lines as they are drawn."""
        return [
            {
                self.heads[0]: name,
                **{
                    f"{head} {place}" if self.heads.count(head) > 1 else head: _in_line(cell.text)
                    for place, (head, cell) in enumerate(zip(self.heads[1:], cells, strict=True), 1)
                },
            }
            for name, cells in self.lines
        ]

    def draw(self, figure: "Figure") -> None:
        """Cells, the darker the nearer."""
        from matplotlib.colors import to_rgba  # noqa: PLC0415 - matplotlib costs a second
        from matplotlib.patches import Rectangle  # noqa: PLC0415

        axes = figure.subplots()
        axes.set(xlim=(0, len(self.heads)), ylim=(len(self.lines), -1))
        axes.axis("off")
        for column, head in enumerate(self.heads):
            axes.text(column + 0.5, -0.5, head, ha="center", va="center", weight="bold", size=9)
        for line, (name, cells) in enumerate(self.lines):
            axes.text(0.5, line + 0.5, short_name(name, LETTERS), ha="center", va="center", size=9)
            for column, cell in enumerate(cells, start=1):
                box = Rectangle((column + 0.02, line + 0.06), 0.96, 0.88)
                box.set_facecolor(to_rgba(COLOURS[0], alpha=0.6 * min(max(cell.shade, 0.0), 1.0)))
                axes.add_patch(box)
                place = (column + 0.5, line + 0.5)
                axes.text(*place, cell.text, ha="center", va="center", size=8, color=INK)


class SimilarWords(WordTable):
    """The nearest neighbours of some words."""

    title: ClassVar[str] = "Similar words"

    @property
    def caption(self) -> str:
        """What is near, and by which measure."""
        return (
            "Each line: a word, and the words whose vectors have the largest cosine with its own "
            "(the darker, the larger)."
        )


class WordsByEpoch(WordTable):
    """The nearest words after some epochs, one below the other."""

    title: ClassVar[str] = "Similar words by epoch"

    @property
    def size(self) -> tuple[float, float]:
        """As many lines an epoch as a cell has."""
        most = max(cell.text.count("\n") + 1 for _, cells in self.lines for cell in cells)
        return (1.3 * len(self.heads) + 0.2, (0.14 + 0.16 * most) * (len(self.lines) + 1))

    @property
    def caption(self) -> str:
        """How to read a column, and how much changed last."""
        told, columns = "", len(self.heads) - 1
        if len(self.lines) > 1:
            (_, before), (_, last) = self.lines[-2:]
            changed = sum(one.text != other.text for one, other in zip(before, last, strict=True))
            told = f" Between the last two lines {changed} of {columns} columns changed."
        return f"Each column: the words nearest to the one above it, after so many epochs.{told}"


class VectorDimensions(WordTable):
    """The words at both ends of single features."""

    title: ClassVar[str] = "Features of the vectors"

    @property
    def caption(self) -> str:
        """That a feature by itself need not mean anything."""
        return (
            "Each line: a feature of the unit vectors, those with the most variance first, and the "
            "words at its two ends. Learning is the same in rotated axes, so that a single feature "
            "need not have a meaning."
        )


def measure_similar_words(vectors: Tensor, names: Sequence[str], shown: Sequence[int]) -> View:
    """The nearest neighbours of the words at these rows of the vectors (V, D)."""
    units = _units(vectors, names)
    cosines = units[list(shown)] @ units.T
    cosines[torch.arange(len(shown)), torch.tensor(shown)] = -torch.inf
    best = cosines.topk(min(NEAR, len(names) - 1), dim=1)
    lines = []
    for row, values, places in zip(shown, best.values.tolist(), best.indices.tolist(), strict=True):
        cells = [
            Cell(text=f"{short_name(names[place], LETTERS)} {value:.2f}", shade=value)
            for value, place in zip(values, places, strict=True)
        ]
        lines.append((names[row], tuple(cells)))
    heads = ("word", *(f"{rank}." for rank in range(1, best.values.shape[1] + 1)))
    return SimilarWords(heads=heads, lines=tuple(lines))


def tabulate_words_by_epoch(
    words: Sequence[str], epochs: Sequence[int], nearest: Sequence[Sequence[Sequence[str]]]
) -> View:
    """The words nearest to each word, after each epoch: epochs x words x neighbours."""
    lines = [
        (
            f"epoch {epoch}",
            tuple(
                Cell(text="\n".join(short_name(word, LETTERS) for word in some), shade=SHADE)
                for some in noted
            ),
        )
        for epoch, noted in zip(epochs, nearest, strict=True)
    ]
    return WordsByEpoch(heads=("", *words), lines=tuple(lines))


def measure_vector_dimensions(vectors: Tensor, names: Sequence[str]) -> View:
    """The words at the two ends of the features that vary most."""
    units = _units(vectors, names)
    spread = units.var(dim=0)
    ends = min(ENDS, len(names) // 2)
    lines = []
    for feature in spread.topk(min(FEATURES, units.shape[1])).indices.tolist():
        order = units[:, feature].argsort(stable=True)
        chosen = [*order[:ends].tolist(), *order[len(order) - ends :].tolist()]
        cells = [
            Cell(
                text=f"{short_name(names[row], LETTERS)} {units[row, feature]:.2f}",
                shade=abs(float(units[row, feature])),
            )
            for row in chosen
        ]
        lines.append((f"feature {feature + 1}", tuple(cells)))
    heads = ("", *("lowest",) * ends, *("highest",) * ends)
    return VectorDimensions(heads=heads, lines=tuple(lines))


def _in_line(text: str) -> str:
    return text.replace("\n", ", ")


def _units(vectors: Tensor, names: Sequence[str]) -> Tensor:
    check_shape("vectors", vectors, len(names), "D")
    if len(names) < 2:
        raise DataError(f"words are compared with others, got {len(names)} of them")
    return F.normalize(vectors.detach().cpu().float(), dim=1)
