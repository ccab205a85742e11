"""A graph of boxes drawn in two ways: as a figure, and as a small SVG for a page of many.

Values are blue and go forward, gradients are orange and go back; what is given is grey.
"""

import html
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from netwright.core.visible import visible
from netwright.inspection.drawing.figure_style import COLOURS, FAINT, INK
from netwright.inspection.drawing.wording import short_name
from netwright.inspection.stepper.graph_arrows import (
    HEIGHT,
    WIDTH,
    Point,
    arrow_path,
    corner,
    extent_of,
    top_of,
)
from netwright.inspection.stepper.step_graph import LETTERS, Box, Graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VALUE, GRADIENT = COLOURS[0], "#B34A00"  # the orange of the house, dark enough for small letters
_GIVEN, _COMPUTED, _MARKED = "#f0f2f5", "#ffffff", "#fff3c9"
_PIXELS_AN_INCH = 96.0

Shown = Callable[[int], bool]


def figure_size(graph: Graph) -> tuple[float, float]:
    """In inches: every box has the same room."""
    width, height = extent_of(graph)
    return max(4.0, width / _PIXELS_AN_INCH), (height + 24) / _PIXELS_AN_INCH


def draw_graph(figure: "Figure", graph: Graph) -> None:
    """Boxes with operation, value and gradient, and arrows from inputs to results."""
    axes = figure.subplots()
    width, height = extent_of(graph)
    axes.set_xlim(0, max(width, 4.0 * _PIXELS_AN_INCH))
    axes.set_ylim(height + top_of(graph), top_of(graph) - 24)
    axes.axis("off")
    for words, colour, x in (("value", VALUE, 18), ("derivative of the loss", GRADIENT, 66)):
        axes.text(x, top_of(graph) - 8, words, color=colour, fontsize=9, weight="bold")
    boxes = {box.key: box for box in graph.boxes}
    for start, end in graph.arrows:
        _draw_arrow(axes, boxes[start], boxes[end])
    for box in graph.boxes:
        _draw_box(axes, box)


def graph_svg(
    graph: Graph, *, marked: int = -1, values: Shown | None = None, gradients: Shown | None = None
) -> bytes:
    """The graph as a picture of few bytes.

    Args:
        graph: its boxes.
        marked: the key of the box that stands out.
        values: whether the box of this key shows its value yet; None: all do.
        gradients: likewise.
    """
    width, height = extent_of(graph)
    boxes = {box.key: box for box in graph.boxes}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 {top_of(graph):.0f} {width:.0f} {height:.0f}" '
        'font-family="DejaVu Sans, Verdana, Arial, sans-serif" font-size="12.5" '
        'text-anchor="middle">'
        f'<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        f'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="{FAINT}"/></marker></defs>'
    ]
    for start, end in graph.arrows:
        first, *points = arrow_path(boxes[start], boxes[end])
        path = f"M{_point(first)}"
        for place in range(0, len(points), 3):
            path += "C" + " ".join(_point(one) for one in points[place : place + 3])
        parts.append(f'<path d="{path}" fill="none" stroke="{FAINT}" marker-end="url(#tip)"/>')
    for box in graph.boxes:
        x, y = corner(box)
        fill = _MARKED if box.key == marked else _fill(box)
        edge = f'stroke="{INK}" stroke-width="2.5"' if box.key == marked else f'stroke="{FAINT}"'
        parts.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH:.0f}" height="{HEIGHT:.0f}" rx="6" '
            f'fill="{fill}" {edge}/>'
        )
        shown = (True, True, not values or values(box.key), not gradients or gradients(box.key))
        for (words, colour, weight, down), is_shown in zip(_lines(box), shown, strict=True):
            if is_shown and words:
                parts.append(
                    f'<text x="{x + WIDTH / 2:.0f}" y="{y + down:.0f}" fill="{colour}" '
                    f'font-weight="{weight}">{html.escape(visible(words))}</text>'
                )
    return "".join([*parts, "</svg>"]).encode()


def _draw_box(axes: "Axes", box: Box) -> None:
    from matplotlib.patches import FancyBboxPatch  # noqa: PLC0415 - matplotlib costs a second

    x, y = corner(box)
    edge = INK if box.kind == "operation" else FAINT
    style = "round,pad=0,rounding_size=6"
    axes.add_patch(
        FancyBboxPatch((x, y), WIDTH, HEIGHT, boxstyle=style, facecolor=_fill(box), edgecolor=edge)
    )
    for words, colour, weight, down in _lines(box):
        axes.text(
            x + WIDTH / 2, y + down, words, color=colour, weight=weight, ha="center", fontsize=9
        )


def _draw_arrow(axes: "Axes", start: Box, end: Box) -> None:
    from matplotlib.patches import FancyArrowPatch  # noqa: PLC0415 - matplotlib costs a second
    from matplotlib.path import Path  # noqa: PLC0415

    points = arrow_path(start, end)
    path = Path(points, [Path.MOVETO, *[Path.CURVE4] * (len(points) - 1)])
    axes.add_patch(
        FancyArrowPatch(path=path, arrowstyle="-|>", mutation_scale=9, color=FAINT, linewidth=1.0)
    )


def _lines(box: Box) -> Iterator[tuple[str, str, str, float]]:
    """Words, colour, weight and height of the four lines of a box."""
    yield short_name(box.title, LETTERS - 2), INK, "bold", 17.0
    yield short_name(box.place, LETTERS) if box.place else "", FAINT, "normal", 32.0
    yield short_name(box.value, LETTERS), VALUE, "normal", 50.0
    yield short_name(box.gradient, LETTERS), GRADIENT, "normal", 67.0


def _fill(box: Box) -> str:
    return _COMPUTED if box.kind == "operation" else _GIVEN


def _point(point: Point) -> str:
    return f"{point[0]:.0f} {point[1]:.0f}"
