"""What stands along the axes of a figure: names that do not touch, shares in percent, counts.

Names are thinned where there are too many, and turned where they are too wide.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from netwright.inspection.drawing.figure_style import SMALL
from netwright.inspection.drawing.wording import short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches that a line and a letter of the small print take.
LINE, LETTER = 0.18, 0.089
FEW_LETTERS = 4  # such names are never turned: they are thinned instead


def names_room(names: Sequence[str]) -> float:
    """Inches that names take, written across: the room to leave beside an axis."""
    return LETTER * max(len(short_name(name)) for name in names)


def name_ticks(axes: "Axes", which: Literal["x", "y"], names: Sequence[str], length: float) -> None:
    """Write names at 0, 1, 2 ... along an axis.

    Args:
        axes: what is written on.
        which: the axis.
        names: one a place; where there is no room, every second is left out, or more.
        length: of the axis, in inches.
    """
    letters = max(len(short_name(name)) for name in names)
    width = (letters + 1) * LETTER
    turned = which == "x" and letters > FEW_LETTERS and width * len(names) > length
    each = width if which == "x" and not turned else LINE
    step = math.ceil(each * len(names) / length)
    places = range(0, len(names), step)
    labels = [short_name(names[place]) for place in places]
    if which == "y":
        axes.set_yticks(places, labels, fontsize=SMALL)
    elif not turned:
        axes.set_xticks(places, labels, fontsize=SMALL)
    else:
        steep = length * step / len(names) < 2 * LINE
        axes.set_xticks(
            places,
            labels,
            fontsize=SMALL,
            rotation=90.0 if steep else 45.0,
            horizontalalignment="right",
            verticalalignment="center" if steep else "top",
            rotation_mode="anchor",
        )


def percent_ticks(axes: "Axes") -> None:
    """Shares on the vertical axis, written in percent."""
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")


def whole_ticks(axes: "Axes") -> None:
    """Counts on the vertical axis: no ticks between whole numbers."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - it costs a second

    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))


def few_ticks(axes: "Axes") -> None:
    """Numbers of several digits along the horizontal axis of a small figure: room between them."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - it costs a second

    axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
