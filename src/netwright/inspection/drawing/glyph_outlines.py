"""Letters as outlines: each is drawn once and used wherever it stands, so that no font is needed.

Lengths are hundredths of the font's size, y points up and the baseline is 0, as matplotlib sets
them; only the finished picture is measured in points, and its y points down.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netwright.inspection.drawing.figure_style import INK
from netwright.inspection.drawing.path_data import Segment, decimals, path_data

if TYPE_CHECKING:
    from matplotlib.path import Path
    from numpy.typing import NDArray

FINE = 2.5  # a picture's letters lie on a grid of 250 to the font's size
_PEN, CLOSE = {1: "M", 2: "L", 3: "Q", 4: "C"}, 79  # the codes of matplotlib's paths


@dataclass(frozen=True, kw_only=True)
class Box:
    """What a drawing covers."""

    left: float
    low: float
    right: float
    high: float


@dataclass(frozen=True, kw_only=True)
class GlyphOutlines:
    """A line that is set: which glyph stands where, and in which size.

    Args:
        placed: (name of the glyph, x, y, size as a share of the font's).
        glyphs: name -> its outline.
        bars: outlines of fractions and roots, where they stand.
        width: how far the line goes on; a slanted letter may reach beyond it.
    """

    placed: Sequence[tuple[Any, float, float, float]]
    glyphs: Mapping[Any, "Path"]
    bars: Sequence["Path"]
    width: float

    @property
    def box(self) -> Box:
        """What the line and all of its outlines cover; an outline may leave its line's width."""
        sides = {name: _corners(path) for name, path in self.glyphs.items()}
        covered = [size * sides[name] + (x, y) for name, x, y, size in self.placed]
        covered += [_corners(bar) for bar in self.bars]
        corners = [(0.0, 0.0), (self.width, 0.0), *(tuple(c) for two in covered for c in two)]
        x, y = zip(*corners, strict=True)
        return Box(left=min(x), low=min(y), right=max(x), high=max(y))

    def svg(self, points: float, *, low: float, high: float) -> bytes:
        """The picture in ink.

        Args:
            points: size of the font.
            low: how far down it reaches; pictures of one line of text share it.
            high: how far up.
        """
        box, point = self.box, points / 100
        # Whole tenths of a point, outwards: an edge is never cut.
        left, top = (math.floor(10 * point * one) / 10 for one in (box.left, -high))
        right, bottom = (math.ceil(10 * point * one) / 10 for one in (box.right, -low))
        width, height = decimals(right - left, 1), decimals(bottom - top, 1)
        size = f"width='{width}pt' height='{height}pt'"
        view = f"viewBox='{decimals(left, 1)} {decimals(top, 1)} {width} {height}'"
        scale = decimals(point / FINE, 4)
        turned = f"<g fill='{INK}' transform='scale({scale} -{scale})'>"
        inside = "".join(self._parts())
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' {size} {view}>{turned}{inside}</g></svg>"
        ).encode()

    def _parts(self) -> Iterator[str]:
        """What occurs once in one path, then each glyph that occurs again, and its places."""
        counts = Counter(name for name, *_ in self.placed)
        once = [part for bar in self.bars for part in _segments(bar)]
        for name, x, y, size in self.placed:
            if counts[name] == 1:
                once += _segments(self.glyphs[name], x, y, size)
        yield f"<path d='{path_data(once, places=0)}'/>" if once else ""
        names = {name: f"g{place}" for place, name in enumerate(counts) if counts[name] > 1}
        for name, short in names.items():
            outline = path_data(_segments(self.glyphs[name]), places=0)
            yield f"<defs><path id='{short}' d='{outline}'/></defs>"
        for name, x, y, size in self.placed:
            if name in names:
                right, up = decimals(FINE * x, 0), decimals(FINE * y, 0)
                small = f"transform='translate({right} {up}) scale({decimals(size, 3)})'"
                place = f"x='{right}' y='{up}'" if size == 1 else small
                yield f"<use href='#{names[name]}' {place}/>"


def _corners(path: "Path") -> "NDArray[np.float64]":
    """The lower left and upper right corner (2, 2) of what holds the outline.

    A curve stays within its control points, which stand at its extremes in every font.
    """
    drawn = np.asarray(path.vertices)[np.asarray(path.codes) != CLOSE]
    return np.stack([drawn.min(axis=0), drawn.max(axis=0)])


def _segments(path: "Path", x: float = 0.0, y: float = 0.0, size: float = 1.0) -> list[Segment]:
    """The outline in this place and size, on the picture's grid."""
    placed = (
        (_PEN.get(int(code), "Z"), FINE * (size * corners.reshape(-1, 2) + (x, y)))
        for corners, code in path.iter_segments(simplify=False)
    )
    return [(letter, corners.flatten().tolist()) for letter, corners in placed]
