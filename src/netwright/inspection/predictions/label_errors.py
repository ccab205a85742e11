"""Labels that are each yes or no: what was found, what was missed, and what was a false alarm.

Shapes: N examples, K labels; targets (N, K) of 0 and 1, probabilities (N, K).
Source: Zhang and Zhou, "A Review on Multi-Label Learning Algorithms" (2014), section 2.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from netwright.inspection.drawing.figure_style import COLOURS
from netwright.inspection.drawing.ticks import name_ticks
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import amount, check_names, percent, quoted
from netwright.metrics.labels import THRESHOLD, is_yes, label_accuracy
from netwright.metrics.samples import weighted_mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LABELS = 30
ROW = 0.26  # inches a label


@dataclass(frozen=True, kw_only=True)
class LabelCounts:
    """The four kinds of answer to one label, in examples or sums of their weights.

    Args:
        name: of the label.
        found: true, and said so.
        missed: true, but not said.
        false_alarms: said, but not true.
        rightly_denied: neither.
    """

    name: str
    found: float
    missed: float
    false_alarms: float
    rightly_denied: float

    @property
    def wrong(self) -> float:
        """Misses and false alarms together."""
        return self.missed + self.false_alarms


@dataclass(frozen=True, kw_only=True)
class LabelErrors(View):
    """The answers to every label, in the order of the outputs."""

    title: ClassVar[str] = "Errors by label"

    labels: tuple[LabelCounts, ...]

    @property
    def size(self) -> tuple[float, float]:
        """One bar a label."""
        return (6.0, 1.3 + ROW * len(self._shown))

    @property
    def caption(self) -> str:
        """Which label is wrong most often."""
        worst = max(self.labels, key=lambda label: label.wrong)
        total = worst.found + worst.rightly_denied + worst.wrong
        left_out = len(self.labels) - len(self._shown)
        return (
            f"Wrong most often: {quoted(worst.name)}, {amount(worst.wrong)} of {amount(total)} "
            f"({percent(worst.wrong / total)}). A label is given from a probability above "
            f"{THRESHOLD}. Blue and pale blue together are the examples that have the label, blue "
            "and orange together those that were given it; the rest, true negatives, are not drawn."
            f"{f' The {left_out} labels with the fewest errors are left out.' if left_out else ''}"
        )

    def draw(self, figure: "Figure") -> None:
        """Stacked bars, from the first label down."""
        shown = self._shown
        axes = figure.subplots()
        places = range(len(shown))
        start = [0.0] * len(shown)
        for legend, colour, lengths in (
            ("missed", "#9fc9e3", [label.missed for label in shown]),
            ("found", COLOURS[0], [label.found for label in shown]),
            ("false positive", COLOURS[1], [label.false_alarms for label in shown]),
        ):
            axes.barh(places, lengths, left=start, color=colour, label=legend, height=0.75)
            start = [end + length for end, length in zip(start, lengths, strict=True)]
        name_ticks(axes, "y", [label.name for label in shown], ROW * len(shown))
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("examples")
        axes.set_xlim(0, max(*start, 1.0) * 1.02)
        figure.legend(loc="outside upper center", ncols=3)

    @property
    def _shown(self) -> list[LabelCounts]:
        """Those with the most errors where there are too many, in the order of the outputs."""
        if len(self.labels) <= MOST_LABELS:
            return list(self.labels)
        places = range(len(self.labels))
        by_errors = sorted(places, key=lambda place: self.labels[place].wrong, reverse=True)
        return [self.labels[place] for place in sorted(by_errors[:MOST_LABELS])]


def measure_label_errors(
    targets: Tensor,
    probabilities: Tensor,
    label_names: Sequence[str],
    weights: Tensor | None = None,
) -> LabelErrors:
    """Count the four kinds of answer to every label.

    Args:
        targets: what is true, (N, K) of 0 and 1.
        probabilities: of each label, (N, K).
        label_names: K names.
        weights: how much each example counts, (N,).
    """
    label_accuracy(probabilities, targets, weights)  # refuses what is not labels
    check_names("label_names", label_names, targets.shape[1])
    said, true = is_yes(probabilities), targets.bool()
    total = float(len(targets) if weights is None else weights.cpu().double().sum())
    found, missed, alarms, denied = (
        (total * weighted_mean(kind, weights)).tolist()
        for kind in (said & true, ~said & true, said & ~true, ~said & ~true)
    )
    return LabelErrors(
        labels=tuple(
            LabelCounts(name=name, found=f, missed=m, false_alarms=a, rightly_denied=d)
            for name, f, m, a, d in zip(label_names, found, missed, alarms, denied, strict=True)
        )
    )
