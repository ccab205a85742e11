"""LeNet-5: two convolutions, each pooled, then three dense layers, for digits of 32 x 32.

Smaller images are set in the middle of a frame of 32 x 32, as the paper does with digits of 28 x
28; of larger ones C5 sees all of S4.

Shapes: B batch, C outputs, images (channels, I, J).
Source: LeCun, Bottou, Bengio and Haffner, "Gradient-Based Learning Applied to Document
Recognition" (1998), section II.B.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, OneOf
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.activations import ACTIVATIONS, build_activation
from netwright.layers.initializers import INITIALIZERS, initialize
from netwright.models.model import Model
from netwright.models.vision.window_pooling import Pooling, build_pooling

FRAME = 32  # rows and columns that the first layer sees at least


@dataclass(frozen=True, kw_only=True)
class LeNet5Config(Config):
    """Settings of LeNet-5."""

    activation: Annotated[
        str, OneOf(ACTIVATIONS), Doc("nonlinearity of the hidden layers; tanh in the paper")
    ] = "relu"
    pooling: Annotated[Pooling, Doc("pooling in S2 and S4; average in the paper")] = "max"
    initializer: Annotated[str, OneOf(INITIALIZERS), Doc("weight initialisation")] = "torch"


class LeNet5(Model):
    """The layers have the paper's names: C convolutions, S pooling, F dense.

    Each map of C3 sees all maps of S2, and the output is a linear predictor; in the paper most see
    some of them, and the output compares F6 with pictures of the digits.
    """

    settings: ClassVar[type[Config]] = LeNet5Config
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    card: ClassVar[Card] = Card(
        sentence="Two convolutions of 5 x 5, each pooled, then three dense layers: the network that"
        " read the digits on cheques.",
        formula=r"f(x) = W \phi(W_6 \phi(W_5 S_4 \phi(C_3 S_2 \phi(C_1 x))))",
        symbols={
            "x": "one image, (channels, 32, 32) or larger",
            "C_1, C_3": "convolutions to 6 and 16 maps, with biases",
            "S_2, S_4": "pooling of 2 x 2, which halves I and J",
            "W_5, W_6, W": "weights to 120, to 84 and to C outputs, with biases",
            r"\phi": "the activation",
            "f(x)": "logits or reals, (C)",
        },
        source="LeCun, Bottou, Bengio and Haffner (1998), Proceedings of the IEEE 86, 2278-2324",
        misprint="The 60,000 parameters that are often quoted belong to the paper's sparse C3,"
        " learned pooling and fixed output; full connections to ten linear outputs make 61,706.",
    )

    def __init__(self, config: LeNet5Config, spec: DataSpec) -> None:
        super().__init__(config, spec)
        channels, *sides = spec.input_shape
        rows, columns = (max(side, FRAME) for side in sides)
        self.frame = nn.ZeroPad2d(_margins(*sides))
        self.c1 = nn.Conv2d(channels, 6, 5)
        self.s2 = build_pooling(config.pooling, 2)
        self.c3 = nn.Conv2d(6, 16, 5)
        self.s4 = build_pooling(config.pooling, 2)
        self.c5 = nn.Linear(16 * _side_of_s4(rows) * _side_of_s4(columns), 120)
        self.f6 = nn.Linear(120, 84)
        self.output = nn.Linear(84, spec.num_outputs)
        self.activation = build_activation(config.activation)
        initialize(self, config.initializer)

    @classmethod
    def build(cls, config: LeNet5Config, spec: DataSpec) -> Self:
        """A LeNet-5 for images of any size."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, I, J) -> (B, C)."""
        phi = self.activation
        maps = self.s2(phi(self.c1(self.frame(x))))
        maps = self.s4(phi(self.c3(maps)))
        logits: Tensor = self.output(phi(self.f6(phi(self.c5(maps.flatten(1))))))
        return logits


def _margins(rows: int, columns: int) -> tuple[int, int, int, int]:
    """Columns of zeros on the left and right, rows above and below."""
    wide, tall = (max(FRAME - side, 0) for side in (columns, rows))
    return (wide // 2, wide - wide // 2, tall // 2, tall - tall // 2)


def _side_of_s4(side: int) -> int:
    """Two times: a convolution of 5 takes 4 away, pooling halves."""
    return ((side - 4) // 2 - 4) // 2
