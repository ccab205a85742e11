"""Pooling by name: the largest value of each window, or its mean; windows do not overlap.

Shapes: maps (B, channels, I, J) -> (B, channels, I // size, J // size).
"""

from typing import Literal

from torch import nn

Pooling = Literal["max", "average"]


def build_pooling(name: Pooling, size: int) -> nn.Module:
    """Windows of `size` rows and columns; what does not fill a window is left out."""
    return nn.MaxPool2d(size) if name == "max" else nn.AvgPool2d(size)
