"""Residual blocks of convolutions: a shortcut, plus what a few normalised convolutions add to it.

    basic         3x3 -> 3x3
    bottleneck    1x1 (fewer channels) -> 3x3 -> 1x1 (four times as many)

Each convolution is followed by batch norm, and each but the last by ReLU: the last ReLU comes after
the sum. Parts have torchvision's names, so that its weights fit.

Shapes: B batch, C channels in, E channels out, I/J height/width; a stride of 2 halves I and J,
rounded up.
Source: He et al., "Deep Residual Learning for Image Recognition" (2015), section 3; the stride in
the 3x3 of a bottleneck is that of Goyal et al. (2017), "ResNet v1.5".
"""

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

from torch import Tensor, nn
from torch.nn import functional

from netwright.layers.convolution.folded_norm import FoldedConvolution
from netwright.layers.convolution.fused_norm import has_fused_norm, normalized
from netwright.layers.convolution.fused_sequence import Sequential

Shortcut = Literal["projection", "padding", "none"]


class PaddedShortcut(nn.Module):
    """Every `stride`-th pixel, and zeros for the channels that are new: no parameters.

    Args:
        new_channels: E - C.
        stride: 1 or 2.
    """

    def __init__(self, new_channels: int, stride: int) -> None:
        super().__init__()
        self.new_channels, self.stride = new_channels, stride

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, I, J) -> (B, E, I / stride, J / stride)."""
        kept = x[:, :, :: self.stride, :: self.stride]
        return functional.pad(kept, (0, 0, 0, 0, 0, self.new_channels))


def convolution(before: int, after: int, size: int, stride: int = 1) -> nn.Conv2d:
    """A convolution that keeps height and width at stride 1; batch norm brings the bias."""
    return nn.Conv2d(before, after, size, stride=stride, padding=size // 2, bias=False)


def build_shortcut(kind: Shortcut, before: int, after: int, stride: int) -> nn.Module:
    """How x gets around the convolutions: unchanged where its shape is that of their output."""
    if kind == "none" or (before == after and stride == 1):
        return nn.Identity()
    if kind == "padding":
        return PaddedShortcut(after - before, stride)
    return Sequential(convolution(before, after, 1, stride), nn.BatchNorm2d(after))


class ResidualBlock(nn.Module, ABC):
    """relu(shortcut(x) + F(x)), where F are the convolutions; relu(F(x)) without a shortcut."""

    expansion: ClassVar[int]  # E over the channels that the block is named by
    downsample: nn.Module
    has_shortcut: bool

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, I, J) -> (B, E, I / stride, J / stride); x is used up where norms are folded."""
        out, norm = self.convolved(x), self.last_norm
        if isinstance(norm, FoldedConvolution) or has_fused_norm(norm, out):
            return normalized(norm, out, added=self.downsample(x) if self.has_shortcut else None)
        out = norm(out)
        if self.has_shortcut:
            out = out + self.downsample(x)
        return functional.relu(out)

    def deviation(self, x: Tensor) -> Tensor:
        """F(x): what is learned on top of the shortcut."""
        last: Tensor = self.last_norm(self.convolved(x))
        return last

    @abstractmethod
    def convolved(self, x: Tensor) -> Tensor:
        """What the last convolution gives, before it is normalised."""

    @property
    @abstractmethod
    def last_norm(self) -> nn.BatchNorm2d:
        """What normalises it."""


class BasicBlock(ResidualBlock):
    """Two 3x3 convolutions.

    Args:
        in_channels: C.
        channels: E.
        stride: of the first convolution.
        shortcut: where the shape changes x is projected, or padded; "none" gives the plain block.
    """

    expansion: ClassVar[int] = 1

    def __init__(
        self, in_channels: int, channels: int, stride: int = 1, shortcut: Shortcut = "projection"
    ) -> None:
        super().__init__()
        self.conv1 = convolution(in_channels, channels, 3, stride)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = convolution(channels, channels, 3)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample = build_shortcut(shortcut, in_channels, channels, stride)
        self.has_shortcut = shortcut != "none"

    @property
    def last_norm(self) -> nn.BatchNorm2d:
        """The second."""
        return self.bn2

    def convolved(self, x: Tensor) -> Tensor:
        """(B, C, I, J) -> (B, E, I / stride, J / stride)."""
        last: Tensor = self.conv2(normalized(self.bn1, self.conv1(x)))
        return last


class Bottleneck(ResidualBlock):
    """A 3x3 convolution on a quarter of the channels, between two 1x1 that lead there and back.

    Args:
        in_channels: C.
        channels: E / 4.
        stride: of the 3x3 convolution.
        shortcut: where the shape changes x is projected, or padded; "none" gives the plain block.
    """

    expansion: ClassVar[int] = 4

    def __init__(
        self, in_channels: int, channels: int, stride: int = 1, shortcut: Shortcut = "projection"
    ) -> None:
        super().__init__()
        out_channels = self.expansion * channels
        self.conv1 = convolution(in_channels, channels, 1)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = convolution(channels, channels, 3, stride)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv3 = convolution(channels, out_channels, 1)
        self.bn3 = nn.BatchNorm2d(out_channels)
        self.downsample = build_shortcut(shortcut, in_channels, out_channels, stride)
        self.has_shortcut = shortcut != "none"

    @property
    def last_norm(self) -> nn.BatchNorm2d:
        """The third."""
        return self.bn3

    def convolved(self, x: Tensor) -> Tensor:
        """(B, C, I, J) -> (B, E, I / stride, J / stride)."""
        out = normalized(self.bn1, self.conv1(x))
        last: Tensor = self.conv3(normalized(self.bn2, self.conv2(out)))
        return last
