"""The fitted curve: what a model of one feature has learned, drawn through its examples.

Shapes: N examples, M of them shown, S places along the curve.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from netwright.core.checks import check_finite, check_shape
from netwright.inspection.drawing.figure_style import COLOURS
from netwright.inspection.drawing.shown_rows import dot_size, shown_rows
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number, quoted, short_name, shown_of
from netwright.inspection.predictions.plane import Predict, Units
from netwright.metrics.regression import rmse
from netwright.metrics.samples import check_not_empty

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACES = 300
MOST_POINTS = 2_000
MARGIN = 0.05  # of the spread of the examples, on each side


@dataclass(frozen=True, kw_only=True)
class FittedCurve(View):
    """The examples, and the curve of the model.

    Args:
        feature_name: of the horizontal axis.
        target_name: of the vertical axis.
        points: examples (x, y), (M, 2).
        curve: places (x, prediction) from left to right, (S, 2).
        rmse: the root of the mean squared error on all examples.
        num_examples: how many there are; not all may be drawn.
    """

    title: ClassVar[str] = "Fitted curve"

    feature_name: str
    target_name: str
    points: tuple[tuple[float, float], ...]
    curve: tuple[tuple[float, float], ...]
    rmse: float
    num_examples: int

    @property
    def caption(self) -> str:
        """How far the curve is from the examples."""
        shown = shown_of(len(self.points), self.num_examples)
        return (
            f"The line is the model's prediction, dots are examples ({shown}). It misses "
            f"{quoted(self.target_name)} by {number(self.rmse)} (root mean square). The line "
            f"extends a little beyond the examples on both sides, where it is extrapolation."
        )

    def draw(self, figure: "Figure") -> None:
        """Dots, and the line over them."""
        axes = figure.subplots()
        x, y = zip(*self.points, strict=True)
        axes.scatter(
            x,
            y,
            s=dot_size(len(x)),
            alpha=0.6,
            color=COLOURS[0],
            linewidths=0,
            label="examples",
            rasterized=True,
        )
        axes.plot(*zip(*self.curve, strict=True), color=COLOURS[1], linewidth=2.4, label="model")
        axes.set(xlabel=short_name(self.feature_name, 40), ylabel=short_name(self.target_name, 30))
        axes.legend()


def measure_fitted_curve(
    predict: Predict,
    inputs: Tensor,
    targets: Tensor,
    feature_name: str,
    target_name: str,
    decode: Units | None = None,
) -> FittedCurve:
    """Ask a model of one feature and one real along the range of its examples.

    Args:
        predict: encoded inputs (B, 1) -> reals (B, 1).
        inputs: encoded, (N, 1).
        targets: what is true, (N, 1).
        feature_name: of the input.
        target_name: of the output.
        decode: offset (1,) and scale (1,) that give the feature its own units.
    """
    check_shape("inputs", inputs, "N", 1)
    check_not_empty("inputs", inputs)
    check_shape("targets", targets, len(inputs), 1)
    flat = inputs.detach().cpu().double()
    low, high = flat.aminmax()
    pad = MARGIN * (high - low if high > low else 1.0)
    places = torch.linspace(low - pad, high + pad, PLACES, dtype=torch.float64)[:, None]
    with torch.no_grad():
        curve, at_examples = predict(places.to(inputs)).cpu(), predict(inputs).cpu()
    check_finite("predictions", curve)
    offset, scale = (0.0, 1.0) if decode is None else (part.cpu() for part in decode)
    shown = shown_rows(len(flat), MOST_POINTS)
    true = targets.detach().cpu()
    return FittedCurve(
        feature_name=feature_name,
        target_name=target_name,
        points=_pairs(flat[shown] * scale + offset, true[shown]),
        curve=_pairs(places * scale + offset, curve),
        rmse=rmse(at_examples, true),
        num_examples=len(flat),
    )


def _pairs(x: Tensor, y: Tensor) -> tuple[tuple[float, float], ...]:
    return tuple(zip(x[:, 0].tolist(), y[:, 0].tolist(), strict=True))
