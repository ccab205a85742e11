"""How every figure looks: fonts, colours and lines, set for one figure and never for the process.

matplotlib is imported inside functions: it costs a second that training should not pay.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

# Okabe and Ito's colours: told apart also by eyes that do not tell red from green.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#8C6D31",
    "#5A5A5A",
    "#B0A40C",
    "#7B4EA3",
)
SPLIT_COLOURS = {"train": COLOURS[0], "val": COLOURS[1], "test": COLOURS[2]}
MOST_DETAILED = 100  # an axis from low to so many times as much has ticks within its decades
INK, FAINT = "#1f2933", "#7b8794"
SMALL = 10.5  # points, of legends and names: 14 pixels where two figures share a page of 1280

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # it comes with matplotlib: the same picture on every machine
    "font.size": 11.0,
    "text.color": INK,
    "text.parse_math": False,  # a class called "$5" is text, not a formula
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlesize": 12.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # nothing stands above an axis: to look for it costs a tenth of a picture
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e7eb",
    "grid.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": True,  # a line behind it leaves the words legible
    "legend.framealpha": 0.7,
    "legend.borderpad": 0.2,
    "legend.edgecolor": "none",
    "lines.linewidth": 1.8,
    "figure.facecolor": "white",
    "figure.dpi": 100.0,
    "savefig.dpi": 160.0,
    "svg.fonttype": "path",
    "svg.hashsalt": "netwright",  # the same figure, the same bytes
}


# Settings of the process, not of a picture: touching them may start a window system.
_OF_THE_PROCESS = frozenset({"backend", "backend_fallback", "interactive", "toolbar", "timezone"})


@contextmanager
def styled() -> Iterator[None]:
    """Within it figures are made and saved in our style; afterwards matplotlib is as it was."""
    import matplotlib  # noqa: PLC0415 - see the head

    # From matplotlib's own defaults, so that a user's style file does not leak in.
    settings: dict[Any, Any] = dict(matplotlib.rcParamsDefault)
    settings.update(STYLE)
    for name in _OF_THE_PROCESS:
        settings.pop(name, None)
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # A class called by a letter that the font lacks is drawn as a box; the table has its name.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure of this many inches, tied to no window and to no global list of figures."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - see the head

    return Figure(figsize=(width, height), layout="constrained")


def log_scale(axes: "Axes", which: Literal["x", "y"]) -> None:
    """A logarithmic axis whose ticks are written 0.001, 0.01, not as formulas.

    One of less than two decades would have a single tick; there 2 and 5 are written too.
    """
    from matplotlib.ticker import FuncFormatter  # noqa: PLC0415 - see the head

    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")

    def within_decades(value: float, _: int | None) -> str:
        low, high = axis.get_view_interval()
        return f"{value:g}" if high < MOST_DETAILED * low and f"{value:e}"[0] in "25" else ""

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(FuncFormatter(within_decades))


def white_to_blue(missing: str = "white") -> "Colormap":
    """From nothing to much; what has no number has the colour `missing`."""
    from matplotlib.colors import LinearSegmentedColormap  # noqa: PLC0415 - see the head

    ends = ["white", COLOURS[0], "#001a33"]
    return LinearSegmentedColormap.from_list("white to blue", ends).with_extremes(bad=missing)


def colour_of(index: int) -> str:
    """The colour of class or series `index`; they repeat after ten."""
    return COLOURS[index % len(COLOURS)]
