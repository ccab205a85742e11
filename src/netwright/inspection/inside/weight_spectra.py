r"""Weight spectra: the singular values of every weight matrix beside those of pure noise.

A matrix (n, m), n <= m, of independent entries with standard deviation s has singular values
between s (sqrt(m) - sqrt(n)) and s (sqrt(m) + sqrt(n)) (the law of Marchenko and Pastur), and the
largest strays by little (Tracy and Widom). What learning has put into the weights stands out above.

    edge = s sqrt(mu + 2.02 w),   mu = (sqrt(m - 1) + sqrt(n))^2,
    w = (sqrt(m - 1) + sqrt(n)) (1 / sqrt(m - 1) + 1 / sqrt(n))^(1/3)

of 100 random matrices, 99 stay below the edge. A convolution (O, C, k, k) is read as (O, C k k).

Shapes: n and m, the smaller and the larger side of a matrix.
Source: Marchenko and Pastur, "Distribution of Eigenvalues for Some Sets of Random Matrices" (1967);
Johnstone, "On the Distribution of the Largest Eigenvalue in Principal Components Analysis" (2001);
Martin and Mahoney, "Implicit Self-Regularization in Deep Neural Networks" (2021).
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from netwright.core.checks import check_finite
from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import COLOURS, FAINT, MOST_DETAILED
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number, quoted
from netwright.inspection.inside.watched_layers import layer_name, spread_evenly

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

MOST_PANELS, COLUMNS = 12, 4
MOST_SIDE = 2_048  # of n: the work grows with its cube
MOST_DRAWN = 100  # of the values of a matrix
RARELY = 2.0234  # the Tracy-Widom law (of real matrices) lies below it in 99 of 100 cases
NOTHING = 1e-7  # beside the largest: squared, it is what rounding leaves of zero
LOWEST = 1e-3  # beside the largest: less is not drawn


@dataclass(frozen=True, kw_only=True)
class WeightSpectrum:
    """One matrix.

    Args:
        name: of the parameter.
        shape: rows and columns.
        values: all n singular values, from large to small.
        spread: the standard deviation s of its entries.
    """

    name: str
    shape: tuple[int, int]
    values: tuple[float, ...]
    spread: float

    @property
    def edge(self) -> float:
        """What the largest singular value of noise hardly ever exceeds."""
        return self.spread * noise_edge(self.shape)

    @property
    def standing_out(self) -> int:
        """How many values lie above the edge; none of a matrix whose entries are all the same."""
        return sum(value > self.edge > 0 for value in self.values)

    @property
    def lift(self) -> float:
        """How many times as high as the edge the largest value is; 0 where there is no edge."""
        return self.values[0] / self.edge if self.edge else 0.0

    @property
    def stable_rank(self) -> float:
        """||W||_F^2 / ||W||_2^2: how many directions as strong as the first it amounts to."""
        squares = [value**2 for value in self.values]
        return sum(squares) / squares[0] if squares[0] else 0.0

    @property
    def condition(self) -> float | None:
        """The largest over the smallest singular value; None where the smallest is nothing."""
        largest, smallest = self.values[0], self.values[-1]
        return largest / smallest if smallest > NOTHING * largest else None


@dataclass(frozen=True, kw_only=True)
class WeightSpectra(View):
    """The singular values of a model's matrices.

    Args:
        matrices: those measured, from the first to the last.
        total: how many the model has.
        too_large: the names of those left out, since their smaller side is too large.
    """

    title: ClassVar[str] = "Weight spectra"

    matrices: tuple[WeightSpectrum, ...]
    total: int
    too_large: tuple[str, ...]

    @property
    def size(self) -> tuple[float, float]:
        """A panel a matrix, four in a row."""
        columns, rows = self._grid
        return (2.7 * columns + 0.8, 2.3 * rows + 0.9)

    @property
    def clearest(self) -> WeightSpectrum:
        """The matrix of which most stands out, measured by its largest value."""
        return max(self.matrices, key=lambda one: one.lift)

    @property
    def caption(self) -> str:
        """What stands out where, and how to read a panel."""
        one = self.clearest
        found = (
            f"Learned structure stands out from noise most clearly in {quoted(one.name)}: "
            f"{one.standing_out:,} of its {len(one.values):,} singular values lie above what a "
            f"random matrix of the same shape and spread would have, the largest "
            f"{number(one.lift)} times as high; its stable rank is "
            f"{number(one.stable_rank)}."
            if one.standing_out
            else "No matrix stands out from noise: by its singular values each could be random."
        )
        few = ""
        if len(self.matrices) + len(self.too_large) < self.total:
            few = f" {len(self.matrices)} of {self.total} matrices are shown."
        if self.too_large:
            few += f" Too large to measure: {', '.join(map(quoted, self.too_large))}."
        return (
            f"{found} Each panel shows the singular values of one weight matrix, from large to "
            "small, both axes logarithmic; grey is the random matrix, and the dashed line the edge "
            f"that 99 of 100 random ones stay below.{few}"
        )

    def table_rows(self) -> list[dict[str, str]]:
        """One row a matrix, for a page or a terminal."""
        return [
            {
                "matrix": one.name,
                "shape": f"{one.shape[0]:,} x {one.shape[1]:,}",
                "largest": number(one.values[0]),
                "edge of noise": number(one.edge),
                "above it": f"{one.standing_out:,} of {len(one.values):,}",
                "stable rank": number(one.stable_rank),
                "condition": "infinite" if one.condition is None else number(one.condition),
            }
            for one in self.matrices
        ]

    def draw(self, figure: "Figure") -> None:
        """A panel a matrix."""
        columns, rows = self._grid
        panels = list(figure.subplots(rows, columns, squeeze=False).flat)
        for one, axes in zip(self.matrices, panels, strict=False):
            _draw_spectrum(axes, one)
        for axes in panels[len(self.matrices) :]:
            axes.set_axis_off()
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), fontsize=9)
        figure.supxlabel("place, from large to small", fontsize=10)
        figure.supylabel("singular value", fontsize=10)

    @property
    def _grid(self) -> tuple[int, int]:
        """Panels in a row, and rows."""
        columns = min(len(self.matrices), COLUMNS)
        return columns, math.ceil(len(self.matrices) / columns)


def _draw_spectrum(axes: "Axes", one: WeightSpectrum) -> None:
    values = np.array(one.values)
    places = np.unique(np.geomspace(1, len(values), MOST_DRAWN).round().astype(int))
    noise = one.spread * noise_values(one.shape)
    axes.plot(places, noise[places - 1], color=FAINT, linewidth=1.2, label="random matrix")
    axes.axhline(one.edge, color=FAINT, linestyle="--", linewidth=1.2, label="edge of noise")
    out = places[values[places - 1] > one.edge]
    inside = places[values[places - 1] <= one.edge]
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 3.5}
    axes.plot(out, values[out - 1], color=COLOURS[1], label="stands out", **look)
    axes.plot(inside, values[inside - 1], color=COLOURS[0], label="within noise", **look)
    axes.loglog()
    axes.set_xlim(0.8, 1.25 * len(values))
    top = max(values[0], one.edge) or 1.0  # a matrix of zeros has an empty panel
    low = max(min(values[-1], noise[-1]), LOWEST * top)
    axes.set_ylim(low / 1.3, 1.3 * top)
    _write_few_ticks(axes.xaxis)
    _write_few_ticks(axes.yaxis)
    rows, columns = one.shape
    axes.set_title(
        f"{layer_name(one.name)}\n{rows:,} x {columns:,}, {one.standing_out:,} stand out",
        fontsize=9,
    )


def _write_few_ticks(axis: "Axis") -> None:
    """1, 10, 100, or 2 and 5 as well, or all digits: ten a decade take seconds to lay out."""
    low, high = axis.get_view_interval()
    within = range(1, 10) if high < 3 * low else (1, 2, 5) if high < MOST_DETAILED * low else (1,)
    decades = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    ticks = [one * 10.0**decade for decade in decades for one in within]
    ticks = [tick for tick in ticks if low <= tick <= high]
    axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_ticks([], minor=True)


def measure_weight_spectra(model: nn.Module) -> WeightSpectra:
    """The spectra of a model's matrices, or of some of them, evenly spread over all.

    Args:
        model: any module with at least one matrix of two rows and two columns.
    """
    matrices = weight_matrices(model)
    if not matrices:
        raise DataError("the model has no weight matrix with at least two rows and two columns")
    small = {name: one for name, one in matrices.items() if min(one.shape) <= MOST_SIDE}
    if not small:
        raise DataError(
            f"a weight matrix must have a side of at most {MOST_SIDE:,} for its singular values, "
            f"got {tuple(next(iter(matrices.values())).shape)}"
        )
    shown = spread_evenly(list(small), MOST_PANELS)
    return WeightSpectra(
        matrices=tuple(_spectrum(name, small[name]) for name in shown),
        total=len(matrices),
        too_large=tuple(name for name in matrices if name not in small),
    )


def weight_matrices(model: nn.Module) -> dict[str, Tensor]:
    """The weights of a model as matrices, by name: all but vectors and single rows or columns."""
    flat = {name: one.detach().flatten(1) for name, one in model.named_parameters() if one.ndim > 1}
    return {name: one for name, one in flat.items() if min(one.shape) > 1}


def _spectrum(name: str, matrix: Tensor) -> WeightSpectrum:
    """By the eigenvalues of W W^T: several times as fast as W's own decomposition."""
    check_finite(name, matrix)
    matrix = matrix.double()
    rows, columns = matrix.shape
    narrow = matrix if rows <= columns else matrix.T
    squares = torch.linalg.eigvalsh(narrow @ narrow.T).flip(0).clamp(min=0)
    return WeightSpectrum(
        name=name,
        shape=(rows, columns),
        values=tuple(squares.sqrt().tolist()),
        spread=float(matrix.std(correction=0)),
    )


def noise_edge(shape: tuple[int, int]) -> float:
    """The singular value that 99 of 100 matrices of independent N(0, 1) entries stay below."""
    n, m = min(shape), max(shape)
    width = math.sqrt(m - 1) + math.sqrt(n)
    wander = width * (1 / math.sqrt(m - 1) + 1 / math.sqrt(n)) ** (1 / 3)
    return math.sqrt(width**2 + RARELY * wander)


def noise_values(shape: tuple[int, int]) -> np.ndarray:
    """The singular values (n,) of a large N(0, 1) matrix, from large to small.

    Their density is that of Marchenko and Pastur, sqrt((b^2 - v^2) (v^2 - a^2)) / v between
    a = sqrt(m) - sqrt(n) and b = sqrt(m) + sqrt(n), here cut into n equal shares.
    """
    n, m = min(shape), max(shape)
    low, high = math.sqrt(m) - math.sqrt(n), math.sqrt(m) + math.sqrt(n)
    grid = np.linspace(low, high, 2_001)
    middle = (grid[1:] + grid[:-1]) / 2
    density = np.sqrt((high**2 - middle**2) * (middle**2 - low**2)) / middle
    share = np.concatenate(([0.0], np.cumsum(density) / density.sum()))
    return np.interp((np.arange(n, 0, -1) - 0.5) / n, share, grid)
