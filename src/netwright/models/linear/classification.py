"""Logistic and softmax regression: linear log-odds, learned by gradient steps.

Shapes: B batch, D inputs, C classes.
Source: Cox, "The Regression Analysis of Binary Sequences" (1958); Bridle (1990) for the softmax.
"""

from dataclasses import dataclass
from typing import ClassVar, Self

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.stack import FLATTEN, Stacked
from netwright.models.model import Model


@dataclass(frozen=True, kw_only=True)
class SoftmaxRegressionConfig(Config):
    """Softmax regression has nothing to set: the data gives its shape."""


class SoftmaxRegression(Model, Stacked):
    """One linear score a class; probabilities by the softmax."""

    settings: ClassVar[type[Config]] = SoftmaxRegressionConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image", "series"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class"})
    card: ClassVar[Card] = Card(
        sentence="One linear score per class, turned into probabilities by the softmax.",
        formula=r"o = W x + b, \quad p_c = \frac{e^{o_c}}{\sum_k e^{o_k}}",
        symbols={
            "x": "one input, flattened, (D)",
            "W": "weights, (C, D)",
            "b": "bias, (C)",
            "o": "logits, (C)",
            "p": "probabilities, (C)",
        },
        source="Bridle (1990), Neurocomputing, 227-236",
    )

    def __init__(self, config: Config, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.scores = nn.Linear(spec.num_features, spec.num_outputs)

    @classmethod
    def build(cls, config: Config, spec: DataSpec) -> Self:
        """A classifier with as many inputs and classes as the data has."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> logits (B, C)."""
        logits: Tensor = self.scores(x.flatten(1))
        return logits

    def stack(self) -> list[nn.Module]:
        """What `forward` calls."""
        return [FLATTEN, self.scores]

    @classmethod
    def is_linear(cls, config: Config) -> bool:
        """Linear in weights and bias."""
        return True


@dataclass(frozen=True, kw_only=True)
class LogisticRegressionConfig(Config):
    """Logistic regression has nothing to set: the data gives its shape."""


class LogisticRegression(Model):
    """Linear log-odds of every class against the first: C - 1 scores, the first class has 0.

    For two classes this is the logistic regression p(y = 1 | x) = sigmoid(w x + b). For more it is
    softmax regression without its redundant row: the same probabilities from fewer parameters.
    """

    settings: ClassVar[type[Config]] = LogisticRegressionConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image", "series"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels"})
    card: ClassVar[Card] = Card(
        sentence="The log-odds of each class (against the first) or of each label are linear.",
        formula=r"\log\frac{p(y=c \mid x)}{p(y=0 \mid x)} = w_c^T x + b_c, \quad"
        r" C = 2:\; p(y=1 \mid x) = \sigma(w^T x + b)",
        symbols={
            "x": "one input, flattened, (D)",
            "w_c": "weights of class c, (D)",
            "b_c": "bias of class c",
            r"\sigma": "the sigmoid 1 / (1 + e^{-z})",
        },
        source="Cox (1958), Journal of the Royal Statistical Society B 20, 215-242",
    )

    def __init__(self, config: Config, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.against_first = spec.target == "class"
        rows = spec.num_outputs - 1 if self.against_first else spec.num_outputs
        self.log_odds = nn.Linear(spec.num_features, rows)

    @classmethod
    def build(cls, config: Config, spec: DataSpec) -> Self:
        """A classifier with as many inputs and classes, or labels, as the data has."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> logits (B, C); for classes the first column is 0."""
        odds: Tensor = self.log_odds(x.flatten(1))
        return nn.functional.pad(odds, (1, 0)) if self.against_first else odds

    @classmethod
    def is_linear(cls, config: Config) -> bool:
        """Linear in weights and bias."""
        return True
