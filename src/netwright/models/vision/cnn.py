"""A plain convolutional network: convolution, activation and pooling, repeated; then dense layers.

Shapes: B batch, C outputs, S stages, images (channels, I, J), p the side of a pooling window.
Source: LeCun et al., "Backpropagation Applied to Handwritten Zip Code Recognition" (1989), in
today's form.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, Self

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, OneOf, Size
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.activations import ACTIVATIONS, build_activation
from netwright.layers.convolution.fused_sequence import Sequential
from netwright.layers.initializers import INITIALIZERS, initialize
from netwright.models.model import Model
from netwright.models.vision.window_pooling import Pooling, build_pooling


@dataclass(frozen=True, kw_only=True)
class CNNConfig(Config):
    """Settings of the plain convolutional network."""

    channels: Annotated[
        tuple[Size, ...], Doc("filters of each convolution; each is followed by pooling")
    ] = (32, 64)
    kernel: Annotated[Size, Doc("kernel size, odd; borders are padded")] = 3
    pool: Annotated[Size, Doc("pooling window; 1: no pooling")] = 2
    pooling: Annotated[Pooling, Doc("kind of pooling")] = "max"
    global_pool: Annotated[
        bool, Doc("global average pooling, so that images of any size are accepted")
    ] = False
    hidden: Annotated[tuple[Size, ...], Doc("widths of the dense hidden layers")] = (128,)
    activation: Annotated[str, OneOf(ACTIVATIONS), Doc("nonlinearity of the hidden layers")] = (
        "relu"
    )
    dropout: Annotated[Fraction, Doc("dropout on the inputs of the dense layers")] = 0.25
    batch_norm: Annotated[bool, Doc("batch normalisation after each convolution")] = False
    initializer: Annotated[str, OneOf(INITIALIZERS), Doc("weight initialisation")] = "torch"

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        if not self.channels:
            raise ConfigError("channels must name at least one convolution, got none")
        if self.kernel % 2 == 0:
            raise ConfigError(f"kernel must be odd, so that it has a middle, got {self.kernel}")


class CNN(Model):
    """Stages of convolution, activation and pooling, then dense layers on the flattened maps."""

    settings: ClassVar[type[Config]] = CNNConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    card: ClassVar[Card] = Card(
        sentence="Convolution, activation and pooling, repeated; dense layers read the last maps.",
        formula=r"x^{t+1} = P \phi(K^t * x^t + b^t), \quad f(x) = W_L \phi(\ldots W_1 x^S)",
        symbols={
            "x^0": "one image, (channels, I, J)",
            "K^t": "filters of stage t, (channels after it, channels before it, kernel, kernel)",
            "*": "cross-correlation, the borders padded with zeros",
            r"\phi": "the activation",
            "P": "pooling, which divides I and J by p",
            "W_l": "weights of dense layer l, each with a bias",
            "f(x)": "logits or reals, (C)",
        },
        source="LeCun et al. (1989), Neural Computation 1, 541-551",
        misprint="Often said to need images of one size: the convolutions do not, dense layers on"
        " flattened maps do, and after a global mean (`global_pool`) they do not either.",
    )

    def __init__(self, config: CNNConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        channels, *sides = spec.input_shape
        widths = (channels, *config.channels)
        self.features = nn.Sequential(
            *(_stage(config, before, after) for before, after in pairwise(widths))
        )
        self.read = nn.AdaptiveAvgPool2d(1) if config.global_pool else nn.Identity()
        rows, columns = (
            1 if config.global_pool else side // config.pool ** len(config.channels)
            for side in sides
        )
        self.classifier = nn.Sequential(
            *_dense(config, widths[-1] * rows * columns, spec.num_outputs)
        )
        initialize(self, config.initializer)

    @classmethod
    def build(cls, config: CNNConfig, spec: DataSpec) -> Self:
        """A network for these images; those that are too small for the pooling are refused."""
        stages, (_, rows, columns) = len(config.channels), spec.input_shape
        smaller = min(rows, columns)
        if config.pool**stages > smaller:
            most = max(pool for pool in range(1, smaller + 1) if pool**stages <= smaller)
            raise ConfigError(
                f"pool must be at most {most} for images of {rows} x {columns}, which are divided "
                f"by it {stages} times, got {config.pool}"
            )
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, I, J) -> (B, C)."""
        logits: Tensor = self.classifier(self.read(self.features(x)).flatten(1))
        return logits


def _stage(config: CNNConfig, before: int, after: int) -> nn.Module:
    """Convolve, normalise, activate, pool."""
    norm = [nn.BatchNorm2d(after)] if config.batch_norm else []
    return Sequential(
        nn.Conv2d(before, after, config.kernel, padding=config.kernel // 2),
        *norm,
        build_activation(config.activation),
        build_pooling(config.pooling, config.pool),
    )


def _dense(config: CNNConfig, inputs: int, outputs: int) -> Iterator[nn.Module]:
    """Each dense layer drops some of its inputs first; the last has no activation."""
    for before, after in pairwise((inputs, *config.hidden)):
        yield nn.Dropout(config.dropout)
        yield nn.Linear(before, after)
        yield build_activation(config.activation)
    yield nn.Dropout(config.dropout)
    yield nn.Linear((inputs, *config.hidden)[-1], outputs)
