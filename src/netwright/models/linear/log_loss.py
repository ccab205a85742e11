"""The penalised log loss of linear scores: its value, slope and curvature.

All three links are of one form. With scores z = theta x, where x ends in a 1 for the bias,

    -log p(y | x) = A(z) - y z,    gradient A'(z) - y,    curvature A''(z)

A is the log of what the chances are divided by: softplus for labels, log-sum-exp for classes.

Shapes: N examples, D inputs, P scores, Q = P (D + 1) weights.
Source: Nelder and Wedderburn, "Generalized Linear Models" (1972).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from netwright.models.linear.least_squares import gram

BLOCK = 4_096  # examples whose curvature is worked out at a time: it takes P times their memory


class Link(ABC):
    """How scores become chances.

    `shift_free` says whether the chances stay where one number is added to all scores.
    """

    shift_free: ClassVar[bool] = False

    @abstractmethod
    def log_normaliser(self, scores: Tensor) -> Tensor:
        """A(z): (N, P) -> (N,)."""

    @abstractmethod
    def chances(self, scores: Tensor) -> Tensor:
        """Its gradient A'(z), the chances of what is scored: (N, P) -> (N, P)."""

    @abstractmethod
    def curvature(self, x: Tensor, chances: Tensor, share: Tensor) -> Tensor:
        """The sum of s A''(z) over the examples, for all weights: (N, D + 1) -> (Q, Q)."""


def label_curvatures(x: Tensor, chances: Tensor, share: Tensor) -> list[Tensor]:
    """X^T diag(s p (1 - p)) X for each score by itself: P of (D + 1, D + 1)."""
    roots = (share[:, None] * chances * (1 - chances)).sqrt()  # (N, P)
    return [gram(root[:, None] * x) for root in roots.unbind(dim=1)]


class Sigmoid(Link):
    """Each score is the log-odds of a label of its own."""

    def log_normaliser(self, scores: Tensor) -> Tensor:
        """The sum of log(1 + e^z)."""
        return F.softplus(scores).sum(dim=1)

    def chances(self, scores: Tensor) -> Tensor:
        """1 / (1 + e^{-z})."""
        return scores.sigmoid()

    def curvature(self, x: Tensor, chances: Tensor, share: Tensor) -> Tensor:
        """A block a label."""
        joined: Tensor = torch.block_diag(*label_curvatures(x, chances, share))  # type: ignore[no-untyped-call]
        return joined


class Softmax(Link):
    """One score a class."""

    shift_free: ClassVar[bool] = True

    def log_normaliser(self, scores: Tensor) -> Tensor:
        """The log of the sum of e^z."""
        return scores.logsumexp(dim=1)

    def chances(self, scores: Tensor) -> Tensor:
        """e^z over the sum of them."""
        return scores.softmax(dim=1)

    def curvature(self, x: Tensor, chances: Tensor, share: Tensor) -> Tensor:
        """The sum of s (diag(p) - p p^T) times x x^T, entry by entry of the former.

        On the diagonal it is that of labels: p - p^2 would lose its digits where p is near 1.
        """
        products = (chances[:, :, None] * x[:, None, :]).flatten(1)  # (N, Q)
        apart = -gram(share.sqrt()[:, None] * products).view(2 * (chances.shape[1], x.shape[1]))
        alike = label_curvatures(x, chances, share)
        for place, block in enumerate(alike):
            apart[place, :, place, :] = block
        return apart.flatten(2).flatten(0, 1)


class AgainstFirst(Softmax):
    """A score for every class but the first, whose score is 0."""

    shift_free: ClassVar[bool] = False

    def log_normaliser(self, scores: Tensor) -> Tensor:
        """The log of 1 + the sum of e^z."""
        return super().log_normaliser(F.pad(scores, (1, 0)))

    def chances(self, scores: Tensor) -> Tensor:
        """Those of the other classes."""
        return super().chances(F.pad(scores, (1, 0)))[:, 1:]


@dataclass(frozen=True, kw_only=True)
class LogLoss:
    """The mean of s (A(z) - y z), and l2/2 |W|^2 on all weights but the biases.

    Args:
        link: how scores become chances.
        inputs: (N, D), in double.
        truth: 1 for what is true, else 0, (N, P).
        share: how much each example counts; they sum to 1, (N,).
        l2: the penalty.
    """

    link: Link
    inputs: Tensor
    truth: Tensor
    share: Tensor
    l2: float

    def scores(self, theta: Tensor) -> Tensor:
        """Weights and bias of each score (P, D + 1) -> the scores of all examples (N, P)."""
        return torch.addmm(theta[:, -1], self.inputs, theta[:, :-1].T)

    def misfit(self, scores: Tensor) -> float:
        """The mean log loss at these scores, without the penalty."""
        losses = self.link.log_normaliser(scores) - (self.truth * scores).sum(dim=1)
        return float(self.share @ losses)

    def penalty(self, theta: Tensor) -> float:
        """What is added for the size of the weights; the bias is free."""
        return self.l2 / 2 * float(theta[:, :-1].square().sum())

    def gradient(self, chances: Tensor, theta: Tensor) -> Tensor:
        """(P, D + 1)."""
        errors = self.share[:, None] * (chances - self.truth)
        slope = errors.T @ self.inputs + self.l2 * theta[:, :-1]
        return torch.cat((slope, errors.sum(dim=0)[:, None]), dim=1)

    def curvature(self, chances: Tensor) -> Tensor:
        """(Q, Q)."""
        penalty = torch.full((chances.shape[1], self.inputs.shape[1] + 1), self.l2).double()
        penalty[:, -1] = 0.0
        total = penalty.flatten().diag()
        for start in range(0, len(chances), BLOCK):
            rows = slice(start, start + BLOCK)
            with_one = F.pad(self.inputs[rows], (0, 1), value=1.0)
            total += self.link.curvature(with_one, chances[rows], self.share[rows])
        return total

    def take(self, rows: Tensor) -> "LogLoss":
        """The loss of these examples alone."""
        share = self.share[rows]
        return replace(
            self, inputs=self.inputs[rows], truth=self.truth[rows], share=share / share.sum()
        )
