"""Residual networks for CIFAR-10: 6n + 2 narrow layers, and shortcuts that have no parameters.

    3x3 convolution, then three stages of n basic blocks with 16, 32 and 64 channels

A shortcut to more channels takes every second pixel and pads with zeros (option A), so a network
and its plain twin (residual=False) have the same number of parameters.

Shapes: as in resnet.py.
Source: He et al., "Deep Residual Learning for Image Recognition" (2015), section 4.2.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from netwright.core.config import Config, Doc, Size
from netwright.layers.convolution.residual_block import Shortcut
from netwright.models.published_sizes import CIFAR_RESNETS
from netwright.models.variant import find_variant
from netwright.models.vision.resnet import ResNet, ResNetConfig, Stem, make_size


@dataclass(frozen=True, kw_only=True)
class CifarResNetConfig(ResNetConfig):
    """Settings of a residual network for small images."""

    width: Annotated[Size, Doc("channels of the first stage; doubled in each further stage")] = 16
    stem: Annotated[
        Stem,
        Doc("small keeps the image's size, imagenet downsamples by 4 before the first stage"),
    ] = "small"


class CifarResNet(ResNet):
    """Three stages of n basic blocks; a size says n."""

    settings: ClassVar[type[Config]] = CifarResNetConfig
    shortcut: ClassVar[Shortcut] = "padding"


CONVOLUTIONS = "narrow pairs of 3x3 convolutions for small images"
__getattr__ = find_variant(
    __name__, (make_size(CifarResNet, size, CONVOLUTIONS) for size in CIFAR_RESNETS.values())
)
