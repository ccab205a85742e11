"""Residual networks: a stem, stages of residual blocks at falling resolution, a mean over pixels.

    stem "imagenet"   7x7 convolution of stride 2, then max-pooling of stride 2: a quarter
    stem "small"      3x3 convolution at full resolution, for images of 64 x 64 and less
    stage k           blocks of 2^(k-1) width channels; from the second on the first block halves

Every halving rounds up, so that an image of any size goes through; where it is smaller than all
halvings together, the last stages see a single pixel. Layers and names are torchvision's.

Shapes: B batch, C channels of the image, I/J height/width, K outputs.
Source: He et al., "Deep Residual Learning for Image Recognition" (2015), table 1.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.convolution.fused_norm import normalized
from netwright.layers.convolution.fused_pooling import pooled
from netwright.layers.convolution.fused_stem import convolved
from netwright.layers.convolution.residual_block import BasicBlock, Bottleneck, Shortcut
from netwright.models.model import Model
from netwright.models.published_sizes import RESNETS, ResNetSize
from netwright.models.variant import find_variant, make_variant
from netwright.models.vision.first_kernels import draw_kernels

Stem = Literal["imagenet", "small"]
SYMBOLS = {
    "x_l": "what comes into block l, (channels, I, J)",
    "F_l": "the block's convolutions, each with batch norm, ReLU between them",
    "S_l": "the shortcut: x itself, or what brings it to a new shape",
    "W, b": "weights and bias of the last map, (K, channels) and (K)",
    r"\mathrm{mean}": "over the pixels of each channel",
}
FORMULA = r"x_{l+1} = \mathrm{ReLU}(S_l(x_l) + F_l(x_l)), \quad f(x) = W \, \mathrm{mean}(x_L) + b"
MISPRINT = (
    "That deep plain networks train worse is often put down to vanishing gradients; with batch norm"
    " they do not vanish, and the difficulty is one of optimisation."
)


@dataclass(frozen=True, kw_only=True)
class ResNetConfig(Config):
    """Settings of a residual network."""

    width: Annotated[Size, Doc("channels of the first stage; doubled in each further stage")] = 64
    stem: Annotated[
        Stem, Doc("imagenet downsamples by 4 before the first stage, small keeps the size")
    ] = "imagenet"
    residual: Annotated[bool, Doc("residual connections; without, the plain network")] = True


class ResNet(Model):
    """Stem, stages, mean over the pixels, affine map; a size says which blocks."""

    settings: ClassVar[type[Config]] = ResNetConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    block: ClassVar[type[BasicBlock | Bottleneck]]
    blocks: ClassVar[tuple[int, ...]]  # of each stage
    shortcut: ClassVar[Shortcut] = "projection"

    def __init__(self, config: ResNetConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        size, stride = (7, 2) if config.stem == "imagenet" else (3, 1)
        self.conv1 = nn.Conv2d(
            spec.input_shape[0], config.width, size, stride, padding=size // 2, bias=False
        )
        self.bn1 = nn.BatchNorm2d(config.width)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1) if stride == 2 else nn.Identity()
        shortcut: Shortcut = self.shortcut if config.residual else "none"
        before = config.width
        for number, count in enumerate(self.blocks, start=1):
            channels = config.width * 2 ** (number - 1)
            first = self.block(before, channels, 1 if number == 1 else 2, shortcut)
            before = channels * self.block.expansion
            rest = (self.block(before, channels, 1, shortcut) for _ in range(count - 1))
            self.add_module(f"layer{number}", nn.Sequential(first, *rest))
        self.fc = nn.Linear(before, spec.num_outputs)
        draw_kernels(self)

    @classmethod
    def build(cls, config: ResNetConfig, spec: DataSpec) -> Self:
        """The network for images of any size and number of channels."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, I, J) -> (B, K)."""
        x = pooled(self.maxpool, normalized(self.bn1, convolved(self.conv1, x)))
        for number in range(1, len(self.blocks) + 1):
            x = self.get_submodule(f"layer{number}")(x)
        outputs: Tensor = self.fc(x.mean(dim=(2, 3)))
        return outputs


def make_size(family: type[ResNet], size: ResNetSize, convolutions: str) -> type[ResNet]:
    """The network of one size.

    Args:
        family: the class that the sizes share.
        size: its row.
        convolutions: of a block, in words.
    """
    card = Card(
        sentence=f"A residual network of {size.layers} layers: {convolutions}, each added to its"
        " input.",
        formula=FORMULA,
        symbols=SYMBOLS,
        source="He et al. (2015), arXiv 1512.03385",
        misprint=MISPRINT,
    )
    block = BasicBlock if size.block == "basic" else Bottleneck
    return make_variant(family, size.kind, card=card, block=block, blocks=size.blocks)


CONVOLUTIONS = {
    "basic": "pairs of 3x3 convolutions",
    "bottleneck": "triples of 1x1, 3x3 and 1x1 convolutions",
}
__getattr__ = find_variant(
    __name__, (make_size(ResNet, size, CONVOLUTIONS[size.block]) for size in RESNETS.values())
)
