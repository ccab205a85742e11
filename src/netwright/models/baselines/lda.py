"""Linear discriminant analysis: Gaussian classes that share one covariance have linear borders.

Shapes: B batch, N examples, D inputs, S classes seen, C classes.
Source: Fisher, "The Use of Multiple Measurements in Taxonomic Problems" (1936).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.core.errors import DataError
from netwright.core.learner import Examples, Learner
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.models.baselines.seen_classes import spread_scores
from netwright.models.baselines.training_rows import training_loss
from netwright.models.grown_buffers import GrownBuffers
from netwright.models.model import Model

RANK = 1e-4  # a direction of less spread counts as none; scikit-learn's own limit


@dataclass(frozen=True, kw_only=True)
class LDAConfig(Config):
    """Linear discriminant analysis has nothing to set: means and covariance are the data's."""


class LDA(GrownBuffers, Model, Learner):
    """The logarithm of each class's posterior, up to a constant, in closed form."""

    settings: ClassVar[type[Config]] = LDAConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class"})
    grown: ClassVar[tuple[str, ...]] = ("classes", "weight", "bias")
    card: ClassVar[Card] = Card(
        sentence="Gaussian classes with one covariance for all: Bayes' rule draws linear borders.",
        formula=r"\delta_c(x) = x^T \Sigma^{-1} \mu_c - \frac{1}{2} \mu_c^T \Sigma^{-1} \mu_c"
        r" + \log \pi_c",
        symbols={
            "x": "one input, flattened, (D)",
            r"\mu_c": "mean of class c, (D)",
            r"\Sigma": "covariance within the classes, (D, D)",
            r"\pi_c": "share of class c in the training rows",
            r"\delta_c": "logit of class c",
        },
        source="Fisher (1936), Annals of Eugenics 7, 179-188",
    )
    classes: Tensor
    weight: Tensor
    bias: Tensor

    def __init__(self, config: LDAConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.register_buffer("classes", torch.arange(spec.num_outputs))
        self.register_buffer("weight", torch.zeros(spec.num_outputs, spec.num_features))
        self.register_buffer("bias", torch.zeros(spec.num_outputs))

    @classmethod
    def build(cls, config: LDAConfig, spec: DataSpec) -> Self:
        """A classifier with as many inputs and classes as the data has."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> logits (B, C)."""
        scores = F.linear(x.flatten(1), self.weight, self.bias)  # (B, S)
        return spread_scores(scores, self.classes, self.spec.num_outputs)

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """One step: the solution. The seed has no part in it."""
        rows = data.inputs.flatten(1).double()
        share = torch.ones_like(rows[:, 0]) if data.weights is None else data.weights.double()
        counted = share > 0
        classes, place = torch.unique(data.targets[counted], return_inverse=True)
        weight, bias = discriminants(rows[counted], place, share[counted] / share[counted].mean())
        self.weight, self.bias = weight.to(self.weight), bias.to(self.bias)
        self.classes = classes.to(self.classes)
        yield {"loss": training_loss(self, data)}


def discriminants(rows: Tensor, place: Tensor, share: Tensor) -> tuple[Tensor, Tensor]:
    """Weights (S, D) and biases (S) of the classes' log posteriors, up to a common constant.

    Directions in which no class has a spread say nothing and are left out, as scikit-learn does:
    features are first scaled by their spread within the classes.

    Args:
        rows: (N, D), float64.
        place: the class of each row, 0 to S - 1, (N,).
        share: how much each row counts, of mean 1, (N,).
    """
    belongs = F.one_hot(place).to(rows) * share[:, None]  # (N, S)
    sizes = belongs.sum(dim=0)
    means = belongs.T @ rows / sizes[:, None]  # (S, D)
    centre = sizes / sizes.sum() @ means  # taken off, so that large means do not cost digits
    within = (rows - means[place]) * share.sqrt()[:, None]
    spread = (within.square().sum(dim=0) / sizes.sum()).sqrt()
    spread = torch.where(spread > 0, spread, torch.ones_like(spread))
    scaled = within / spread
    values, directions = torch.linalg.eigh(scaled.T @ scaled / sizes.sum())
    varies = values > RANK**2
    if not bool(varies.any()):
        raise DataError("lda needs features that vary within the classes, got none")
    kept = directions[:, varies] / values[varies].sqrt()  # whitens
    white = (means - centre) / spread @ kept  # (S, rank)
    weight = white @ kept.T / spread
    bias = (sizes / sizes.sum()).log() - white.square().sum(dim=1) / 2 - weight @ centre
    return weight, bias
