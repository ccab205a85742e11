"""The multi-layer perceptron: affine maps with a nonlinearity between them.

Shapes: B batch, D inputs, h_l width of hidden layer l, C outputs.
Source: Rumelhart, Hinton and Williams, "Learning representations by back-propagating
errors" (1986).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, Self

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, OneOf, Size
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.activations import ACTIVATIONS, build_activation
from netwright.layers.features.category_embeddings import CategoryEmbeddings
from netwright.layers.initializers import INITIALIZERS, initialize
from netwright.layers.residual import Residual, value_at_zero
from netwright.layers.stack import FLATTEN, Stacked
from netwright.models.model import Model


@dataclass(frozen=True, kw_only=True)
class MLPConfig(Config):
    """Settings of the multi-layer perceptron."""

    hidden: Annotated[tuple[Size, ...], Doc("widths of the hidden layers")] = (256, 128)
    activation: Annotated[str, OneOf(ACTIVATIONS), Doc("nonlinearity of the hidden layers")] = (
        "relu"
    )
    dropout: Annotated[Fraction, Doc("fraction of hidden units dropped in training")] = 0.2
    batch_norm: Annotated[bool, Doc("batch normalisation of each hidden layer")] = False
    layer_norm: Annotated[bool, Doc("layer normalisation of each hidden layer")] = False
    residual: Annotated[bool, Doc("residual connections around hidden layers")] = False
    initializer: Annotated[str, OneOf(INITIALIZERS), Doc("weight initialisation")] = "torch"

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        if self.batch_norm and self.layer_norm:
            raise ConfigError("batch_norm and layer_norm cannot be combined: set one of them")


class MLP(Model, Stacked):
    """Hidden layers phi(W x + b), then one affine map to the outputs; inputs are flattened."""

    settings: ClassVar[type[Config]] = MLPConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image", "series"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    embeds: ClassVar[bool] = True
    card: ClassVar[Card] = Card(
        sentence="Affine maps with a nonlinearity between them; the last is a linear predictor.",
        formula=r"f_0 = x, \quad f_{l+1} = \phi(W_l f_l + b_l), \quad f(x) = W_L f_L + b_L",
        symbols={
            "x": "one input, flattened, (D)",
            "W_l": "weights of layer l, (width after it, width before it)",
            "b_l": "bias of layer l, (width after it)",
            r"\phi": "the activation, applied to each unit",
            "f(x)": "logits or reals, (C)",
        },
        source="Rumelhart, Hinton and Williams (1986), Nature 323, 533-536",
    )

    def __init__(self, config: MLPConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        levels = spec.feature_levels
        self.embeddings = CategoryEmbeddings(levels) if levels else None
        width = spec.num_features if self.embeddings is None else self.embeddings.width
        widths = (width, *config.hidden)
        self.hidden = nn.Sequential(
            *(_hidden_layer(config, before, after) for before, after in pairwise(widths))
        )
        self.head = nn.Linear(widths[-1], spec.num_outputs)
        initialize(self, config.initializer)

    @classmethod
    def build(cls, config: MLPConfig, spec: DataSpec) -> Self:
        """An MLP with as many inputs and outputs as the data has."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> (B, C)."""
        x = x.flatten(1)
        if self.embeddings is not None:
            x = self.embeddings(x)
        logits: Tensor = self.head(self.hidden(x))
        return logits

    def stack(self) -> list[nn.Module] | None:
        """What `forward` calls, where no vectors of categories come first."""
        return None if self.embeddings is not None else [FLATTEN, self.hidden, self.head]

    @classmethod
    def is_linear(cls, config: MLPConfig) -> bool:
        """Without a hidden layer it is one affine map."""
        return not config.hidden


def _hidden_layer(config: MLPConfig, before: int, after: int) -> nn.Module:
    """Linear, normalise, activate, drop; with `residual` added to what came in.

    Dropout comes last, so that weights have the same names with and without it.
    """
    activation = build_activation(config.activation)
    norm = [_norm(config, after)] if config.batch_norm or config.layer_norm else []
    drop = [nn.Dropout(config.dropout)] if config.dropout else []
    if not config.residual:
        return nn.Sequential(nn.Linear(before, after), *norm, activation, *drop)
    body = nn.Sequential(nn.Linear(before, after), *norm, activation)
    return Residual(body, before, after, rest=value_at_zero(activation), dropout=config.dropout)


def _norm(config: MLPConfig, width: int) -> nn.Module:
    return nn.BatchNorm1d(width) if config.batch_norm else nn.LayerNorm(width)


def count_parameters(widths: Sequence[int]) -> int:
    """Weights and biases of a plain MLP of these widths, inputs first, without allocating any."""
    return sum(before * after + after for before, after in pairwise(widths))
