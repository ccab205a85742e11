"""Mean and scale of each channel: agreed ones, those of the training images, or none.

Source: Krizhevsky, Sutskever and Hinton, "ImageNet classification with deep convolutional neural
networks" (2012), section 2 (why the mean is taken away).

Shapes: N images, C channels, I rows, J columns.
"""

from typing import Literal

import torch
from torch import Tensor

from netwright.data.images.decoding import CHANNELS, ImageMode
from netwright.data.pixels import ChannelScaling

Normalization = Literal["imagenet", "train", "none"]

# Of the photos of ImageNet, as most published weights expect them; grey is the mean of the three.
IMAGENET: dict[ImageMode, ChannelScaling] = {
    "L": ChannelScaling(mean=(0.449,), scale=(0.226,)),
    "RGB": ChannelScaling(mean=(0.485, 0.456, 0.406), scale=(0.229, 0.224, 0.225)),
    "RGBA": ChannelScaling(mean=(0.485, 0.456, 0.406, 0.5), scale=(0.229, 0.224, 0.225, 0.5)),
}


def agreed_scaling(kind: Literal["imagenet", "none"], mode: ImageMode) -> ChannelScaling:
    """The scaling that needs no image: ImageNet's, or bytes brought to [0, 1] and no more."""
    if kind == "imagenet":
        return IMAGENET[mode]
    channels = CHANNELS[mode]
    return ChannelScaling(mean=(0.0,) * channels, scale=(1.0,) * channels)


def measured_scaling(pixels: Tensor) -> ChannelScaling:
    """Mean and standard deviation of the channels of these bytes (N, C, I, J).

    They are told from how often each of the 256 bytes is there, so that no float is made of a
    pixel. A channel of one byte alone keeps its scale.
    """
    levels = torch.arange(256, dtype=torch.float64) / 255
    means, scales = [], []
    for channel in pixels.unbind(1):
        shares = torch.bincount(channel.flatten(), minlength=256).double() / channel.numel()
        mean = shares @ levels
        means.append(float(mean))
        scales.append(float((shares @ (levels - mean) ** 2).sqrt()) or 1.0)
    return ChannelScaling(mean=tuple(means), scale=tuple(scales))
