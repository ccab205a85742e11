"""Permutation importance: how much the loss rises when a column is shuffled among the rows.

    importance_g = loss(rows with column g shuffled) - loss(rows as they are)

A shuffled column keeps its values and loses what they say of the target, and of the other columns.
The features of one category column are shuffled together. The loss is the log loss of classes, and
of reals the squared error over the variance of the targets, so that 1 is what the mean alone would
cost. It works for any model.

Shapes: N rows, F features, G columns, R repeats.
Source: Breiman, "Random Forests" (2001), section 10; Fisher, Rudin and Dominici, "All Models are
Wrong, but Many are Useful" (2019).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import torch
from torch import Tensor

from netwright.core.checks import check_positive, check_shape
from netwright.core.seeding import generator
from netwright.data.spec import DataSpec
from netwright.inspection.drawing.figure_style import COLOURS, FAINT, INK
from netwright.inspection.drawing.ticks import few_ticks, name_ticks, names_room
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import quoted, shown_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BARS = 20
PREDICTIONS = 50_000  # that are made at most of a model that may be slow
FEWEST_ROWS = 50
SMALLEST = 1e-12  # a probability whose logarithm is taken


@dataclass(frozen=True, kw_only=True)
class PermutationImportance(View):
    """The rise of the loss, the largest first.

    Args:
        names: of the columns shown.
        rises: the mean over repeats, one a name; less than 0 where shuffling helped by chance.
        spreads: the standard deviation over repeats, one a name.
        loss: of the rows as they are.
        num_columns: how many there are; not all may be shown.
        num_rows: that were shuffled.
        repeats: how often.
        is_class: whether the loss is the log loss, or the squared error over the variance.
    """

    title: ClassVar[str] = "Permutation importance"

    names: tuple[str, ...]
    rises: tuple[float, ...]
    spreads: tuple[float, ...]
    loss: float
    num_columns: int
    num_rows: int
    repeats: int
    is_class: bool

    @property
    def size(self) -> tuple[float, float]:
        """Taller with more columns."""
        return (4.4 + names_room(self.names), self._length + 0.8)

    @property
    def caption(self) -> str:
        """The column that counts most, and how the numbers are to be read."""
        shown = shown_of(len(self.names), self.num_columns)
        loss = "log loss" if self.is_class else "squared error, over the variance of the targets,"
        return (
            f"How much the {loss} rises from {self.loss:.4g} when one column is shuffled among "
            f"{self.num_rows:,} rows ({shown} columns); the lines are a standard deviation over "
            f"{self.repeats} shuffles. {quoted(self.names[0])} counts most, {self.rises[0]:+.4g}. "
            f"Columns that say the same share their importance: each can be shuffled alone without "
            f"much loss."
        )

    def table_rows(self) -> list[dict[str, str]]:
        """A row a column."""
        return [
            {"column": name, "rise of the loss": f"{rise:+.4g}", "spread": f"{spread:.2g}"}
            for name, rise, spread in zip(self.names, self.rises, self.spreads, strict=True)
        ]

    def draw(self, figure: "Figure") -> None:
        """Bars from left to right with their spread, the longest on top."""
        axes = figure.subplots()
        axes.barh(
            range(len(self.names)),
            self.rises,
            xerr=self.spreads,
            color=COLOURS[0],
            ecolor=INK,
            error_kw={"elinewidth": 1.2},
            height=0.7,
        )
        axes.axvline(0, color=FAINT, linewidth=1)
        name_ticks(axes, "y", self.names, self._length)
        axes.invert_yaxis()
        few_ticks(axes)
        axes.set_xlabel("rise of the loss")
        axes.grid(visible=False, axis="y")

    @property
    def _length(self) -> float:
        return max(0.24 * len(self.names), 0.6)


def measure_permutation_importance(
    predict: Callable[[Tensor], Tensor],
    inputs: Tensor,
    targets: Tensor,
    spec: DataSpec,
    *,
    weights: Tensor | None = None,
    repeats: int = 5,
    seed: int = 0,
    predictions: int | None = None,
) -> PermutationImportance:
    """Shuffle each column of a table, and ask the model again.

    Args:
        predict: encoded rows -> probabilities (N, C), or reals (N, K).
        inputs: (N, F).
        targets: classes, int64 (N,), or reals (N, K).
        spec: the names of the features, and which are one column.
        weights: how much each row counts (N,).
        repeats: R.
        seed: of the shuffles.
        predictions: that are made at most: with more of them more rows are asked about.
    """
    shuffles = shuffle_columns(
        predict,
        inputs,
        targets,
        spec,
        weights=weights,
        repeats=repeats,
        seed=seed,
        predictions=predictions,
    )
    names, rises = column_names(spec), shuffles.rises
    means, spreads = rises.mean(1), rises.std(1, correction=0)
    shown = means.argsort(descending=True, stable=True)[:MOST_BARS].tolist()
    return PermutationImportance(
        names=tuple(names[place] for place in shown),
        rises=tuple(means[shown].tolist()),
        spreads=tuple(spreads[shown].tolist()),
        loss=shuffles.loss,
        num_columns=len(names),
        num_rows=shuffles.num_rows,
        repeats=repeats,
        is_class=spec.target == "class",
    )


class Shuffles(NamedTuple):
    """The rise of the loss by column and repeat (G, R), from what loss, and on how many rows."""

    rises: Tensor
    loss: float
    num_rows: int


def shuffle_columns(
    predict: Callable[[Tensor], Tensor],
    inputs: Tensor,
    targets: Tensor,
    spec: DataSpec,
    *,
    weights: Tensor | None = None,
    repeats: int = 5,
    seed: int = 0,
    predictions: int | None = None,
) -> Shuffles:
    """The numbers of `measure_permutation_importance`, of all columns in their order.

    Rows count by their weights (N,), where those are given.
    """
    check_positive("repeats", repeats)
    check_shape("inputs", inputs, "N", spec.num_features)
    groups = torch.tensor(spec.groups_of_features)
    count = int(groups[-1]) + 1
    most = max(FEWEST_ROWS, (predictions or PREDICTIONS) // (repeats * count))
    shares = torch.ones(len(inputs)) if weights is None else weights.cpu()
    rows = shares.nonzero()[:, 0]  # one without weight would say nothing
    rows = rows[torch.linspace(0, len(rows) - 1, min(most, len(rows))).round().long()]
    inputs, targets, shares = inputs[rows], targets[rows], shares[rows]
    before = float(_loss(predict(inputs), targets, shares))
    numbers = generator(seed, "permutation importance")
    rises = torch.empty(count, repeats, dtype=torch.float64)
    for column in range(count):
        places = (groups == column).nonzero()[:, 0]
        shuffled = inputs.repeat(repeats, 1, 1)  # (R, N, F)
        for one in shuffled:
            order = torch.randperm(len(inputs), generator=numbers)
            one[:, places] = inputs[order][:, places]
        answers = predict(shuffled.flatten(0, 1)).reshape(repeats, len(inputs), -1)
        rises[column] = torch.stack([_loss(one, targets, shares) for one in answers]) - before
    return Shuffles(rises, before, len(inputs))


def _loss(predictions: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """The log loss of classes; the squared error of reals over the variance of the targets."""
    shares = weights.double() / weights.double().sum()
    exact = predictions.detach().cpu().double()
    if not targets.is_floating_point():
        chosen = exact.gather(1, targets[:, None]).clamp_min(SMALLEST)
        return -(shares @ chosen.log()[:, 0])
    wanted = targets.double()
    variance = (shares @ (wanted - shares @ wanted) ** 2).clamp_min(SMALLEST)
    return (shares @ ((exact - wanted) ** 2 / variance)).mean()


def column_names(spec: DataSpec) -> Sequence[str]:
    """What columns are called: by their feature, or by what its features share before an "=".

    The names of columns and of categories may hold "=" too.
    """
    plain = tuple(f"feature {place + 1}" for place in range(spec.num_features))
    features: dict[int, list[str]] = {}
    for group, name in zip(spec.groups_of_features, spec.feature_names or plain, strict=True):
        features.setdefault(group, []).append(name)
    return [_column_name(names) for names in features.values()]


def _column_name(features: list[str]) -> str:
    shared = commonprefix(features)  # noqa: RUF071 - of letters, these are no paths
    return features[0] if len(features) == 1 else shared.rpartition("=")[0] or features[0]
