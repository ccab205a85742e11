"""Logistic and softmax regression by Newton's method, or iteratively reweighted least squares.

Shapes: N examples, D inputs, C classes, P scores.
Source: Green, "Iteratively Reweighted Least Squares for Maximum Likelihood Estimation" (1984).
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive
from netwright.core.errors import ConfigError
from netwright.core.learner import Examples, Learner
from netwright.data.spec import DataSpec
from netwright.models.linear.classification import LogisticRegression, SoftmaxRegression
from netwright.models.linear.log_loss import AgainstFirst, Link, LogLoss, Sigmoid, Softmax
from netwright.models.linear.newton_steps import minimise_log_loss

MOST_WEIGHTS = 5_000  # the system has as many rows and columns
FORMULA = (
    r"\theta \leftarrow \theta - t H^{-1} g, \quad g = \frac{1}{n}\sum_i (p_i - y_i) \tilde x_i^T"
    r" + \lambda W, \quad H = \frac{1}{n}\sum_i "
)
SYMBOLS = {
    r"\theta": "weights W and bias of each score",
    r"\tilde x_i": "input i, flattened, and a 1, (D + 1)",
    "p_i, y_i": "chances and truth of example i, (P)",
    "t": "step size: 1, halved until the loss falls",
    r"\lambda": "the penalty, `l2`; the bias is free",
}
SOURCE = "Green (1984), Journal of the Royal Statistical Society B 46, 149-192"


@dataclass(frozen=True, kw_only=True)
class NewtonConfig(Config):
    """Settings of Newton's method."""

    l2: Annotated[
        Positive,
        Doc("L2 penalty, which keeps the weights finite; scikit-learn's C is 1/(n l2)"),
    ] = 1e-3
    tol: Annotated[Positive, Doc("stop when no entry of the gradient is larger")] = 1e-6


@dataclass(frozen=True, kw_only=True)
class LogisticNewtonConfig(NewtonConfig):
    """Settings of logistic regression by Newton's method."""


@dataclass(frozen=True, kw_only=True)
class SoftmaxNewtonConfig(NewtonConfig):
    """Settings of softmax regression by Newton's method."""


class NewtonLearner(Learner):
    """Learns the linear scores of a classifier; mixed in before it."""

    spec: DataSpec
    l2: float
    tol: float

    @property
    @abstractmethod
    def linear(self) -> nn.Linear:
        """The layer that gives the scores, (D) -> (P)."""

    @abstractmethod
    def likelihood(self, targets: Tensor) -> tuple[Link, Tensor]:
        """How scores become chances, and what is true, (N, P)."""

    def take(self, config: NewtonConfig) -> None:
        """Keep the settings; refuse more weights than a system of them all can be solved for."""
        self.l2, self.tol = config.l2, config.tol
        count = self.linear.weight.numel() + self.linear.bias.numel()
        if count > MOST_WEIGHTS:
            raise ConfigError(
                f"Newton's method solves for all weights at once and takes at most {MOST_WEIGHTS}, "
                f"got {count}; 'logistic' and 'softmax' train larger models by gradient descent"
            )

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """A Newton step an item. The seed has no part in it: there is one optimum."""
        link, truth = self.likelihood(data.targets.cpu())
        weights = torch.ones(len(truth)) if data.weights is None else data.weights.cpu()
        loss = LogLoss(
            link=link,
            inputs=data.inputs.flatten(1).cpu().double(),
            truth=truth.double(),
            share=weights.double() / weights.double().sum(),
            l2=self.l2,
        )
        labels = self.spec.num_outputs if self.spec.target == "labels" else 1
        for step in minimise_log_loss(loss, self.tol):
            with torch.no_grad():
                self.linear.weight.copy_(step.theta[:, :-1])
                self.linear.bias.copy_(step.theta[:, -1])
            yield {"loss": step.misfit / labels, "gradient": step.slope}


class LogisticNewton(NewtonLearner, LogisticRegression):
    """Linear log-odds of each class against the first, or of each label, at their optimum."""

    settings: ClassVar[type[Config]] = LogisticNewtonConfig
    card: ClassVar[Card] = Card(
        sentence="Logistic regression solved by Newton's method: a few exact steps.",
        formula=FORMULA + r"p_i (1 - p_i) \tilde x_i \tilde x_i^T + \lambda I",
        symbols=SYMBOLS,
        source=SOURCE,
    )

    def __init__(self, config: NewtonConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.take(config)

    @property
    def linear(self) -> nn.Linear:
        """The log-odds."""
        return self.log_odds

    def likelihood(self, targets: Tensor) -> tuple[Link, Tensor]:
        """Labels one by one; two classes are one label."""
        if not self.against_first:
            return Sigmoid(), targets
        if self.spec.num_outputs == 2:
            return Sigmoid(), targets[:, None]
        return AgainstFirst(), F.one_hot(targets, self.spec.num_outputs)[:, 1:]


class SoftmaxNewton(NewtonLearner, SoftmaxRegression):
    """One linear score a class, at their optimum."""

    settings: ClassVar[type[Config]] = SoftmaxNewtonConfig
    card: ClassVar[Card] = Card(
        sentence="Softmax regression solved by Newton's method: a few exact steps.",
        formula=FORMULA
        + r"(\mathrm{diag}(p_i) - p_i p_i^T) \otimes \tilde x_i \tilde x_i^T + \lambda I",
        symbols=SYMBOLS,
        source=SOURCE,
    )

    def __init__(self, config: NewtonConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.take(config)

    @property
    def linear(self) -> nn.Linear:
        """The scores."""
        return self.scores

    def likelihood(self, targets: Tensor) -> tuple[Link, Tensor]:
        """The classes, one score each."""
        return Softmax(), F.one_hot(targets, self.spec.num_outputs)
