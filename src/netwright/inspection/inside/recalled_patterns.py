"""Recalled patterns: what a memory makes of its own patterns after they were disturbed.

Shapes: P patterns shown, images (channels, I, J).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.inspection.drawing.figure_style import COLOURS, FAINT
from netwright.inspection.drawing.pictures import Pixels, pixels_of
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import percent
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIDE = 0.95  # inches of a picture
WORDS = 1.0  # inches for the names of the rows
ROWS = ("stored", "disturbed", "recalled")


@dataclass(frozen=True, kw_only=True)
class RecalledPatterns(View):
    """Some stored patterns, disturbed, and what came back.

    Args:
        stored: P images.
        disturbed: where recall started.
        recalled: where it ended.
        is_right: whether it came back to the stored one, (P,).
        num_recalled: how many of those that were tried came back.
        num_tried: how many were disturbed.
        disturbance: in words ("20 % of the bits flipped").
    """

    title: ClassVar[str] = "Recalled patterns"

    stored: tuple[Pixels, ...]
    disturbed: tuple[Pixels, ...]
    recalled: tuple[Pixels, ...]
    is_right: tuple[bool, ...]
    num_recalled: int
    num_tried: int
    disturbance: str

    @property
    def size(self) -> tuple[float, float]:
        """As wide as there are patterns."""
        return (WORDS + SIDE * len(self.stored), 0.35 + SIDE * len(ROWS))

    @property
    def caption(self) -> str:
        """How many came back."""
        share = self.num_recalled / self.num_tried
        full = " It stores more than it can recall: store fewer patterns." if share < 0.5 else ""
        return (
            f"Each column is a stored pattern: as it was stored, with {self.disturbance}, and as "
            f"the memory recalled it from there. Of {self.num_tried:,} patterns that were tried "
            f"{self.num_recalled:,} came back ({percent(share)}); a thick frame marks one that did "
            f"not.{full}"
        )

    def draw(self, figure: "Figure") -> None:
        """Three rows of pictures; a recalled one that is wrong has a frame."""
        panels = figure.subplots(len(ROWS), len(self.stored), squeeze=False)
        rows = zip(ROWS, (self.stored, self.disturbed, self.recalled), strict=True)
        for row, (name, pictures) in enumerate(rows):
            for column, pixels in enumerate(pictures):
                axes = panels[row, column]
                axes.imshow(np.array(pixels, dtype=np.uint8), cmap="gray", vmin=0, vmax=255)
                axes.set(xticks=[], yticks=[])
                wrong = name == "recalled" and not self.is_right[column]
                for spine in axes.spines.values():
                    spine.set(visible=True, color=COLOURS[1] if wrong else FAINT)
                    spine.set_linewidth(3.0 if wrong else 0.5)
            panels[row, 0].set_ylabel(name, rotation=0, ha="right", va="center")


def measure_recalled_patterns(
    stored: Tensor,
    disturbed: Tensor,
    recalled: Tensor,
    is_right: Tensor,
    *,
    num_shown: int,
    disturbance: str,
) -> RecalledPatterns:
    """The first patterns as pictures, and the count of all.

    Args:
        stored: images (S, channels, I, J), with one channel or three.
        disturbed: of the same shape.
        recalled: of the same shape.
        is_right: whether each came back, (S,).
        num_shown: P, how many are drawn.
        disturbance: in words.
    """
    check_shape("stored", stored, "S", "channels", "I", "J")
    check_not_empty("stored", stored)
    check_shape("disturbed", disturbed, *stored.shape)
    check_shape("recalled", recalled, *stored.shape)
    check_shape("is_right", is_right, len(stored))
    first = slice(num_shown)
    return RecalledPatterns(
        stored=tuple(map(pixels_of, stored[first])),
        disturbed=tuple(map(pixels_of, disturbed[first])),
        recalled=tuple(map(pixels_of, recalled[first])),
        is_right=tuple(is_right[first].tolist()),
        num_recalled=int(is_right.sum()),
        num_tried=len(stored),
        disturbance=disturbance,
    )
