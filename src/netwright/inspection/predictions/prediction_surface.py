"""The prediction surface: what number a model gives to every place of a plane.

Shapes: N examples, G cells along each side of the plane, M examples that are shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from netwright.core.checks import check_shape
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number, quoted, short_name, shown_of
from netwright.inspection.predictions.plane import PlaneFrame, Predict, Units, sample_plane

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOUR_MAP = "viridis"


@dataclass(frozen=True, kw_only=True)
class PredictionSurface(View):
    """A model's prediction over a plane, with examples in the colour of their true value.

    Args:
        target_name: what is predicted.
        frame: what the axes are.
        predictions: in each cell, (G, G), row by row from below.
        points: where examples fall on the plane, (M, 2).
        point_targets: their true values, (M,).
        num_examples: how many there are; not all may be drawn.
    """

    title: ClassVar[str] = "Prediction surface"

    target_name: str
    frame: PlaneFrame
    predictions: tuple[tuple[float, ...], ...]
    points: tuple[tuple[float, float], ...]
    point_targets: tuple[float, ...]
    num_examples: int

    @property
    def size(self) -> tuple[float, float]:
        """The plane, and the scale of colours beside it."""
        return (6.8, 4.6)

    @property
    def caption(self) -> str:
        """From where to where predictions go, and what the plane is."""
        shown = shown_of(len(self.points), self.num_examples)
        lowest = min(min(row) for row in self.predictions)
        highest = max(max(row) for row in self.predictions)
        return (
            f"The predicted {quoted(self.target_name)} goes from {number(lowest)} to "
            f"{number(highest)} on this plane. Dots are examples ({shown}) in the colour "
            "of their true value: one that stands out from what is behind it is predicted badly"
            f"{', or lies off the plane' if self.frame.is_slice else ''}. {self.frame.description}"
        )

    def draw(self, figure: "Figure") -> None:
        """The surface as one small picture, then examples, on one scale of colours."""
        from matplotlib.colors import Normalize  # noqa: PLC0415 - it costs a second

        values = [value for row in self.predictions for value in row] + list(self.point_targets)
        scale = Normalize(min(values), max(values))
        axes = figure.subplots()
        surface = axes.imshow(
            self.predictions,
            extent=self.frame.extent,
            origin="lower",
            interpolation="none",
            aspect="auto",
            cmap=COLOUR_MAP,
            norm=scale,
        )
        x, y = zip(*self.points, strict=True)
        axes.scatter(
            x,
            y,
            c=self.point_targets,
            s=34,
            cmap=COLOUR_MAP,
            norm=scale,
            edgecolors="white",
            linewidths=0.9,
        )
        axes.set(xlabel=self.frame.x_name, ylabel=self.frame.y_name)
        axes.grid(visible=False)
        figure.colorbar(surface, ax=axes, label=short_name(self.target_name, 40))


def measure_prediction_surface(
    predict: Predict,
    inputs: Tensor,
    targets: Tensor,
    feature_names: Sequence[str],
    target_name: str,
    decode: Units | None = None,
) -> PredictionSurface:
    """Ask a model of one real output about every place of a plane through the inputs.

    Args:
        predict: encoded inputs (B, *shape) -> reals (B, 1).
        inputs: encoded, (N, *shape), of two numbers or more each.
        targets: what is true, (N, 1).
        feature_names: of two features; where there are more, they are not used.
        target_name: what is predicted.
        decode: offset (F,) and scale (F,) that give two features their own units.
    """
    check_shape("targets", targets, len(inputs), 1)
    sample = sample_plane(predict, inputs, feature_names, decode)
    return PredictionSurface(
        target_name=target_name,
        frame=sample.frame,
        predictions=tuple(tuple(row) for row in sample.answers[..., 0].tolist()),
        points=tuple((x, y) for x, y in sample.points.tolist()),
        point_targets=tuple(targets.detach().cpu()[sample.rows, 0].tolist()),
        num_examples=len(inputs),
    )
