"""Decision regions: what class a model gives to every place of a plane, and how surely.

The boundary is where the likeliest class changes: where the margin, the lead of the likeliest class
over the next, falls to 0. Where a threshold decides between two classes, it is where the
probability of the second crosses it.

Shapes: N examples, C classes, G cells along each side of the plane, M examples that are shown.
Source: Bishop, "Pattern Recognition and Machine Learning" (2006), section 1.5.
"""

import colorsys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.inspection.drawing.figure_style import COLOURS, INK, SMALL
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import (
    check_names,
    check_several_classes,
    legend_name,
    percent,
    short_name,
    shown_of,
)
from netwright.inspection.predictions.decided import decide, threshold_words
from netwright.inspection.predictions.plane import PlaneFrame, Predict, Units, sample_plane
from netwright.metrics.samples import check_classes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_IN_LEGEND = 20
LEAST_AGREEMENT = 0.6  # below it a slice says little about the examples
PALEST, DARKEST = 0.1, 0.5  # how much colour a cell has where the model guesses, and where sure
DOT: dict[str, Any] = {"s": 22, "edgecolors": "white", "linewidths": 0.6, "zorder": 3}
RING: dict[str, Any] = {
    "s": 62,
    "facecolors": "none",
    "edgecolors": INK,
    "linewidths": 1.2,
    "zorder": 4,
}


@dataclass(frozen=True, kw_only=True)
class DecisionRegions(View):
    """The class and the confidence of a model over a plane, with examples on it.

    Args:
        class_names: C of them.
        frame: what the axes are.
        classes: the predicted class of each cell, (G, G), row by row from below.
        confidence: its probability, (G, G).
        margin: its lead over the next class, or its distance from the threshold, (G, G).
        points: where examples fall on the plane, (M, 2).
        point_classes: their true classes, (M,).
        point_is_wrong: whether the model, given the whole example, gets it wrong, (M,).
        agreement: the share of the points whose cell has the class that the model gives them.
        num_examples: how many there are; not all may be drawn.
        threshold_note: what decides between two classes, where it is not the larger probability.
    """

    title: ClassVar[str] = "Decision regions"

    class_names: tuple[str, ...]
    frame: PlaneFrame
    classes: tuple[tuple[int, ...], ...]
    confidence: tuple[tuple[float, ...], ...]
    margin: tuple[tuple[float, ...], ...]
    points: tuple[tuple[float, float], ...]
    point_classes: tuple[int, ...]
    point_is_wrong: tuple[bool, ...]
    agreement: float
    num_examples: int
    threshold_note: str = ""

    @property
    def size(self) -> tuple[float, float]:
        """The plane, and the names of the classes beside it."""
        return (6.8, 4.6)

    @property
    def caption(self) -> str:
        """How many of the shown examples are wrong, and what the plane is."""
        shown = shown_of(len(self.points), self.num_examples)
        warning, note = self._slice_words
        return (
            f"{warning}Each point has the colour of the predicted class, the stronger the more "
            f"likely; lines are decision boundaries.{self.threshold_note} Dots are examples "
            f"({shown}) in the colour of their true class; a ring marks those that the model gets "
            f"wrong ({sum(self.point_is_wrong)}). "
            f"{self.frame.description}{note}"
        )

    def draw(self, figure: "Figure") -> None:
        """Regions as one small picture, then boundaries, then examples."""
        axes = figure.subplots()
        colours = class_colours(len(self.class_names))
        axes.imshow(
            self._raster(colours),
            extent=self.frame.extent,
            origin="lower",
            interpolation="none",
            aspect="auto",
        )
        self._draw_boundaries(axes)
        self._draw_points(axes, colours)
        axes.set(xlabel=self.frame.x_name, ylabel=self.frame.y_name)
        axes.grid(visible=False)
        if len(self.class_names) <= MOST_IN_LEGEND:
            figure.legend(loc="outside right upper", fontsize=SMALL, markerscale=1.4)

    @property
    def _slice_words(self) -> tuple[str, str]:
        """What comes first where a slice misleads, and what comes last of any slice."""
        if not self.frame.is_slice:
            return "", ""
        note = (
            " Examples lie off the slice, so their own predictions may differ from the colour "
            "behind them"
        )
        if self.agreement >= LEAST_AGREEMENT:
            return "", f"{note}; they agree for {percent(self.agreement)}."
        warning = (
            f"This slice agrees with the model's predictions for only {percent(self.agreement)} of "
            "the examples: it shows the space near the mean, not where the examples lie. "
        )
        return warning, f"{note}."

    def _raster(self, colours: NDArray[np.float64]) -> NDArray[np.float64]:
        """(G, G, 3): the colour of the class, on white."""
        chance = 1 / len(self.class_names)
        surety = (np.array(self.confidence) - chance) / (1 - chance)
        strength = PALEST + (DARKEST - PALEST) * surety.clip(0, 1)[:, :, None]
        raster: NDArray[np.float64] = 1 - strength * (1 - colours[np.array(self.classes)])
        return raster

    def _draw_boundaries(self, axes: "Axes") -> None:
        classes, margin = np.array(self.classes), np.array(self.margin)
        present = np.unique(classes)
        # Of two regions one line is both their boundaries.
        for index in present[1:]:
            lead = np.where(classes == index, margin, -margin)
            axes.contour(*self.frame.cell_centres, lead, levels=[0], colors=INK, linewidths=1.1)

    def _draw_points(self, axes: "Axes", colours: NDArray[np.float64]) -> None:
        """All classes in one go, so that none covers the others."""
        places = np.array(self.points)
        axes.scatter(places[:, 0], places[:, 1], c=colours[list(self.point_classes)], **DOT)
        for name, colour in zip(self.class_names, colours, strict=True):
            axes.scatter([], [], color=[colour], label=legend_name(name), **DOT)
        wrong = places[list(self.point_is_wrong)]
        if len(wrong):
            axes.scatter(wrong[:, 0], wrong[:, 1], label="wrong", **RING)


def measure_decision_regions(
    predict: Predict,
    inputs: Tensor,
    targets: Tensor,
    class_names: Sequence[str],
    feature_names: Sequence[str],
    decode: Units | None = None,
    threshold: float | None = None,
) -> DecisionRegions:
    """Ask a classifier about every place of a plane through the inputs.

    Args:
        predict: encoded inputs (B, *shape) -> probabilities (B, C).
        inputs: encoded, (N, *shape), of two numbers or more each.
        targets: the true classes, int64 (N,).
        class_names: C names.
        feature_names: of two features; where there are more, they are not used.
        decode: offset (F,) and scale (F,) that give two features their own units.
        threshold: of two classes, the probability above which the second is predicted.
    """
    check_shape("targets", targets, len(inputs))
    check_classes("targets", targets, len(class_names))
    sample = sample_plane(predict, inputs, feature_names, decode)
    check_names("class_names", class_names, sample.answers.shape[-1])
    check_several_classes(class_names)
    classes, lead, _ = decide(sample.answers, threshold)  # (G, G) each
    confidence = sample.answers.gather(-1, classes[..., None])[..., 0]
    said, true = decide(sample.predictions, threshold).classes, targets.cpu()[sample.rows]
    on_plane = classes[sample.cells[:, 0], sample.cells[:, 1]]
    return DecisionRegions(
        class_names=tuple(class_names),
        frame=sample.frame,
        classes=_rows(classes),
        confidence=_rows(confidence),
        margin=_rows(lead),
        points=_rows(sample.points),
        point_classes=tuple(true.tolist()),
        point_is_wrong=tuple((said != true).tolist()),
        agreement=(on_plane == said).double().mean().item(),
        num_examples=len(inputs),
        threshold_note=threshold_words(threshold, short_name(class_names[1])),
    )


def class_colours(count: int) -> NDArray[np.float64]:
    """A colour for each of `count` classes, (C, 3): ours, and evenly turned hues beyond ten."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415 - it costs a second

    if count <= len(COLOURS):
        return np.array([to_rgb(colour) for colour in COLOURS[:count]])
    return np.array(
        [colorsys.hls_to_rgb(place / count, (0.34, 0.5)[place % 2], 0.7) for place in range(count)]
    )


def _rows(values: Tensor) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in values.tolist())
