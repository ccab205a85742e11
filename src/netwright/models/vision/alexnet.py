"""AlexNet: five convolutions and three dense layers, in the form that torchvision has.

The weights have torchvision's names and shapes, so its `state_dict` loads as it is.

Shapes: B batch, C outputs, images (channels, I, J) of 63 rows and columns or more.
Source: Krizhevsky, Sutskever and Hinton (2012), with the widths of Krizhevsky, "One weird trick
for parallelizing convolutional neural networks" (2014).
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.models.model import Model
from netwright.models.vision.image_size import check_image_size

SMALLEST = 63  # rows that leave one after a stride of 4 and three poolings
GRID = 6  # rows and columns that the dense layers see


@dataclass(frozen=True, kw_only=True)
class AlexNetConfig(Config):
    """Settings of AlexNet."""

    width: Annotated[Size, Doc("filters of the first convolution; the others scale with it")] = 64
    hidden: Annotated[Size, Doc("units of each of the two hidden dense layers")] = 4096
    dropout: Annotated[Fraction, Doc("dropout on the inputs of the dense layers")] = 0.5


class AlexNet(Model):
    """Convolutions of 11 x 11, 5 x 5 and 3 x 3 with overlapping max-pooling, then dense layers."""

    settings: ClassVar[type[Config]] = AlexNetConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    card: ClassVar[Card] = Card(
        sentence="Five convolutions with ReLU and overlapping max-pooling, then three dense layers"
        " with dropout: the network that won ILSVRC 2012, in the form of 2014 that torchvision"
        " has.",
        formula=r"f(x) = W_8 \phi(W_7 \phi(W_6 P(c_5(\ldots c_1(x)))))",
        symbols={
            "x": "one image, (channels, I, J)",
            "c_l": "convolution l with its ReLU; the first, second and fifth are pooled",
            "P": "the mean over a grid of 6 x 6, whatever the size of the image",
            "W_l": "weights of dense layer l, each with a bias; dropout before W_6 and W_7",
            r"\phi": "ReLU",
            "f(x)": "logits or reals, (C)",
        },
        source="Krizhevsky, Sutskever and Hinton (2012), NIPS 25, 1097-1105; Krizhevsky (2014),"
        " arXiv 1404.5997, for the widths",
        misprint="The paper says images of 224 x 224; its sizes of maps need 227 x 227, or padding"
        " by 2, as here.",
    )

    def __init__(self, config: AlexNetConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        first, second, third, fourth = (part * config.width for part in (1, 3, 6, 4))
        self.features = nn.Sequential(
            nn.Conv2d(spec.input_shape[0], first, 11, stride=4, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2),
            nn.Conv2d(first, second, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2),
            nn.Conv2d(second, third, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(third, fourth, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(fourth, fourth, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2),
        )
        self.avgpool = nn.AdaptiveAvgPool2d(GRID)
        self.classifier = nn.Sequential(
            nn.Dropout(config.dropout),
            nn.Linear(fourth * GRID * GRID, config.hidden),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.hidden, config.hidden),
            nn.ReLU(),
            nn.Linear(config.hidden, spec.num_outputs),
        )

    @classmethod
    def build(cls, config: AlexNetConfig, spec: DataSpec) -> Self:
        """An AlexNet for these images; those that are too small are refused."""
        check_image_size("alexnet shrinks an image by a stride and three poolings", spec, SMALLEST)
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, I, J) -> (B, C)."""
        logits: Tensor = self.classifier(self.avgpool(self.features(x)).flatten(1))
        return logits
