"""The result of cross-validation: a score for every fold, their mean, and how sure it is.

The scores of n folds are not independent, since any two folds train on mostly the same rows, so
their standard error is too small. The interval here corrects for it:

    mean +- t std sqrt(1 / n + held out / trained on),    t of Student's distribution, n - 1 degrees

It covers other training sets of this size, roughly: an unbiased estimate does not exist. Where it
would leave the range of the metric, it is cut.

Source: Nadeau and Bengio, "Inference for the Generalization Error" (2003); Bengio and Grandvalet,
"No Unbiased Estimator of the Variance of K-Fold Cross-Validation" (2004).
"""

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from scipy.special import stdtrit

from netwright.inspection.drawing.notebook import in_notebook
from netwright.inspection.drawing.page import note, table, text
from netwright.inspection.drawing.view import plain
from netwright.metrics.catalog import find_metric
from netwright.recipes.plan.reproduce import without_folders

FORMAT = 1
CONFIDENCE = 0.95
COVERAGE = (
    "The interval is that of Nadeau and Bengio: folds share most of their training rows, so the "
    "plain standard error would be too small. It is approximate, and applies to models trained on "
    "as many rows as a fold."
)


@dataclass(frozen=True, kw_only=True)
class Fold:
    """What came of one fold.

    Args:
        repeat: the division that it belongs to, from 1.
        fold: its place there, from 1.
        trained_on: rows that were learned from or chosen by.
        held_out: rows that it was measured on.
        metrics: on the held-out rows.
        baseline: the metrics of the trivial guess on them.
        seconds: of training.
    """

    repeat: int
    fold: int
    trained_on: int
    held_out: int
    metrics: Mapping[str, float]
    baseline: Mapping[str, float]
    seconds: float


@dataclass(frozen=True, kw_only=True)
class CrossValidation:
    """Scores on rows that were not learned from; made by `nw.cross_validate`.

    Args:
        recipe: what was trained, resolved.
        data: the name of the data.
        rows: how many were divided.
        metric: what is reported.
        better: whether a higher or a lower value is the better one.
        stratified: whether every fold has each class's share.
        folds: k of them a repeat.
        notes: what should be known of the scores.
    """

    recipe: Mapping[str, Any]
    data: str
    rows: int
    metric: str
    better: Literal["higher", "lower"]
    stratified: bool
    folds: tuple[Fold, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.setting, self.sentence, *self.remarks])

    def __repr__(self) -> str:
        return f"CrossValidation({self.setting}: {self.sentence})"

    @property
    def scores(self) -> tuple[float, ...]:
        """The metric of each fold."""
        return tuple(fold.metrics[self.metric] for fold in self.folds)

    @property
    def mean(self) -> float:
        """Of the scores."""
        return statistics.fmean(self.scores)

    @property
    def std(self) -> float:
        """Of the scores, with n - 1."""
        return statistics.stdev(self.scores)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the mean may lie, at 95 %, within what the metric can be.

        None where all scores are equal: nothing says so.
        """
        reach = self._reach
        if reach is None:
            return None
        least, most = find_metric(self.metric).bounds
        return max(least, reach[0]), min(most, reach[1])

    @property
    def _reach(self) -> tuple[float, float] | None:
        """The interval by its formula, which knows no bounds."""
        n = len(self.folds)
        if self.std == 0:
            return None
        ratio = sum(fold.held_out / fold.trained_on for fold in self.folds) / n
        reach = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
        half = reach * self.std * math.sqrt(1 / n + ratio)
        return self.mean - half, self.mean + half

    @property
    def baseline(self) -> float:
        """The metric of the trivial guess, in the mean."""
        return statistics.fmean(fold.baseline[self.metric] for fold in self.folds)

    @property
    def repeats(self) -> int:
        """How often all rows were divided."""
        return self.folds[-1].repeat

    @property
    def setting(self) -> str:
        """What was measured, in one line."""
        times = "" if self.repeats == 1 else f", {self.repeats} times"
        how = ", stratified" if self.stratified else ""
        k = len(self.folds) // self.repeats
        model = self.recipe["model"]["name"] or "a module"
        return f"{model} on {self.rows:,} rows of {self.data}: {k} folds{how}{times}"

    @property
    def sentence(self) -> str:
        """The mean with its spread and interval."""
        sure = self.interval
        where = f", 95 % interval {sure[0]:.4g} to {sure[1]:.4g}" if sure else ""
        where += ", clipped to the metric's range" if sure != self._reach else ""
        return (
            f"{self.metric} {self.mean:.4g} (std {self.std:.2g} over {len(self.folds)} folds"
            f"{where}); trivial baseline {self.baseline:.4g}"
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is said below the table."""
        return (COVERAGE, *self.notes)

    def table_rows(self) -> list[dict[str, str]]:
        """One row a fold."""
        return [
            {
                "repeat": str(fold.repeat),
                "fold": str(fold.fold),
                "training rows": f"{fold.trained_on:,}",
                "held out": f"{fold.held_out:,}",
                self.metric: f"{fold.metrics[self.metric]:.4g}",
                "baseline": f"{fold.baseline[self.metric]:.4g}",
                "seconds": f"{fold.seconds:.2f}",
            }
            for fold in self.folds
        ]

    def to_json(self) -> dict[str, Any]:
        """All of it as plain dicts, lists, numbers and text; of files the name alone."""
        return {
            "format": FORMAT,
            **plain(self),
            "recipe": without_folders(self.recipe),
            "mean": self.mean,
            "std": self.std,
            "interval": plain(self.interval),
            "baseline": self.baseline,
        }

    def _repr_html_(self) -> str:
        rows = self.table_rows()
        shown = table(rows, numbers=list(rows[0]))
        return in_notebook(text(self.setting), text(self.sentence), shown, note(COVERAGE))
