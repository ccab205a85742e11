"""Ensemble members: the score of each beside that of all together, and of the first few.

Shapes: M members, N examples, C outputs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from torch import Tensor

from netwright.inspection.drawing.figure_style import COLOURS
from netwright.inspection.drawing.ticks import name_ticks, percent_ticks
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number, percent
from netwright.metrics.labels import label_accuracy
from netwright.metrics.regression import rmse
from netwright.metrics.samples import weighted_mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 7.2, 3.4


class Score(NamedTuple):
    """What is measured of answers, and which way is better."""

    name: str
    better: Literal["higher", "lower"]


SCORES: Mapping[str, Score] = {
    "class": Score("accuracy", "higher"),
    "labels": Score("label accuracy", "higher"),
    "real": Score("rmse", "lower"),
}


def score(predictions: Tensor, targets: Tensor, target: str) -> float:
    """How good probabilities (N, C) or reals (N, C) are, as `SCORES` says."""
    if target == "real":
        return rmse(predictions, targets)
    if target == "labels":
        return label_accuracy(predictions, targets)
    return float(weighted_mean(predictions.argmax(dim=1) == targets, None))


@dataclass(frozen=True, kw_only=True)
class EnsembleMembers(View):
    """Scores of an ensemble and of its parts.

    Args:
        metric: what the scores are.
        better: whether a higher or a lower score is the better one.
        names: of the members' models.
        weights: how much each member counts.
        alone: the score of each member; empty where one alone does not answer the question.
        first: the score of the first 1, 2 ... M members together; empty where they are no ensemble.
        together: the score of the ensemble.
    """

    title: ClassVar[str] = "Ensemble and its members"

    metric: str
    better: Literal["higher", "lower"]
    names: tuple[str, ...]
    weights: tuple[float, ...]
    alone: tuple[float, ...]
    first: tuple[float, ...]
    together: float

    @property
    def size(self) -> tuple[float, float]:
        """The same for any number of members."""
        return (WIDTH, HEIGHT)

    @property
    def caption(self) -> str:
        """The ensemble against the mean and the best of its members."""
        count = len(self.names)
        who = f"All {count} members together" if count > 1 else "The only member"
        words = f"{who}: {self.metric} {self._told(self.together)}."
        if self.alone and count > 1:
            mean = sum(self.alone) / len(self.alone)
            best = max(self.alone) if self.better == "higher" else min(self.alone)
            words += (
                f" One member alone (dots): {self._told(mean)} on average, {self._told(best)} at "
                f"best."
            )
        if self.first and count > 1:
            words += " The line is what the first members, up to this one, score together."
        elif len(set(self.names)) > 1:
            shares = zip(self.names, self.weights, strict=True)
            words += f" They count {', '.join(f'{name} {share:.2f}' for name, share in shares)}."
        return f"{words} {self.better.capitalize()} is better."

    def draw(self, figure: "Figure") -> None:
        """Dots for members, a line for the first of them together, a level for the ensemble."""
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - it costs a second

        axes = figure.subplots()
        several = len(set(self.names)) > 1
        places = range(len(self.names)) if several else range(1, len(self.names) + 1)
        if self.first:
            axes.plot(
                places,
                self.first,
                color=COLOURS[1],
                marker="." if len(places) < 30 else None,
                label="first members together",
            )
        axes.axhline(
            self.together, color=COLOURS[1], linestyle="--", linewidth=1.2, label="the ensemble"
        )
        if self.alone:
            axes.scatter(places, self.alone, s=28, color=COLOURS[0], label="one member", zorder=3)
        axes.set_ylabel(self.metric)
        if self.metric != "rmse":
            percent_ticks(axes)
        if several:
            name_ticks(axes, "x", self.names, WIDTH)
        else:
            axes.set_xlabel(f"member ({self.names[0]})")
            axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
        axes.set_xlim(places[0] - 0.5, places[-1] + 0.5)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))

    def _told(self, value: float) -> str:
        return number(value) if self.metric == "rmse" else percent(value, 2)


def measure_ensemble_members(
    alone: Sequence[Tensor],
    first: Sequence[Tensor],
    together: Tensor,
    targets: Tensor,
    *,
    target: str,
    names: Sequence[str],
    weights: Tensor,
) -> EnsembleMembers:
    """Score predictions: probabilities (N, C) or reals (N, C), each.

    Args:
        alone: of each member, or none.
        first: of the first 1, 2 ... M members together, or none.
        together: of the ensemble.
        targets: what is true, (N,) or (N, C).
        target: its kind, one of `SCORES`.
        names: of the members' models.
        weights: how much each member counts, (M,).
    """
    metric, better = SCORES[target]
    return EnsembleMembers(
        metric=metric,
        better=better,
        names=tuple(names),
        weights=tuple(weights.tolist()),
        alone=tuple(score(one, targets, target) for one in alone),
        first=tuple(score(some, targets, target) for some in first),
        together=score(together, targets, target),
    )
