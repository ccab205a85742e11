"""What every threshold would give: the ROC curve, and precision against recall.

A class is called where its probability is at least a threshold. As the threshold falls,

    recall = hits / positives,  false positive rate = wrongly called / negatives,
    precision = hits / called

The area under the ROC curve is the chance that a positive scores above a negative; the average
precision is the area under the steps of the other curve. Of two classes the second is called, of
more each against the rest. Classes that have no example with a weight, or all of them, have no
curve.

Shapes: N examples, C classes, P points of a curve.
Source: Fawcett, "An Introduction to ROC Analysis" (2006); Davis and Goadrich, "The Relationship
between Precision-Recall and ROC Curves" (2006).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import FAINT, INK
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import check_names, legend_name, percent, short_name
from netwright.inspection.predictions.decision_regions import class_colours
from netwright.metrics.labels import THRESHOLD
from netwright.metrics.samples import check_class_samples, check_probabilities

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_CURVES = 6  # the classes with the most examples
MOST_POINTS = 1000  # of a curve that are drawn


@dataclass(frozen=True, kw_only=True)
class ThresholdCurve:
    """One class at every threshold, from the highest to the lowest.

    Args:
        name: of the class.
        place: of the class among all classes, from 0.
        base_rate: its share of the examples.
        area: under the ROC curve.
        average_precision: of the other one.
        false_alarms: share of the negatives that are called (P,); it begins at 0.
        recall: share of the positives that are called (P,); it begins at 0.
        precision: share of what is called that is right (P,); at the first point nothing is.
        usual: false alarms, recall and precision at the threshold; None: nothing is called there.
    """

    name: str
    place: int
    base_rate: float
    area: float
    average_precision: float
    false_alarms: tuple[float, ...]
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    usual: tuple[float, float, float] | None


@dataclass(frozen=True, kw_only=True)
class ThresholdCurves(View):
    """ROC and precision-recall curves.

    Args:
        curves: of the second of two classes, or of the commonest of more.
        num_classes: how many there are, drawn or not.
        left_out: classes that are not drawn.
        threshold: the probability whose points are marked.
    """

    title: ClassVar[str] = "Every threshold"

    curves: tuple[ThresholdCurve, ...]
    num_classes: int
    left_out: int = 0
    threshold: float = THRESHOLD

    @property
    def size(self) -> tuple[float, float]:
        """Two squares."""
        return (9.0, 4.4)

    @property
    def caption(self) -> str:
        """How to read both curves, with the areas."""
        read = (
            "Left, at every threshold: recall, the share of the positives that is found, against "
            "the share of the negatives that is called positive; a guess lies on the dashed line. "
            "Right: precision, how much of what is called positive is so, against recall; the "
            "dotted line is the share of the positives. "
        )
        at = f"{self.threshold:.3g}"
        if len(self.curves) > 1:
            shown = "each class against the rest"
            gone = f"; {self.left_out} classes are not drawn" if self.left_out else ""
            return f"{read}The curves are of {shown}{gone}; points are at probability {at}."
        (curve,) = self.curves
        said = (
            f"{read}The area under the ROC curve is {curve.area:.3f}, the average precision "
            f"{curve.average_precision:.3f}. "
        )
        if curve.usual is None:
            return f"{said}At probability {at} nothing is called {short_name(curve.name)}."
        alarms, recall, precision = curve.usual
        return (
            f"{said}At probability {at}, the points, {percent(recall)} of {short_name(curve.name)} "
            f"is found with {percent(alarms)} false positives, and {percent(precision)} of what is "
            f"called so is right. netwright predict --threshold takes another."
        )

    def table_rows(self) -> list[dict[str, str]]:
        """Both areas of each class."""
        return [
            {
                "class": curve.name,
                "ROC-AUC": f"{curve.area:.4f}",
                "average precision": f"{curve.average_precision:.4f}",
                "share": percent(curve.base_rate),
            }
            for curve in self.curves
        ]

    def draw(self, figure: "Figure") -> None:
        """The ROC curves on the left, precision against recall on the right."""
        roc, precision = figure.subplots(1, 2)
        roc.plot((0, 1), (0, 1), color=FAINT, linestyle="--", linewidth=1.2)
        colours = class_colours(self.num_classes)  # that these classes have in other pictures
        for curve in self.curves:
            colour = colours[curve.place]
            style = {"color": colour, "linewidth": 1.8, "clip_on": False}
            roc.plot(curve.false_alarms, curve.recall, label=legend_name(curve.name), **style)
            up_to = (curve.precision[1], *curve.precision[1:])  # as good as the first that is found
            precision.step(curve.recall, up_to, where="pre", **style)
            precision.axhline(curve.base_rate, color=colour, linestyle=":", linewidth=1.2)
            if curve.usual is not None:
                alarms, recall, right = curve.usual
                dot = {"color": colour, "markeredgecolor": INK, "zorder": 5, "clip_on": False}
                roc.plot([alarms], [recall], marker="o", **dot)
                precision.plot([recall], [right], marker="o", **dot)
        _name(roc, "ROC curve", "false positive rate", "recall (true positive rate)")
        _name(precision, "precision-recall curve", "recall", "precision")
        if len(self.curves) > 1:
            roc.legend(loc="lower right")


def _name(axes: "Axes", title: str, across: str, up: str) -> None:
    axes.set(xlim=(0, 1), ylim=(0, 1.02), title=title, xlabel=across, ylabel=up)


def has_both_sides(targets: Tensor, classes: int, weights: Tensor | None = None) -> bool:
    """Whether some class has positives and negatives that count."""
    return any(_sides(targets, place, weights) for place in range(classes))


def measure_threshold_curves(
    targets: Tensor,
    probabilities: Tensor,
    class_names: Sequence[str],
    weights: Tensor | None = None,
    *,
    threshold: float = THRESHOLD,
) -> ThresholdCurves:
    """The curves of the second of two classes, or of each of more.

    Args:
        targets: the true classes, int64 (N,).
        probabilities: (N, C).
        class_names: C of them.
        weights: how much each example counts, (N,).
        threshold: the probability whose points are marked.
    """
    check_class_samples("probabilities", probabilities, targets, weights)
    check_probabilities(probabilities)
    classes = probabilities.shape[1]
    check_names("class_names", class_names, classes)
    exact, targets = probabilities.detach().cpu().double(), targets.cpu()
    counted = torch.ones(len(targets)) if weights is None else weights.detach().cpu()
    places = [1] if classes == 2 else range(classes)
    told = [place for place in places if _sides(targets, place, counted)]
    if not told:
        raise DataError("threshold curves need a class with examples and examples of other classes")
    told.sort(key=lambda place: -float(counted[targets == place].sum()))
    drawn = sorted(told[:MOST_CURVES])
    return ThresholdCurves(
        curves=tuple(
            _curve(
                class_names[place],
                place,
                exact[:, place],
                targets == place,
                counted.double(),
                threshold,
            )
            for place in drawn
        ),
        num_classes=classes,
        left_out=len(places) - len(drawn),
        threshold=threshold,
    )


def _sides(targets: Tensor, place: int, weights: Tensor | None) -> bool:
    is_one = targets == place
    counted = torch.ones_like(is_one) if weights is None else weights.to(targets.device) > 0
    return bool((is_one & counted).any()) and bool((~is_one & counted).any())


def _curve(
    name: str, place: int, scores: Tensor, is_one: Tensor, weights: Tensor, threshold: float
) -> ThresholdCurve:
    kept = weights > 0  # others would be points at which nothing is called
    scores, is_one, weights = scores[kept], is_one[kept], weights[kept]
    scores, order = scores.sort(descending=True)
    hits, alarms = (
        torch.where(side[order], weights[order], 0.0).cumsum(0) for side in (is_one, ~is_one)
    )
    is_last = torch.cat((scores[1:] != scores[:-1], torch.tensor([True])))  # of equal scores
    scores, hits, alarms = scores[is_last], hits[is_last], alarms[is_last]
    recall, false_alarms, precision = hits / hits[-1], alarms / alarms[-1], hits / (hits + alarms)
    zero = torch.zeros(1, dtype=torch.float64)
    steps = torch.diff(recall, prepend=zero)
    called = int((scores >= threshold).sum())
    rows = torch.stack((false_alarms, recall, precision), dim=1)  # (P, 3)
    drawn = torch.cat((torch.tensor([[0.0, 0.0, 1.0]]), _thinned(rows)))
    return ThresholdCurve(
        name=name,
        place=place,
        base_rate=float(hits[-1] / (hits[-1] + alarms[-1])),
        area=float(torch.trapezoid(torch.cat((zero, recall)), torch.cat((zero, false_alarms)))),
        average_precision=float((steps * precision).sum()),
        false_alarms=tuple(drawn[:, 0].tolist()),
        recall=tuple(drawn[:, 1].tolist()),
        precision=tuple(drawn[:, 2].tolist()),
        usual=None if not called else tuple(rows[called - 1].tolist()),
    )


def _thinned(rows: Tensor) -> Tensor:
    """At most so many of the points, with the first and the last."""
    if len(rows) <= MOST_POINTS:
        return rows
    return rows[torch.linspace(0, len(rows) - 1, MOST_POINTS).round().long()]
