"""One model of a search over models: what it said of rows that it had not learned from.

Shapes: N rows to search on, C classes, K reals.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from netwright.data.dataset import Split
from netwright.data.spec import TargetKind

WORST = 1e-6  # a probability below it counts as it: one row is not to decide


@dataclass(kw_only=True)
class Entrant:
    """A model by its name, and its answers so far.

    Args:
        name: in the catalog of models.
        answers: probabilities (N, C) or reals (N, K), NaN for rows that it was not asked about.
        losses: of these answers (N,).
        seconds: that each of its fits took.
        left: why it left the race; empty while it is in.
        limit: seconds that a fit of it may take; None: no limit.
        was_cut: the time ended a fit by a rule of its own, such as a forest of fewer trees.
    """

    name: str
    answers: Tensor
    losses: Tensor
    seconds: list[float] = field(default_factory=list)
    left: str = ""
    limit: float | None = None
    was_cut: bool = False

    @property
    def was_asked(self) -> Tensor:
        """The places of the rows that it has answered."""
        return (~self.losses.isnan()).nonzero().flatten()

    @property
    def mean_loss(self) -> float:
        """Over the rows that it has answered."""
        return float(self.losses[self.was_asked].mean())

    @property
    def mean_seconds(self) -> float:
        """Of a fit."""
        return sum(self.seconds) / len(self.seconds)

    def hear(self, rows: Tensor, answers: Tensor, losses: Tensor, seconds: float) -> None:
        """Take note of what it said of these rows."""
        self.answers[rows], self.losses[rows] = answers.double(), losses
        self.seconds.append(seconds)


def row_losses(
    answers: Tensor, split: Split, target: TargetKind, spread: Tensor, whole: Split
) -> Tensor:
    """What each answer costs (N,), float64; weights count in, so that the mean is the weighted one.

        classes   -log p(y_i | x_i)
        reals     mean over k of ((y_ik - f_k(x_i)) / spread_k)^2

    Args:
        answers: probabilities (N, C) or reals (N, K).
        split: with the targets.
        target: class or real.
        spread: the standard deviation of each real (K,), so that 1 is what the mean would cost.
        whole: all rows to search on, whose mean weight counts as 1.
    """
    targets = split.targets.cpu()
    if target == "class":
        losses = -answers.double().gather(1, targets[:, None])[:, 0].clamp_min(WORST).log()
    else:
        losses = ((targets.double() - answers.double()) / spread).square().mean(dim=1)
    if split.weights is None or whole.weights is None:
        return losses
    return losses * split.weights.cpu().double() / whole.weights.cpu().double().mean()


def new_entrant(name: str, rows: int, outputs: int) -> Entrant:
    """A model that has answered nothing yet."""
    answers = torch.full((rows, outputs), torch.nan, dtype=torch.float64)
    return Entrant(name=name, answers=answers, losses=torch.full_like(answers[:, 0], torch.nan))
