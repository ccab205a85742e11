"""Filters: the weights of hidden units as small pictures, one a unit.

Shapes: U units, P of them shown, images (channels, I, J).
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from torch import Tensor

from netwright.core.checks import check_finite, check_shape
from netwright.inspection.drawing.figure_style import FAINT
from netwright.inspection.drawing.pictures import Pixels, pixels_of
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import shown_of
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_SHOWN = 81
SIDE = 0.6  # inches of a picture
GAP = 1  # pixels between two pictures


@dataclass(frozen=True, kw_only=True)
class Filters(View):
    """What some units look for.

    Args:
        pictures: P filters, the strongest first; black is the lowest weight of each, white the
            highest.
        num_units: how many there are; not all may be drawn.
        whose: what the pictures are the weights of.
        note: a further sentence for the caption; empty if there is nothing to add.
    """

    title: ClassVar[str] = "Filters"

    pictures: tuple[Pixels, ...]
    num_units: int
    whose: str = "the hidden units"
    note: str = ""

    @property
    def size(self) -> tuple[float, float]:
        """A square of pictures."""
        columns = self._columns
        rows = math.ceil(len(self.pictures) / columns)
        tall, wide = np.shape(self.pictures[0])[:2]
        return (SIDE * columns, SIDE * rows * tall / wide)

    @property
    def caption(self) -> str:
        """How to read it."""
        words = (
            f"What {self.whose} look for ({shown_of(len(self.pictures), self.num_units)}, the "
            "strongest first). A unit responds where the input is bright at white places and dark "
            "at black ones; each picture has its own scale."
        )
        return f"{words} {self.note}".rstrip()

    @property
    def _columns(self) -> int:
        return math.ceil(math.sqrt(len(self.pictures)))

    def draw(self, figure: "Figure") -> None:
        """One image holds them all: a set of axes for each would take ten times as long."""
        tall, wide = np.shape(self.pictures[0])[:2]
        channels = np.shape(self.pictures[0])[2:]
        rows = math.ceil(len(self.pictures) / self._columns)
        shape = (rows * (tall + GAP) - GAP, self._columns * (wide + GAP) - GAP, *channels)
        sheet = np.full(shape, 255, dtype=np.uint8)
        frames: list[tuple[float, float]] = []
        for place, pixels in enumerate(self.pictures):
            row, column = divmod(place, self._columns)
            top, left = row * (tall + GAP), column * (wide + GAP)
            sheet[top : top + tall, left : left + wide] = np.array(pixels, dtype=np.uint8)
            frames += _frame(left - 0.5, top - 0.5, wide, tall)
        axes = figure.subplots()
        axes.imshow(sheet, cmap="gray", vmin=0, vmax=255, interpolation="none")
        # Without frames, white at an edge could not be told from the page.
        axes.plot(*zip(*frames, strict=True), color=FAINT, linewidth=0.5, clip_on=False)
        axes.set_axis_off()


def _frame(left: float, top: float, wide: float, tall: float) -> list[tuple[float, float]]:
    """The corners of a picture, once around; then the pen is lifted."""
    right, bottom = left + wide, top + tall
    around = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    return [*around, (math.nan, math.nan)]


def measure_filters(
    weights: Tensor, *, whose: str = Filters.whose, note: str = Filters.note
) -> Filters:
    """The units with the longest weights, as pictures.

    Args:
        weights: (U, channels, I, J), with one channel or three.
        whose: what the pictures are the weights of, for the caption.
        note: a further sentence for the caption.
    """
    check_shape("weights", weights, "U", "channels", "I", "J")
    check_not_empty("weights", weights)
    check_finite("weights", weights)
    lengths = weights.flatten(1).norm(dim=1)
    strongest = lengths.argsort(descending=True, stable=True)[:MOST_SHOWN]
    pictures = tuple(map(pixels_of, weights[strongest]))
    return Filters(pictures=pictures, num_units=len(weights), whose=whose, note=note)
