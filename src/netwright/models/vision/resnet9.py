"""ResNet-9: a wide and shallow residual network that learns CIFAR-10 in seconds on a GPU.

    prep      3x3 convolution                           width channels
    layer1    3x3 convolution, halved, residual pair    2 width
    layer2    3x3 convolution, halved                   4 width
    layer3    3x3 convolution, halved, residual pair    8 width
    head      maximum over the pixels, then a linear map whose outputs are scaled down

Shapes: B batch, C channels of the image, I/J height/width, K outputs.
Source: Page, "How to train your ResNet" (2018), the winner of DAWNBench's CIFAR-10 in that year.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive, Size
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.convolution.fused_sequence import Sequential
from netwright.layers.residual import Residual
from netwright.models.model import Model
from netwright.models.vision.image_size import check_image_size


@dataclass(frozen=True, kw_only=True)
class ResNet9Config(Config):
    """Settings of ResNet-9."""

    width: Annotated[Size, Doc("channels of the first convolution; doubled in each layer")] = 64
    scale: Annotated[Positive, Doc("factor of the outputs: smaller gives softer probabilities")] = (
        0.125
    )


class ResNet9(Model):
    """Eight convolutions and a linear map; two pairs of the convolutions are residual."""

    settings: ClassVar[type[Config]] = ResNet9Config
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    card: ClassVar[Card] = Card(
        sentence="A shallow, wide residual network that learns CIFAR-10 in seconds on a GPU.",
        formula=r"x \leftarrow x + F(x) \text{ in layers 1 and 3}, \quad"
        r" f(x) = s \, W \max_{\text{pixels}} x",
        symbols={
            "x": "the channels of an image on their way, (channels, I, J)",
            "F": "two 3x3 convolutions, each with batch norm and ReLU",
            "W": "weights of the last map, (K, 8 width)",
            "s": "the setting `scale`",
            "f(x)": "logits or reals, (K)",
        },
        source="Page (2018), How to train your ResNet; DAWNBench entry of 2018",
    )

    def __init__(self, config: ResNet9Config, spec: DataSpec) -> None:
        super().__init__(config, spec)
        width = config.width
        self.prep = _convolve(spec.input_shape[0], width)
        self.layer1 = Sequential(_convolve(width, 2 * width, halve=True), _pair(2 * width))
        self.layer2 = _convolve(2 * width, 4 * width, halve=True)
        self.layer3 = Sequential(_convolve(4 * width, 8 * width, halve=True), _pair(8 * width))
        self.head = nn.Linear(8 * width, spec.num_outputs, bias=False)
        self.scale = config.scale

    @classmethod
    def build(cls, config: ResNet9Config, spec: DataSpec) -> Self:
        """The network for images of 8 x 8 and more."""
        check_image_size("resnet9 halves an image three times", spec, 8)
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, I, J) -> (B, K)."""
        x = self.layer3(self.layer2(self.layer1(self.prep(x))))
        outputs: Tensor = self.scale * self.head(x.amax(dim=(2, 3)))
        return outputs


def _convolve(before: int, after: int, *, halve: bool = False) -> Sequential:
    """Convolution, batch norm, ReLU; halving comes before the norm, which then has less to do.

    ReLU and maximum commute. Batch norm and maximum do so for positive scales, but its statistics
    are then those of the maxima.
    """
    convolution = nn.Conv2d(before, after, 3, padding=1, bias=False)
    pool = [nn.MaxPool2d(2)] if halve else []
    return Sequential(convolution, *pool, nn.BatchNorm2d(after), nn.ReLU())


def _pair(channels: int) -> Residual:
    body = Sequential(_convolve(channels, channels), _convolve(channels, channels))
    return Residual(body, channels, channels)
