r"""Linear regions: the pieces on each of which a network of ReLU units is one affine map.

Every ReLU is on or off, every pooling window has a largest entry: where none of these choices
changes, the network is affine. On a plane through the inputs each region is a convex piece. The
choices are looked at on a grid, so that regions smaller than its cells are missed: the count is a
lower bound. That the network is affine on each is measured: within a region its answer in the
middle between two cells is the mean of theirs.

Shapes: N inputs, F numbers of one, flattened; G cells along each side of the plane; C outputs; M
examples that are shown.
Source: Montufar, Pascanu, Cho and Bengio, "On the number of linear regions of deep neural networks"
(2014); Hanin and Rolnick, "Deep ReLU Networks Have Surprisingly Few Activation Patterns" (2019).
"""

import colorsys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from netwright.inspection.drawing.figure_style import INK, SMALL
from netwright.inspection.drawing.shown_rows import shown_rows
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import legend_name, short_name
from netwright.inspection.inside.region_grid import RegionGrid, measure_region_grid
from netwright.inspection.predictions.decision_regions import DOT, MOST_IN_LEGEND, class_colours
from netwright.inspection.predictions.plane import MARGIN, Plane, PlaneFrame, Units, plane_through
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POINTS = 200
CROWDED, MOST_SEEN = 0.04, 1_300  # regions a cell and in all: with more, it is all borders
COARSE = 60  # cells of a first look
CLOSER, CLOSEST = 4, 256  # what zoom grows by, and to
TURN = 0.618  # of the circle of hues, from region to region: neighbours differ
LIGHT, COLOURED, BORDER = 0.86, 0.55, 0.62  # lightness, strength of colour, light left at a border


@dataclass(frozen=True, kw_only=True)
class LinearRegions(View):
    """The pieces of a network on a plane.

    Args:
        frame: what the axes are.
        regions: the number of the region of each cell, (G, G), row by row from below.
        num_regions: how many there are on the grid.
        num_units: ReLU units and pooling windows of the network.
        classes: the likeliest class of each cell (G, G); nothing where reals are predicted.
        class_names: C names.
        points: where examples fall in the window, (M, 2).
        point_classes: their classes (M,), or nothing.
        zoom: how many times closer it is than a window with all inputs in it.
    """

    title: ClassVar[str] = "Linear regions"

    frame: PlaneFrame
    regions: tuple[tuple[int, ...], ...]
    num_regions: int
    num_units: int
    classes: tuple[tuple[int, ...], ...]
    class_names: tuple[str, ...]
    points: tuple[tuple[float, ...], ...]
    point_classes: tuple[int, ...]
    zoom: float

    @property
    def size(self) -> tuple[float, float]:
        """The plane, and the names of the classes beside it."""
        return (7.0, 5.0)

    @property
    def caption(self) -> str:
        """How many regions, of how many units, on which plane."""
        crowded = " Most are too small to be seen: increase zoom." if self.is_crowded else ""
        closer = f" The window is {self.zoom:g} times closer than one with all examples in it."
        has_border = len({index for row in self.classes for index in row}) > 1
        border = " Thick lines are where the answer changes." if has_border else ""
        return (
            f"On each of {self.num_regions:,} regions, at least, the network is one affine map; at "
            f"a border between two, one of its {self.num_units:,} units switches.{crowded}{border}"
            f"{self._told_of_dots} {self.frame.description}{closer if self.zoom != 1 else ''}"
        )

    @property
    def _told_of_dots(self) -> str:
        if not self.points:
            return ""
        off = "; they may lie in other regions, as most are off this slice"
        return f" Dots are examples{off if self.frame.is_slice else ''}."

    def draw(self, figure: "Figure") -> None:
        """Pale regions with thin borders, where the answer changes, and examples."""
        axes = figure.subplots()
        axes.imshow(
            self._raster(),
            extent=self.frame.extent,
            origin="lower",
            interpolation="antialiased",
            aspect="auto",
        )
        self._draw_decisions(axes)
        self._draw_points(axes)
        if 0 < len(set(self.point_classes)) <= MOST_IN_LEGEND:
            figure.legend(loc="outside right upper", fontsize=SMALL, markerscale=1.4)
        axes.set(xlabel=self.frame.x_name, ylabel=self.frame.y_name)
        axes.set(xlim=self.frame.x_range, ylim=self.frame.y_range)
        axes.grid(visible=False)

    @property
    def is_crowded(self) -> bool:
        """Whether the regions are too many to be seen on the grid."""
        return self.num_regions > most_seen(len(self.regions))

    def _raster(self) -> NDArray[np.float64]:
        """(G, G, 3): a colour each region, darker where the next cell is of another one."""
        regions = np.array(self.regions)
        hues = (np.arange(self.num_regions) * TURN) % 1
        palette = np.array([colorsys.hls_to_rgb(hue, LIGHT, COLOURED) for hue in hues])
        raster: NDArray[np.float64] = palette[regions]
        if not self.is_crowded:
            is_border = np.zeros(regions.shape, dtype=bool)
            is_border[:, 1:] |= regions[:, 1:] != regions[:, :-1]
            is_border[1:] |= regions[1:] != regions[:-1]
            raster[is_border] *= BORDER
        return raster

    def _draw_points(self, axes: "Axes") -> None:
        places, classes = np.array(self.points).reshape(-1, 2), np.array(self.point_classes)
        if not self.point_classes:
            axes.scatter(places[:, 0], places[:, 1], color=INK, **DOT)
        colours = class_colours(max(len(self.class_names), 1))
        for index in np.unique(classes).astype(int):
            across, up = places[classes == index].T
            label = legend_name(self.class_names[index])
            axes.scatter(across, up, color=[colours[index]], label=label, **DOT)

    def _draw_decisions(self, axes: "Axes") -> None:
        classes = np.array(self.classes)
        for index in np.unique(classes)[1:]:  # of two classes one line is both their borders
            axes.contour(
                classes == index,
                levels=[0.5],
                extent=self.frame.extent,
                colors=INK,
                linewidths=2.2,
            )


def most_seen(cells: int) -> float:
    """How many regions a picture of so many cells along each side can show."""
    return min(CROWDED * cells**2, MOST_SEEN)


def measure_linear_regions(
    model: nn.Module,
    inputs: Tensor,
    *,
    cells: int,
    zoom: float | None = 1.0,
    feature_names: Sequence[str] = (),
    decode: Units | None = None,
    targets: Tensor | None = None,
    class_names: Sequence[str] = (),
) -> LinearRegions:
    """Look at which units are on at every cell of a plane through the inputs.

    Args:
        model: a network of ReLU units and max-pooling; it is not changed.
        inputs: encoded, (N, *shape), of two numbers or more each, on the model's device.
        cells: G.
        zoom: how many times closer than the window with all inputs in it; None: until regions can
            be seen. A closer window is about a border between classes, or an example.
        feature_names: of two features; where there are more, they are not used.
        decode: offset (2,) and scale (2,) that give two features their own units.
        targets: classes int64 (N,), where the outputs are logits of classes.
        class_names: C names.
    """
    check_not_empty("inputs", inputs)
    flat = inputs.detach().cpu().flatten(1).double()
    plane = plane_through(flat)
    points, has_classes = plane.project(flat), targets is not None
    look_at = partial(measure_region_grid, model, plane, inputs)
    closest, zoom = _approach(look_at, points, cells, zoom, has_classes=has_classes)
    low, high = closest.low, closest.high
    inside = ((points >= low) & (points <= high)).all(dim=1).nonzero()[:, 0]
    shown = inside[shown_rows(len(inside), MOST_POINTS)]
    offset, scale = (0.0, 1.0) if plane.is_slice or decode is None else (p.cpu() for p in decode)
    return LinearRegions(
        frame=_frame(plane, low * scale + offset, high * scale + offset, feature_names),
        regions=_rows(closest.regions),
        num_regions=closest.num_regions,
        num_units=closest.num_units,
        classes=_rows(closest.classes) if has_classes else (),
        class_names=tuple(class_names),
        points=_rows(points[shown] * scale + offset),
        point_classes=() if targets is None else tuple(targets.cpu()[shown].tolist()),
        zoom=zoom,
    )


def _approach(
    look_at: Callable[[Tensor, Tensor, int], RegionGrid],
    points: Tensor,
    cells: int,
    asked: float | None,
    *,
    has_classes: bool,
) -> tuple[RegionGrid, float]:
    """A look as close as is asked for, or until regions can be seen, and how close that is.

    Each coarse look, which costs little, finds the middle of the next: the place of the border
    between classes nearest to its own, or where there is none the nearest of the points (N, 2).
    """
    zoom, closest = min(asked or 1.0, 1.0), asked or CLOSEST
    low, high = _window(points)
    middle, half = (low + high) / 2, (high - low) / 2
    coarse = max(min(cells // 3, COARSE), 2 * CLOSER)  # a cell is half of the next window
    while zoom < closest:
        look = look_at(middle - half / zoom, middle + half / zoom, coarse)
        if asked is None and look.num_regions <= most_seen(cells):
            break
        border = look.border() if has_classes else points[:0]
        places = border if len(border) else points
        middle = places[((places - middle) / half).norm(dim=1).argmin()]
        zoom = min(zoom * CLOSER, closest)
    return look_at(middle - half / zoom, middle + half / zoom, cells), zoom


def _window(points: Tensor) -> tuple[Tensor, Tensor]:
    """The corners (2,) of a window with all points (N, 2) in it."""
    low, high = points.amin(dim=0), points.amax(dim=0)
    half = (high - low) * (0.5 + MARGIN)
    # An axis without spread (but for rounding) takes that of the other; a single point has 1.
    widest = half.max() if half.max() > 0 else half.new_tensor(0.5)
    half = half.where(half > 1e-9 * widest, widest)
    middle = (low + high) / 2
    return middle - half, middle + half


def _frame(plane: Plane, low: Tensor, high: Tensor, names: Sequence[str]) -> PlaneFrame:
    x_name, y_name = "principal component 1", "principal component 2"
    if not plane.is_slice:
        x_name, y_name = (short_name(name, 40) for name in names)
    return PlaneFrame(
        x_name=x_name,
        y_name=y_name,
        x_range=(float(low[0]), float(high[0])),
        y_range=(float(low[1]), float(high[1])),
        variance_share=plane.variance_share,
        is_slice=plane.is_slice,
    )


def _rows(values: Tensor) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in values.tolist())
