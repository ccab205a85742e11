"""What a mistake-driven learner keeps of its passes: the best weights, or the mean of all.

Shapes: N examples, D features, R rows of weights.
Source: Gallant, "Perceptron-based learning algorithms" (1990), for the pocket; Freund and Schapire,
"Large margin classification using the perceptron algorithm" (1999), for the average.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor


class Problem(NamedTuple):
    """What is learned: examples, and which side of each row they belong to.

    Args:
        inputs: (N, D).
        pulls: float64, (N, R), see `perceptron_pass`.
    """

    inputs: Tensor
    pulls: Tensor


class Rows(NamedTuple):
    """Weights (R, D) and biases (R,), float64."""

    weight: Tensor
    bias: Tensor


class Keeper(ABC):
    """The abstract kind: sees every pass, and says which weights answer from now on."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @abstractmethod
    def after_pass(self, rows: Rows, mistakes: Tensor, order: Tensor) -> Rows | None:
        """The weights to keep, or None where those of an earlier pass stay.

        Args:
            rows: as they are at the end of the pass.
            mistakes: which visits were updates, (N, R).
            order: of the visits, (N,).
        """


class Pocket(Keeper):
    """The weights that were wrong least often on all examples, looked at after each pass."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.fewest = float("inf")

    def after_pass(self, rows: Rows, mistakes: Tensor, order: Tensor) -> Rows | None:
        """These weights where they have fewer errors than any before them."""
        errors = weighted_errors(rows, self.problem) if bool(mistakes.any()) else 0.0
        if errors >= self.fewest:
            return None
        self.fewest = errors
        return Rows(*(part.clone() for part in rows))


class Average(Keeper):
    """The mean of the weights over all visits so far, the voted perceptron's cheap relative."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        width, rows = problem.inputs.shape[1], problem.pulls.shape[1]
        self.total = Rows(
            torch.zeros(rows, width, dtype=torch.float64), torch.zeros(rows, dtype=torch.float64)
        )
        self.visits = 0

    def after_pass(self, rows: Rows, mistakes: Tensor, order: Tensor) -> Rows | None:
        """Add the weights after each visit of the pass: its last ones, less what came late.

        An update at visit t was not there for the first t visits (counted from 0).
        """
        count = len(order)
        visit = torch.arange(count, dtype=torch.float64).unsqueeze(1)
        late = torch.empty_like(self.problem.pulls)  # (N, R)
        late[order] = visit * mistakes * self.problem.pulls[order]
        inputs = self.problem.inputs
        self.total.weight.add_(count * rows.weight - late.T.to(inputs) @ inputs)
        self.total.bias.add_(count * rows.bias - late.sum(dim=0))
        self.visits += count
        return Rows(*(part / self.visits for part in self.total))


def weighted_errors(rows: Rows, problem: Problem) -> float:
    """How often these weights give the wrong class; steps count as sample weights."""
    inputs = problem.inputs
    scores = inputs @ rows.weight.T.to(inputs) + rows.bias.to(inputs)  # (N, R)
    steps = problem.pulls[:, 0].abs()
    if scores.shape[1] == 1:
        wrong = (scores[:, 0] > 0) != (problem.pulls[:, 0] > 0)
    else:
        wrong = scores.argmax(dim=1) != problem.pulls.argmax(dim=1)
    return float((steps * wrong).sum())
