"""Residual networks for CIFAR-10: 6n + 2 narrow layers, and shortcuts that have no parameters.

    3x3 convolution, then three stages of n basic blocks with 16, 32 and 64 channels

A shortcut to more channels takes every second pixel and pads with zeros (option A), so a network
and its plain twin (residual=False) have the same number of parameters.

Shapes: as in resnet.py.
Source: He et al., "Deep Residual Learning for Image Recognition" (2015), section 4.2.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.layers.convolution.residual_block import BasicBlock, Bottleneck, Shortcut
from netwright.models.vision.resnet import ResNet, ResNetConfig, Stem, card_of


@dataclass(frozen=True, kw_only=True)
class CifarResNetConfig(ResNetConfig):
    """Settings of a residual network for small images."""

    width: Annotated[Size, Doc("channels of the first stage; each further stage has twice")] = 16
    stem: Annotated[
        Stem, Doc("small keeps the image's size, imagenet quarters it before the first stage")
    ] = "small"


class CifarResNet(ResNet):
    """Three stages of n basic blocks; the subclasses say n."""

    block: ClassVar[type[BasicBlock | Bottleneck]] = BasicBlock
    shortcut: ClassVar[Shortcut] = "padding"


@dataclass(frozen=True, kw_only=True)
class ResNet20Config(CifarResNetConfig):
    """Settings of ResNet-20."""


class ResNet20(CifarResNet):
    """n = 3."""

    settings: ClassVar[type[Config]] = ResNet20Config
    blocks: ClassVar[tuple[int, ...]] = (3, 3, 3)
    card: ClassVar[Card] = card_of(20, "narrow pairs of 3x3 convolutions for small images")


@dataclass(frozen=True, kw_only=True)
class ResNet32Config(CifarResNetConfig):
    """Settings of ResNet-32."""


class ResNet32(CifarResNet):
    """n = 5."""

    settings: ClassVar[type[Config]] = ResNet32Config
    blocks: ClassVar[tuple[int, ...]] = (5, 5, 5)
    card: ClassVar[Card] = card_of(32, "narrow pairs of 3x3 convolutions for small images")


@dataclass(frozen=True, kw_only=True)
class ResNet44Config(CifarResNetConfig):
    """Settings of ResNet-44."""


class ResNet44(CifarResNet):
    """n = 7."""

    settings: ClassVar[type[Config]] = ResNet44Config
    blocks: ClassVar[tuple[int, ...]] = (7, 7, 7)
    card: ClassVar[Card] = card_of(44, "narrow pairs of 3x3 convolutions for small images")


@dataclass(frozen=True, kw_only=True)
class ResNet56Config(CifarResNetConfig):
    """Settings of ResNet-56."""


class ResNet56(CifarResNet):
    """n = 9."""

    settings: ClassVar[type[Config]] = ResNet56Config
    blocks: ClassVar[tuple[int, ...]] = (9, 9, 9)
    card: ClassVar[Card] = card_of(56, "narrow pairs of 3x3 convolutions for small images")


@dataclass(frozen=True, kw_only=True)
class ResNet110Config(CifarResNetConfig):
    """Settings of ResNet-110."""


class ResNet110(CifarResNet):
    """n = 18."""

    settings: ClassVar[type[Config]] = ResNet110Config
    blocks: ClassVar[tuple[int, ...]] = (18, 18, 18)
    card: ClassVar[Card] = card_of(110, "narrow pairs of 3x3 convolutions for small images")
