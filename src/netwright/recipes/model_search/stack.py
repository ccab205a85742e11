"""What the models of a race say together, and whether that is better than the best of them.

The weights are those of `stacking`. To see what they are worth, each fold's answers are weighed by
what was found on the other folds: weights that had seen a row would flatter themselves on it.

Shapes: M models, N rows, C classes or reals.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.data.dataset import Split
from netwright.data.spec import TargetKind
from netwright.models.ensembles.stacking import least_squares_weights, mixture_weights
from netwright.recipes.model_search.entrant import Entrant, row_losses

LEAST_WEIGHT = 0.02  # a model that counts less is not worth its time
NAME = "stacking"


@dataclass(frozen=True, kw_only=True)
class Stack:
    """Models that answer together.

    Args:
        entrant: their answers as one, each row weighed by what other folds say.
        names: of the models.
        weights: of each, found on all rows.
    """

    entrant: Entrant
    names: tuple[str, ...]
    weights: tuple[float, ...]


def stack(
    entrants: Sequence[Entrant],
    split: Split,
    folds: Sequence[Tensor],
    target: TargetKind,
    spread: Tensor,
) -> Stack | None:
    """The models weighed together; None where one of them counts alone.

    Args:
        entrants: those that have answered all of these rows.
        split: all rows, with their targets.
        folds: the rows that each of them held out, at least two.
        target: class or real.
        spread: of each real.
    """
    if len(entrants) < 2:
        return None
    asked = torch.cat(list(folds))
    counting = [
        entrant
        for entrant, weight in zip(entrants, weigh(entrants, split, asked, target), strict=True)
        if weight >= LEAST_WEIGHT
    ]
    if len(counting) < 2:
        return None
    together = Entrant(
        name=NAME,
        answers=torch.full_like(entrants[0].answers, torch.nan),
        losses=torch.full_like(entrants[0].losses, torch.nan),
    )
    for place, held_out in enumerate(folds):
        others = torch.cat([*folds[:place], *folds[place + 1 :]])
        weights = weigh(counting, split, others, target)
        said = combine([entrant.answers[held_out] for entrant in counting], weights)
        losses = row_losses(said, split.take(held_out), target, spread, split)
        together.answers[held_out], together.losses[held_out] = said, losses
    together.seconds = [sum(entrant.mean_seconds for entrant in counting)] * len(folds)
    weights = weigh(counting, split, asked, target)
    return Stack(
        entrant=together,
        names=tuple(entrant.name for entrant in counting),
        weights=tuple(round(weight, 4) for weight in weights.tolist()),
    )


def weigh(entrants: Sequence[Entrant], split: Split, rows: Tensor, target: TargetKind) -> Tensor:
    """The weights (M,) that are best on these rows."""
    answers = torch.stack([entrant.answers[rows] for entrant in entrants])  # (M, N, C)
    targets = split.targets.cpu()[rows]
    amounts = torch.ones(len(rows)) if split.weights is None else split.weights.cpu()[rows]
    if target == "real":
        return least_squares_weights(answers, targets, amounts)
    of_truth = targets.expand(len(answers), -1)[..., None]
    return mixture_weights(answers.gather(2, of_truth)[..., 0], amounts)


def combine(answers: Sequence[Tensor], weights: Tensor) -> Tensor:
    """The weighted sum of probabilities or reals (N, C)."""
    return torch.einsum("m,mnc->nc", weights, torch.stack(list(answers)))
