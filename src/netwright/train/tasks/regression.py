"""One or several reals: a loss of standardised targets, measured in their own units.

Targets with long tails may go through a curve before they are standardised.

Shapes: B batch, K reals.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.outputs import Output, logits_of
from netwright.data.dataset import Data, Split
from netwright.data.loading.loader import Batch
from netwright.data.spec import DataSpec
from netwright.data.tables.features.number_curve import QuantileCurve
from netwright.losses.catalog import LOSSES
from netwright.losses.normal_scores import NormalScores, bend, bend_all, stacked_scores
from netwright.losses.target_transform import QUANTILE, TRANSFORMS, TransformKind
from netwright.metrics.catalog import Kind
from netwright.metrics.samples import weighted_mean
from netwright.train.tasks.task import Task, exact, mean_loss, weighted

MOST_MEANS = 5  # told of a baseline


class Regression(Task):
    """Mean squared error of the model's output against (w(y) - center) / scale, or another loss.

    w(y) is y itself, or its transform.

    A model starts out near 0 with steps of about 1, whatever the units of the target; predictions
    and metrics are in the target's own units.

    Args:
        center: what is subtracted from the targets (K,).
        scale: what they are then divided by (K,).
        loss: a name in the catalog of losses.
        loss_options: settings of the loss, in standardised units: delta ...
        transform: the name of the curve that targets go through first, or None.
        normal_scores: the curve, where the transform is quantile.
    """

    target: ClassVar[Kind] = "real"
    headline: ClassVar[str] = "rmse"

    def __init__(
        self,
        center: Tensor,
        scale: Tensor,
        *,
        loss: str = "squared-error",
        loss_options: Mapping[str, Any] | None = None,
        transform: TransformKind | None = None,
        normal_scores: NormalScores | None = None,
    ) -> None:
        self.center, self.scale, self.loss_name = center, scale, loss
        self.transform, self.normal_scores = transform, normal_scores
        self.loss_options = dict(loss_options or {})
        self._loss = LOSSES.load(loss).function(loss, "real", self.loss_options)

    @classmethod
    def fitted(
        cls,
        train: Split,
        *,
        loss: str = "squared-error",
        loss_options: Mapping[str, Any] | None = None,
        transform: TransformKind | None = None,
    ) -> Self:
        """Mean and standard deviation of the training targets; a constant target has scale 1."""
        fitted = _fit_scores(train) if transform == QUANTILE else None
        targets = _bent(train.targets, transform, fitted)
        center = weighted_mean(targets, train.weights)
        scale = weighted_mean((targets - center).square(), train.weights).sqrt()
        varies = scale > 1e-12 * center.abs()  # the mean of equal numbers may be off by a rounding
        scale = torch.where(varies, scale, torch.ones_like(scale))
        return cls(
            center.float(),
            scale.float(),
            loss=loss,
            loss_options=loss_options,
            transform=transform,
            normal_scores=fitted,
        )

    @classmethod
    def plain(cls, num_outputs: int) -> Self:
        """Targets as they are, for models that find their own scale."""
        return cls(torch.zeros(num_outputs), torch.ones(num_outputs))

    def loss_of(self, logits: Tensor, batch: Batch) -> Tensor:
        """The mean loss in standardised units."""
        center, scale = (self.on(logits.device, part) for part in (self.center, self.scale))
        targets = _bent(batch.targets, self.transform, self._scores_on(logits.device))
        wanted = (targets - center) / scale
        return mean_loss(self._loss, logits, wanted, batch.weights)

    def headline_sum(
        self, output: Tensor | Output, targets: Tensor, weights: Tensor | None
    ) -> Tensor:
        """Squared errors in the target's units, summed over examples (K,)."""
        errors = (self.predictions(output) - targets).square()
        return weighted(errors.T, weights).sum(dim=1)

    @property
    def headline_shape(self) -> tuple[int, ...]:
        """One an output."""
        return tuple(self.center.shape)

    def headline_value(self, mean: Tensor) -> float:
        """The root of the mean squared error, one an output, and their mean."""
        return mean.sqrt().mean().item()

    def predictions(self, output: Tensor | Output) -> Tensor:
        """Reals (N, K) in the units of the targets."""
        reals = exact(logits_of(output))
        reals = reals * self.on(reals.device, self.scale) + self.on(reals.device, self.center)
        scores = self._scores_on(reals.device)
        if scores is not None:
            return bend(reals, scores.scores, scores.knots)
        return reals if self.transform is None else TRANSFORMS[self.transform].undo(reals)

    def _scores_on(self, device: torch.device) -> NormalScores | None:
        if self.normal_scores is None:
            return None
        return NormalScores(*(self.on(device, part) for part in self.normal_scores))

    def baseline(self, train: Split) -> Tensor:
        """The mean of the training targets."""
        return weighted_mean(train.targets, train.weights).cpu().float()

    def describe_baseline(self, train: Split, names: Sequence[str]) -> str:
        """The mean of each target."""
        means = [f"{mean:.4g}" for mean in self.baseline(train).tolist()]
        rest = f" and {len(means) - MOST_MEANS} more" if len(means) > MOST_MEANS else ""
        return f"always the mean of the training rows, {', '.join(means[:MOST_MEANS])}{rest}"

    def to_json(self) -> dict[str, Any]:
        """Center and scale, exactly, the loss, and the transform where there is one."""
        return {
            "kind": "regression",
            "center": self.center.tolist(),
            "scale": self.scale.tolist(),
            "loss": self.loss_name,
            "loss_options": self.loss_options,
            **({} if self.transform is None else {"transform": self.transform}),
            **(
                {} if self.normal_scores is None else {"normal_scores": _listed(self.normal_scores)}
            ),
        }


def _listed(scores: NormalScores) -> list[list[list[float]]]:
    return [part.tolist() for part in scores]


def _fit_scores(train: Split) -> NormalScores:
    """Of the training rows that count."""
    weights = None if train.weights is None else train.weights.cpu().double().numpy()
    if weights is not None and not (weights > 0).any():
        raise DataError("the train weights must be >= 0 and not all zero")
    counts = slice(None) if weights is None else weights > 0
    columns = train.targets.cpu().double().numpy()[counts].T
    amounts = None if weights is None else weights[counts]
    curves = [QuantileCurve.fit(column, amounts) for column in columns]
    scores = stacked_scores([(curve.knots, curve.scores) for curve in curves])
    return NormalScores(*(part.to(train.targets.device) for part in scores))


def _bent(targets: Tensor, kind: TransformKind | None, scores: NormalScores | None) -> Tensor:
    """The targets, through the curve where there is one."""
    if scores is not None:
        return bend_all(targets, *scores)
    return targets if kind is None else TRANSFORMS[kind].apply(targets)


def check_in_range(data: Data, kind: TransformKind) -> None:
    """Refuse targets that the curve is not defined for: which, of which row."""
    for split, rows in data.splits():
        found = _outside(rows.targets, kind, data.spec, among=f"the {split} rows")
        if found:
            raise DataError(f"{data.name}: {found}; log1p takes 0, asinh takes any number")


def check_given(task: Task, targets: Tensor, spec: DataSpec) -> None:
    """The same of targets that were not there when the transform was chosen."""
    if isinstance(task, Regression) and task.transform is not None:
        found = _outside(targets, task.transform, spec, among="the rows given")
        if found:
            raise DataError(found)


def _outside(targets: Tensor, kind: TransformKind, spec: DataSpec, *, among: str) -> str:
    """What is wrong with the first target outside the range of a curve; empty: none is."""
    curve = TRANSFORMS.get(kind)
    if curve is None:
        return ""
    outside = (targets <= curve.above).nonzero()
    if not len(outside):
        return ""
    row, column = outside[0].tolist()
    name = repr(spec.target_names[column]) if spec.target_names else f"target {column}"
    return (
        f"{name} is {targets[row, column]:g} in row {row} of {among}, target_transform {kind} "
        f"takes numbers {curve.range_words}"
    )
