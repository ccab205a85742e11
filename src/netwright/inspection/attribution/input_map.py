"""A map over one input: how much each pixel, feature, token or step counts for an answer.

An image is shown beside its map, features are bars by name, a text is its own tokens in colour, a
series has a row for each of its features.

Shapes: one image (channels, I, J) with a map (I, J), F features (F,), T tokens (T,), a series of T
steps (T, F).
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from netwright.core.checks import check_finite
from netwright.core.errors import ShapeError
from netwright.inspection.drawing.figure_style import COLOURS, INK, white_to_blue
from netwright.inspection.drawing.pictures import MOST_PIXELS, Pixels
from netwright.inspection.drawing.text_cells import LETTER, LINE, MONO, Cell, lay_out
from netwright.inspection.drawing.ticks import name_ticks, names_room
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import check_names, number, quoted, short_name, shown_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

Kind = Literal["features", "image", "tokens", "series"]
MOST_BARS, BAR = 20, 0.26  # bars that are shown, and the inches of one
WIDTH, PICTURE = 7.0, 3.0  # inches of a figure, and of a picture in it
LINE_LETTERS, MOST_LETTERS = 64, 24  # of a line of text, and of a token
LIGHT, DARK = (0.21, 0.72, 0.07), 0.5  # what colours add to light, below which letters are white
TABLE_ROWS = 0.24  # inches of a feature of a series


@dataclass(frozen=True, kw_only=True)
class ShownInput:
    """One input, and the answer that is explained by it.

    Args:
        kind: what it is.
        answer: what is explained, 'the class "7"'.
        names: of the features, or the tokens themselves; of an image none.
        pixels: of an image.
    """

    kind: Kind
    answer: str
    names: tuple[str, ...] = ()
    pixels: Pixels | None = None


@dataclass(frozen=True, kw_only=True)
class InputMap(View):
    """The abstract kind: its views say what the numbers mean.

    Args:
        shown: the input.
        values: a number a pixel (I, J), feature (F,), token (T,), or step and feature (T, F).
    """

    shown: ShownInput
    values: tuple[Any, ...]

    @property
    @abstractmethod
    def unit(self) -> str:
        """What a number of the map is."""

    @property
    def is_signed(self) -> bool:
        """Whether the numbers speak for and against the answer."""
        return True

    @property
    def size(self) -> tuple[float, float]:
        """As high as there is to show."""
        match self.shown.kind:
            case "image":
                tall, wide = np.shape(self.values)
                return (WIDTH + 0.6, PICTURE * min(tall / wide, 2.0) + 0.6)
            case "features":
                return (WIDTH, 0.9 + BAR * min(len(self.values), MOST_BARS))
            case "tokens":
                return (LETTER * LINE_LETTERS + 1.2, 1.1 + LINE * (self._cells[-1][0] + 1))
            case "series":
                return (WIDTH + names_room(self.shown.names), 1.4 + TABLE_ROWS * self._num_rows)

    def draw(self, figure: "Figure") -> None:
        """A picture, bars, a text or a table in colour."""
        {
            "image": self._draw_image,
            "features": self._draw_bars,
            "tokens": self._draw_text,
            "series": self._draw_series,
        }[self.shown.kind](figure)

    @property
    def strongest(self) -> str:
        """Where the largest number is, and what it is, in words."""
        values = np.array(self.values)
        place = np.unravel_index(int(np.abs(values).argmax()), values.shape)
        return f"{self._place_name(place)} ({number(float(values[place]))})"

    def _place_name(self, place: tuple[Any, ...]) -> str:
        match self.shown.kind:
            case "image":
                return f"row {place[0]}, column {place[1]}"
            case "series":
                return f"{quoted(self.shown.names[place[1]])}, {self._step_name(int(place[0]))}"
            case "tokens":
                return f"{quoted(self.shown.names[place[0]])} at place {place[0]}"
            case _:
                return quoted(self.shown.names[place[0]])

    def _step_name(self, step: int) -> str:
        before = len(self.values) - 1 - step
        return f"{before} step{'s' * (before > 1)} before the last" if before else "the last step"

    def _colours(self) -> "ScalarMappable":
        """Blue for what speaks for the answer; orange for what speaks against it."""
        from matplotlib.cm import ScalarMappable  # noqa: PLC0415 - matplotlib costs a second
        from matplotlib.colors import LinearSegmentedColormap, Normalize  # noqa: PLC0415

        most = float(np.abs(np.array(self.values)).max()) or 1.0
        if not self.is_signed:
            return ScalarMappable(Normalize(0.0, most), white_to_blue())
        ends = [COLOURS[1], "white", COLOURS[0]]
        return ScalarMappable(
            Normalize(-most, most), LinearSegmentedColormap.from_list("for and against", ends)
        )

    def _draw_image(self, figure: "Figure") -> None:
        left, right = figure.subplots(1, 2)
        left.imshow(np.array(self.shown.pixels, dtype=np.uint8), cmap="gray", vmin=0, vmax=255)
        left.set_title("the image", fontsize=10)
        colours = self._colours()
        right.imshow(colours.to_rgba(np.array(self.values)))
        right.set_title(f"what counts for {self.shown.answer}", fontsize=10)
        for axes in (left, right):
            axes.set(xlabel="column, pixels")
            axes.grid(visible=False)
            axes.spines[:].set_visible(True)
        left.set(ylabel="row, pixels")
        figure.colorbar(colours, ax=right, label=self.unit, shrink=0.85)

    def _draw_bars(self, figure: "Figure") -> None:
        axes, values = figure.subplots(), np.array(self.values)
        order = np.argsort(-np.abs(values), kind="stable")[:MOST_BARS]
        colours = [COLOURS[0] if values[place] >= 0 else COLOURS[1] for place in order]
        axes.barh(range(len(order)), values[order], color=colours)
        axes.set_yticks(range(len(order)), [short_name(self.shown.names[i], 28) for i in order])
        axes.set(xlabel=self.unit, ylim=(len(order) - 0.4, -0.6))
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.grid(visible=False, axis="y")
        many = shown_of(len(order), len(values))
        axes.set_title(f"what counts for {self.shown.answer}: {many} features", fontsize=10)

    def _draw_text(self, figure: "Figure") -> None:
        from matplotlib.patches import Rectangle  # noqa: PLC0415 - matplotlib costs a second

        axes, colours = figure.subplots(), self._colours()
        for value, name, (line, first, width) in zip(
            self.values, self._tokens, self._cells, strict=True
        ):
            colour = colours.to_rgba(value)
            axes.add_patch(Rectangle((first, line + 0.08), width - 0.3, 0.84, color=colour))
            axes.text(
                first + (width - 0.3) / 2,
                line + 0.5,
                name,
                ha="center",
                va="center_baseline",
                family=MONO,
                color="white" if np.dot(colour[:3], LIGHT) < DARK else INK,
            )
        axes.set(xlim=(0, LINE_LETTERS + 1), ylim=(self._cells[-1][0] + 1, 0))
        axes.set_axis_off()
        axes.set_title(f"what counts for {self.shown.answer}", fontsize=10)
        figure.colorbar(
            colours, ax=axes, orientation="horizontal", label=self.unit, aspect=50, shrink=0.7
        )

    def _draw_series(self, figure: "Figure") -> None:
        axes, colours = figure.subplots(), self._colours()
        values: NDArray[np.float64] = np.array(self.values).T  # (F, T)
        steps = values.shape[1]
        axes.imshow(
            colours.to_rgba(values),
            aspect="auto",
            interpolation="none",
            extent=(0.5 - steps, 0.5, len(values) - 0.5, -0.5),
        )
        name_ticks(axes, "y", self.shown.names, TABLE_ROWS * self._num_rows)
        axes.set(xlabel="steps, counted back from the last")
        axes.set_title(f"what counts for {self.shown.answer}", fontsize=10)
        axes.grid(visible=False)
        _whole_steps(axes)
        figure.colorbar(colours, ax=axes, label=self.unit)

    @property
    def _num_rows(self) -> int:
        return min(max(len(self.shown.names), 5), 30)

    @property
    def _tokens(self) -> list[str]:
        return [short_name(name, MOST_LETTERS) for name in self.shown.names]

    @property
    def _cells(self) -> list[Cell]:
        return lay_out(self._tokens, LINE_LETTERS)


def map_values(shown: ShownInput, values: Tensor) -> tuple[Any, ...]:
    """The numbers of a map as a view keeps them; those of a large image in fewer pixels.

    Args:
        shown: the input.
        values: (I, J), (F,), (T,) or (T, F).
    """
    check_finite("the map", values)
    values = values.detach().cpu().double()
    wanted = 2 if shown.kind in {"image", "series"} else 1
    if values.ndim != wanted:
        raise ShapeError(f"a map of {shown.kind} must have {wanted} axes, got {values.ndim}")
    if shown.kind == "image":
        shrink = MOST_PIXELS / max(values.shape)
        if shrink < 1:
            tall, wide = (max(round(shrink * side), 1) for side in values.shape)
            values = functional.adaptive_avg_pool2d(values[None], (tall, wide))[0]
        return _rows(values.tolist())
    check_names("names", shown.names, values.shape[-1])
    return _rows(values.tolist()) if wanted == 2 else tuple(values.tolist())


def _rows(values: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in values)


def _whole_steps(axes: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - matplotlib costs a second

    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
