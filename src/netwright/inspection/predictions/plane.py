"""A plane through the inputs, and what a model says on it.

Two features are a plane already. Of more, the plane is spanned by the first two principal
components through the mean: a slice, on which every other component is at its mean.

Shapes: N inputs, F numbers in one input, flattened; M inputs that are shown; G = GRID cells along
each side; K answers of the model.
Source: Pearson, "On Lines and Planes of Closest Fit to Systems of Points in Space" (1901).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.core.checks import check_finite, check_shape
from netwright.core.errors import DataError
from netwright.inspection.drawing.shown_rows import shown_rows
from netwright.inspection.drawing.wording import check_names, percent, short_name
from netwright.metrics.samples import check_not_empty

Predict = Callable[[Tensor], Tensor]
Units = tuple[Tensor, Tensor]

GRID = 120
BATCH = 2_048
MARGIN = 0.08  # of the spread of the points, on each side
MOST_POINTS = 400
MOST_ROWS = 1_000  # that the components are found from: more change little and take seconds


@dataclass(frozen=True, kw_only=True)
class PlaneFrame:
    """What the axes of a plane are, as a figure shows them.

    Args:
        x_name: of the horizontal axis.
        y_name: of the vertical axis.
        x_range: its ends.
        y_range: its ends.
        variance_share: how much of the inputs' variance lies in the plane, in [0, 1].
        is_slice: whether there is more to an input than these two numbers.
    """

    x_name: str
    y_name: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    variance_share: float
    is_slice: bool

    @property
    def description(self) -> str:
        """What plane it is, in words."""
        if not self.is_slice:
            return "The plane is that of the two features."
        return (
            "The plane is a slice through the mean of the inputs along their first two principal "
            f"components, which hold {percent(self.variance_share)} of the variance; on it every "
            "other component is at its mean."
        )

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """The ends in matplotlib's order."""
        return (*self.x_range, *self.y_range)

    @property
    def cell_centres(self) -> tuple[list[float], list[float]]:
        """Where the model was asked: x (G,) and y (G,)."""
        return _centres(*self.x_range).tolist(), _centres(*self.y_range).tolist()


@dataclass(frozen=True, kw_only=True)
class PlaneSample:
    """A model's answers on a plane, and some of the inputs around it.

    Args:
        frame: what the axes are.
        answers: of the model on the cells, (G, G, K), row by row from below.
        rows: which inputs are shown, (M,).
        points: where they fall on the plane, in the units of the axes, (M, 2).
        cells: the row and the column of the cell that each falls into, (M, 2).
        predictions: what the model says of them as they are, not as they fall, (M, K).
    """

    frame: PlaneFrame
    answers: Tensor
    rows: Tensor
    points: Tensor
    cells: Tensor
    predictions: Tensor


@dataclass(frozen=True, kw_only=True)
class Plane:
    """Two axes in the space of the inputs.

    Args:
        origin: a point of the plane, (F,).
        axes: at right angles and of length 1, (2, F).
        variance_share: how much of the inputs' variance lies in the plane.
    """

    origin: Tensor
    axes: Tensor
    variance_share: float

    @property
    def is_slice(self) -> bool:
        """Whether the space has more than the plane."""
        return len(self.origin) > 2

    def project(self, flat: Tensor) -> Tensor:
        """Where inputs (N, F) fall on the plane: (N, 2)."""
        return (flat - self.origin) @ self.axes.T

    def lift(self, points: Tensor) -> Tensor:
        """The inputs (M, F) at places (M, 2) on the plane."""
        return self.origin + points @ self.axes


def plane_through(flat: Tensor) -> Plane:
    """The plane of two features, or of the first two principal components of inputs (N, F).

    The sign of an axis is free; its largest number is made positive, so that no picture flips.
    """
    size = flat.shape[1]
    if size < 2:
        raise DataError(f"a plane needs inputs of 2 numbers or more, got {size}")
    if size == 2:
        return Plane(origin=flat.new_zeros(2), axes=torch.eye(2).to(flat), variance_share=1.0)
    origin = flat.mean(dim=0)
    centred = flat[shown_rows(len(flat), MOST_ROWS)] - origin
    axes = _components(centred)
    axes = axes * axes.gather(1, axes.abs().argmax(dim=1, keepdim=True)).sign()
    total = float(centred.square().sum())
    share = float((centred @ axes.T).square().sum()) / total if total > 0 else 0.0
    return Plane(origin=origin, axes=axes, variance_share=share)


def sample_plane(
    predict: Predict, inputs: Tensor, feature_names: Sequence[str], decode: Units | None = None
) -> PlaneSample:
    """Ask a model on a grid over the plane of the inputs, and about some of the inputs.

    Args:
        predict: encoded inputs (B, *shape) -> answers (B, K).
        inputs: encoded, (N, *shape).
        feature_names: of two features; where there are more, they are not used.
        decode: offset (F,) and scale (F,) that give two features their own units.
    """
    check_not_empty("inputs", inputs)
    flat = inputs.detach().cpu().flatten(1).double()
    plane = plane_through(flat)
    if not plane.is_slice:
        check_names("feature_names", feature_names, 2)
    rows = shown_rows(len(flat), MOST_POINTS)
    low, high = _window(plane.project(flat))
    points = plane.project(flat[rows])
    # The first of a product runs slowest: y does, so that cells come row by row.
    grid = torch.cartesian_prod(_centres(low[1], high[1]), _centres(low[0], high[0])).flip(1)
    return PlaneSample(
        frame=_frame(plane, low, high, feature_names, decode),
        answers=_ask(predict, plane.lift(grid), inputs).view(GRID, GRID, -1),
        rows=rows,
        points=points if plane.is_slice else _in_units(points, decode),
        cells=((points - low) / (high - low) * GRID).long().clamp(0, GRID - 1).flip(1),
        predictions=_ask(predict, flat[rows], inputs),
    )


def _components(centred: Tensor) -> Tensor:
    """The first two principal axes (2, F) of centred rows, by the smaller of X^T X and X X^T."""
    rows, size = centred.shape
    if rows >= size:
        axes: Tensor = torch.linalg.eigh(centred.T @ centred)[1]  # (F, F), the least comes first
        return axes[:, [-1, -2]].T
    centred = torch.cat((centred, centred.new_zeros(1, size)))  # two rows even where there is one
    weights: Tensor = torch.linalg.eigh(centred @ centred.T)[1]
    # QR gives length 1, and some second axis where the rows lie on a line.
    axes = torch.linalg.qr(centred.T @ weights[:, [-1, -2]])[0]  # (F, 2)
    return axes.T


def _window(points: Tensor) -> tuple[Tensor, Tensor]:
    """The lower left and the upper right corner (2,) of a window with all points (N, 2) in it."""
    low, high = points.amin(dim=0), points.amax(dim=0)
    spread = high - low
    # An axis without spread (but for rounding) takes that of the other; a single point has 1.
    widest = spread.max()
    spread = spread.where(spread > 1e-9 * widest, widest if widest > 0 else 1.0)
    middle = (low + high) / 2
    half = spread * (0.5 + MARGIN)
    return middle - half, middle + half


def _centres(low: float | Tensor, high: float | Tensor) -> Tensor:
    """The middles (G,) of the cells between two ends."""
    steps = (torch.arange(GRID, dtype=torch.float64) + 0.5) / GRID
    return low + (high - low) * steps


def _ask(predict: Predict, flat: Tensor, like: Tensor) -> Tensor:
    """The model's answers (M, K) to inputs (M, F), which it gets in the shape that it knows."""
    shaped = flat.view(-1, *like.shape[1:]).to(like)
    with torch.no_grad():
        answers = torch.cat([predict(part).cpu() for part in torch.split(shaped, BATCH)]).double()
    check_shape("answers", answers, len(flat), "K")
    check_finite("answers", answers)
    return answers


def _in_units(points: Tensor, decode: Units | None) -> Tensor:
    """Places (..., 2) on the plane of two features, in the features' own units."""
    if decode is None:
        return points
    offset, scale = decode
    return points * scale.cpu() + offset.cpu()


def _frame(
    plane: Plane, low: Tensor, high: Tensor, feature_names: Sequence[str], decode: Units | None
) -> PlaneFrame:
    names = ("principal component 1", "principal component 2")
    if not plane.is_slice:
        names = (short_name(feature_names[0], 40), short_name(feature_names[1], 30))
        low, high = _in_units(low, decode), _in_units(high, decode)
    return PlaneFrame(
        x_name=names[0],
        y_name=names[1],
        x_range=(float(low[0]), float(high[0])),
        y_range=(float(low[1]), float(high[1])),
        variance_share=plane.variance_share,
        is_slice=plane.is_slice,
    )
