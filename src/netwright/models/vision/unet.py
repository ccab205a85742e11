r"""U-Net: down to what an image shows, up again to where, with a bridge at every size.

Each step down halves the image and doubles the channels; each step up undoes that, and is handed
what the same size looked like on the way down. Here convolutions keep the size of the image, so a
mask is as large as its image, and sizes that cannot be halved so often are widened within.

Shapes: B images, C channels in and classes out, I rows, J columns.
Source: Ronneberger, Fischer and Brox, "U-Net: Convolutional Networks for Biomedical Image
Segmentation" (2015).
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import torch
from annotated_types import Interval
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config, Doc, OneOf, Size
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.initializers import INITIALIZERS, initialize
from netwright.models.model import Model


@dataclass(frozen=True, kw_only=True)
class UNetConfig(Config):
    """Settings of the U-Net."""

    width: Annotated[Size, Doc("channels of the first stage; the paper has 64")] = 32
    depth: Annotated[int, Interval(gt=0, le=30), Doc("number of downsampling stages")] = 4
    batch_norm: Annotated[bool, Doc("batch normalisation")] = True
    skips: Annotated[bool, Doc("skip connections from encoder to decoder")] = True
    initializer: Annotated[str, OneOf(INITIALIZERS), Doc("weight initialisation")] = "he-normal"


class StepUp(nn.Module):
    """Twice the sides and half the channels, joined with what came by at that size; convolved.

    Args:
        width: channels that leave it.
        config: of the whole network.
    """

    def __init__(self, width: int, config: UNetConfig) -> None:
        super().__init__()
        self.rise = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.stage = _convolutions(2 * width if config.skips else width, width, config)
        self.skips = config.skips

    def forward(self, x: Tensor, bridge: Tensor) -> Tensor:
        """(B, 2 width, I, J) and the bridge (B, width, 2I, 2J) -> as the bridge."""
        x = self.rise(x)
        out: Tensor = self.stage(torch.cat([bridge, x], dim=1) if self.skips else x)
        return out


class UNet(Model):
    """Pairs of convolutions on the way down and up, joined at every size; one logit a class."""

    settings: ClassVar[type[Config]] = UNetConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"mask"})
    card: ClassVar[Card] = Card(
        sentence="Convolutions down to a small image of many channels and up again to a mask, "
        "where every size on the way up sees what it was on the way down.",
        formula=r"d_0 = f_0(x), \quad d_{l+1} = f_{l+1}(\mathrm{pool}(d_l)), \quad u_L = d_L, "
        r"\quad u_l = g_l([d_l, \mathrm{up}(u_{l+1})]), \quad z = W u_0 + b",
        symbols={
            "x": "an image (C, I, J)",
            "f_l, g_l": "two convolutions of 3 by 3, each with batch norm and ReLU",
            "d_l, u_l": "stage l on the way down and up, 2^l times the width, sides I / 2^l, J / "
            "2^l; L is the depth",
            r"\mathrm{pool}": "the maximum of 2 by 2 pixels",
            r"\mathrm{up}": "a transposed convolution of 2 by 2: twice the sides, half the "
            "channels",
            "z": "the logits of every pixel, (classes, I, J); W is a convolution of 1 by 1",
        },
        source="Ronneberger, Fischer and Brox (2015), MICCAI, 234-241",
    )

    def __init__(self, config: UNetConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        widths = [config.width * 2**stage for stage in range(config.depth + 1)]
        self.first = _convolutions(spec.input_shape[0], widths[0], config)
        self.down = nn.ModuleList(_convolutions(width, 2 * width, config) for width in widths[:-1])
        self.up = nn.ModuleList(StepUp(width, config) for width in reversed(widths[:-1]))
        self.head = nn.Conv2d(widths[0], spec.num_outputs, 1)
        self.multiple = 2**config.depth
        initialize(self, config.initializer)

    @classmethod
    def build(cls, config: UNetConfig, spec: DataSpec) -> Self:
        """A U-Net with as many channels in and classes out as the data has."""
        _, tall, wide = spec.input_shape
        least = 2**config.depth
        if min(tall, wide) < least:
            raise ConfigError(
                f"a unet of depth {config.depth} halves an image {config.depth} times: it must "
                f"be at least {least} x {least}, got {tall} x {wide}"
            )
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, I, J) -> one logit a class and pixel, (B, classes, I, J)."""
        tall, wide = x.shape[2:]
        padding = (0, -wide % self.multiple, 0, -tall % self.multiple)
        if any(padding):
            x = F.pad(x, padding, mode="replicate")
        x = self.first(x)
        passed = []
        for stage in self.down:
            passed.append(x)
            x = stage(F.max_pool2d(x, 2))
        for step in self.up:
            x = step(x, passed.pop())
        logits: Tensor = self.head(x)
        return logits[..., :tall, :wide]


def _convolutions(before: int, after: int, config: UNetConfig) -> nn.Sequential:
    """Convolution of 3 by 3, normalise, ReLU; twice."""
    layers: list[nn.Module] = []
    for channels in (before, after):
        layers.append(nn.Conv2d(channels, after, 3, padding=1, bias=not config.batch_norm))
        if config.batch_norm:
            layers.append(nn.BatchNorm2d(after))
        layers.append(nn.ReLU(inplace=True))
    return nn.Sequential(*layers)
