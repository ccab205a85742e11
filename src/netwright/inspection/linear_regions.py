r"""Linear regions: the pieces on each of which a network of ReLU units is one affine map.

Every ReLU is on or off, every pooling window has a largest entry: where none of these choices
changes, the network is linear. On a plane through the inputs each region is a convex piece. The
choices are looked at on a grid, so that regions smaller than its cells are missed: the count is a
lower bound.

Shapes: N inputs, F numbers of one, flattened; G cells along each side of the plane; C outputs; M
examples that are shown.
Source: Montufar, Pascanu, Cho and Bengio, "On the number of linear regions of deep neural networks"
(2014); Hanin and Rolnick, "Deep ReLU Networks Have Surprisingly Few Activation Patterns" (2019).
"""

import colorsys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from netwright.core.outputs import logits_of
from netwright.inspection.activation_patterns import activation_patterns
from netwright.inspection.decision_regions import DOT, MOST_IN_LEGEND, class_colours
from netwright.inspection.figure_style import INK
from netwright.inspection.plane import MARGIN, Plane, PlaneFrame, Units, plane_through
from netwright.inspection.shown_rows import shown_rows
from netwright.inspection.view import View
from netwright.inspection.wording import legend_name, short_name
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_POINTS = 200
CROWDED = 0.04  # regions a cell: from there on the picture is nothing but borders
BATCH = 512
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
        points: where examples fall on the plane, (M, 2).
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
        crowded = (
            " Most are too small to be seen: look closer with zoom." if self.is_crowded else ""
        )
        closer = f" The window is {self.zoom:g} times closer than one with all examples in it."
        border = " Thick lines are where the answer changes." if self.classes else ""
        return (
            f"On each of {self.num_regions:,} regions, at least, the network is one affine map; at "
            f"a border between two, one of its {self.num_units:,} units switches.{crowded}{border} "
            f"Dots are examples. {self.frame.description}{closer if self.zoom != 1 else ''}"
        )

    def draw(self, figure: "Figure") -> None:
        """Pale regions with thin borders, where the answer changes, and examples."""
        axes = figure.subplots()
        axes.imshow(
            self._raster(),
            extent=self.frame.extent,
            origin="lower",
            interpolation="none",
            aspect="auto",
        )
        colours = class_colours(max(len(self.class_names), 1))
        self._draw_decisions(axes)
        across, up = np.array(self.points).T
        if self.point_classes:
            axes.scatter(across, up, c=colours[list(self.point_classes)], **DOT)
            for name, colour in zip(self.class_names, colours, strict=True):
                axes.scatter([], [], color=[colour], label=legend_name(name), **DOT)
            if len(self.class_names) <= MOST_IN_LEGEND:
                figure.legend(loc="outside right upper", fontsize=9, markerscale=1.4)
        else:
            axes.scatter(across, up, color=INK, **DOT)
        axes.set(xlabel=self.frame.x_name, ylabel=self.frame.y_name)
        axes.set(xlim=self.frame.x_range, ylim=self.frame.y_range)
        axes.grid(visible=False)

    @property
    def is_crowded(self) -> bool:
        """Whether the regions are too many to be seen on the grid."""
        return self.num_regions > CROWDED * len(self.regions) ** 2

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


def measure_linear_regions(
    model: nn.Module,
    inputs: Tensor,
    *,
    cells: int,
    zoom: float = 1.0,
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
        zoom: how many times closer than the window with all inputs in it.
        feature_names: of two features; where there are more, they are not used.
        decode: offset (2,) and scale (2,) that give two features their own units.
        targets: classes int64 (N,), where the outputs are logits of classes.
        class_names: C names.
    """
    check_not_empty("inputs", inputs)
    flat = inputs.detach().cpu().flatten(1).double()
    plane = plane_through(flat)
    shown = shown_rows(len(flat), MOST_POINTS)
    points = plane.project(flat)
    low, high = _window(points, zoom)
    middles = (torch.arange(cells, dtype=torch.float64)[:, None] + 0.5) / cells
    across, up = (low + (high - low) * middles).unbind(1)
    grid = torch.cartesian_prod(up, across).flip(1)  # row by row from below
    patterns, outputs, units = _ask(model, plane.lift(grid), inputs)
    numbers = {pattern: place for place, pattern in enumerate(dict.fromkeys(patterns))}
    regions = torch.tensor([numbers[pattern] for pattern in patterns]).view(cells, cells)
    offset, scale = (0.0, 1.0) if plane.is_slice or decode is None else (p.cpu() for p in decode)
    has_classes = targets is not None
    return LinearRegions(
        frame=_frame(plane, low * scale + offset, high * scale + offset, feature_names),
        regions=_rows(regions),
        num_regions=len(numbers),
        num_units=units,
        classes=_rows(outputs.argmax(dim=1).view(cells, cells)) if has_classes else (),
        class_names=tuple(class_names),
        points=_rows(points[shown] * scale + offset),
        point_classes=() if targets is None else tuple(targets.cpu()[shown].tolist()),
        zoom=zoom,
    )


def _ask(model: nn.Module, flat: Tensor, like: Tensor) -> tuple[list[bytes], Tensor, int]:
    """Of each place (M, F) its pattern and outputs (M, C), and how many units there are."""
    parts = torch.split(flat.view(-1, *like.shape[1:]).to(like), BATCH)
    found = [activation_patterns(model, part) for part in parts]
    digests = [digest for one in found for digest in one.digests]
    return digests, torch.cat([logits_of(one.output) for one in found]), found[0].num_units


def _window(points: Tensor, zoom: float) -> tuple[Tensor, Tensor]:
    """The corners (2,) of a window about the middle of the points (N, 2)."""
    low, high = points.amin(dim=0), points.amax(dim=0)
    half = (high - low) * (0.5 + MARGIN) / zoom
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
