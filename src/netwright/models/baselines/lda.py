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
from netwright.models.baselines.training_rows import fit_estimator, training_loss, training_rows
from netwright.models.grown_buffers import GrownBuffers
from netwright.models.model import Model


@dataclass(frozen=True, kw_only=True)
class LDAConfig(Config):
    """Linear discriminant analysis has nothing to set: means and covariance are the data's."""


class LDA(GrownBuffers, Model, Learner):
    """The logarithm of each class's posterior, up to a constant; scikit-learn finds it."""

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
        source="Fisher (1936), Annals of Eugenics 7, 179-188; learned by scikit-learn",
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
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: PLC0415 - slow

        if data.weights is not None:
            raise DataError("lda counts every example the same, got sample weights")
        fitted = fit_estimator(LinearDiscriminantAnalysis(), training_rows(data))
        weight, bias = torch.tensor(fitted.coef_), torch.tensor(fitted.intercept_)
        if len(fitted.classes_) == 2:  # the log-odds of the second class: the first has 0
            weight, bias = F.pad(weight, (0, 0, 1, 0)), F.pad(bias, (1, 0))
        self.weight, self.bias = weight.to(self.weight), bias.to(self.bias)
        self.classes = torch.tensor(fitted.classes_).to(self.classes)
        yield {"loss": training_loss(self, data)}
