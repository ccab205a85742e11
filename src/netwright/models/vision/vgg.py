"""VGG: nothing but 3 x 3 convolutions, five times max-pooled, then three dense layers.

The weights have torchvision's names and shapes, with and without batch normalisation, so its
`state_dict` loads as it is.

Shapes: B batch, C outputs, images (channels, I, J) of 32 rows and columns or more.
Source: Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image
Recognition" (2015), table 1; the number in the name counts the layers with weights.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.convolution.fused_sequence import Sequential
from netwright.models.model import Model
from netwright.models.published_sizes import VGGS, VGGSize
from netwright.models.variant import find_variant, make_variant
from netwright.models.vision.first_kernels import draw_kernels
from netwright.models.vision.image_size import check_image_size

WIDENING = (1, 2, 4, 8, 8)  # channels of the five stages, in widths
SMALLEST = 2 ** len(WIDENING)
GRID = 7  # rows and columns that the dense layers see
DENSE_SPREAD = 0.01  # of the dense layers' first weights


@dataclass(frozen=True, kw_only=True)
class VGGConfig(Config):
    """Settings of a VGG."""

    width: Annotated[Size, Doc("channels of the first stage; the others scale with it")] = 64
    hidden: Annotated[Size, Doc("units of each of the two hidden dense layers")] = 4096
    dropout: Annotated[Fraction, Doc("dropout on the units of the dense layers")] = 0.5
    batch_norm: Annotated[bool, Doc("batch normalisation after each convolution")] = False


class VGG(Model):
    """Five stages of 3 x 3 convolutions, each halved by max-pooling, then dense layers.

    A size says how many convolutions each stage has: `depths`.
    """

    settings: ClassVar[type[Config]] = VGGConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    depths: ClassVar[tuple[int, ...]]

    def __init__(self, config: VGGConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        layers: list[nn.Module] = []
        before = spec.input_shape[0]
        for depth, widening in zip(self.depths, WIDENING, strict=True):
            after = widening * config.width
            for _ in range(depth):
                layers.append(nn.Conv2d(before, after, 3, padding=1))
                layers += [nn.BatchNorm2d(after)] if config.batch_norm else []
                layers.append(nn.ReLU())
                before = after
            layers.append(nn.MaxPool2d(2, stride=2))
        self.features = Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(GRID)
        self.classifier = nn.Sequential(
            nn.Linear(before * GRID * GRID, config.hidden),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.hidden, config.hidden),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.hidden, spec.num_outputs),
        )
        draw_kernels(self)
        self.apply(_draw_the_rest)

    @classmethod
    def build(cls, config: VGGConfig, spec: DataSpec) -> Self:
        """A network for these images; those that are too small are refused."""
        check_image_size(f"{cls.__name__.lower()} halves an image five times", spec, SMALLEST)
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, I, J) -> (B, C)."""
        logits: Tensor = self.classifier(self.avgpool(self.features(x)).flatten(1))
        return logits


def _draw_the_rest(layer: nn.Module) -> None:
    """Small weights for dense layers, and biases of 0 for all."""
    if isinstance(layer, nn.Linear):
        nn.init.normal_(layer.weight, std=DENSE_SPREAD)
    if isinstance(layer, nn.Conv2d | nn.Linear) and layer.bias is not None:
        nn.init.zeros_(layer.bias)


def _make_size(size: VGGSize) -> type[VGG]:
    card = Card(
        sentence=size.sentence,
        formula=r"f(x) = W_3 \phi(W_2 \phi(W_1 P(s_5(\ldots s_1(x))))), \quad"
        r" s(x) = \max_{2 \times 2} \phi(c_d(\ldots \phi(c_1(x))))",
        symbols={
            "x": "one image, (channels, I, J)",
            "s": "a stage: d convolutions c of 3 x 3, then max-pooling, which halves I and J",
            "P": "the mean over a grid of 7 x 7, whatever the size of the image",
            "W_l": "weights of dense layer l, each with a bias; dropout before W_2 and W_3",
            r"\phi": "ReLU",
            "f(x)": "logits or reals, (C)",
        },
        source="Simonyan and Zisserman (2015), arXiv 1409.1556",
    )
    return make_variant(VGG, size.kind, card=card, depths=size.depths)


__getattr__ = find_variant(__name__, (_make_size(size) for size in VGGS.values()))
