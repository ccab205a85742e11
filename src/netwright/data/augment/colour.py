r"""Brightness, contrast and colour jitter: the values of pixels change, the pixels stay.

    x' = a (M x - m) + m + b        M_kl = (1 + 2 s cos(h + 2 pi (l - k) / 3)) / 3

a is the contrast around the image's mean m, b the brightness. M turns the colours by the angle h
around the axis of greys and stretches them away from it by the saturation s; greys stay as they
are, since the rows of M add up to 1. So all of colour jitter is one small matrix an image, and one
pass over the pixels; a turn by a third is what HSV's hue does to any colour, other turns differ by
2.3 degrees at most.

Nothing here needs to know how pixels are encoded: brightness is a share of the range of the batch,
and values are kept within that range. If all pixels are scaled and shifted (one scale for all
channels, as [0, 1] or standardised images have it), so are the results.

Shapes: B images (B, C, I, J), a number for each image (B, 1, 1, 1).
"""

import math
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.data.augment.augmentation import Retouch, uniform


def value_range(images: Tensor) -> tuple[Tensor, Tensor]:
    """The lowest and the highest value of the batch, each ()."""
    low, high = images.aminmax()
    return low, high


def within(values: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """The same tensor with its values moved into [low, high]."""
    if values.is_cuda:
        return values.clamp_(low, high)
    return values.clamp_min_(low).clamp_max_(high)  # both at once is slow on a CPU


def brightened(images: Tensor, lift: Tensor, out: Tensor | None = None) -> Tensor:
    """Lighter by a share of the batch's range, each image by its own."""
    low, high = value_range(images)
    return within(torch.add(images, lift * (high - low), out=out), low, high)


def contrasted(images: Tensor, factor: Tensor, out: Tensor | None = None) -> Tensor:
    """Further from the image's own mean by a factor."""
    low, high = value_range(images)
    offset = images.mean(dim=(1, 2, 3), keepdim=True) * (1 - factor)
    return within(torch.mul(images, factor, out=out).add_(offset), low, high)


class _Constants(NamedTuple):
    """Small tensors that every batch needs: made once for a device.

    Args:
        turns: 2 pi (l - k) / 3, (3, 3).
        third: 1/3, ().
        middles: lift, contrast, saturation and hue of an image that stays as it is, (4, 1, 1, 1).
        reaches: how far they go from there at strength 1, (4, 1, 1, 1).
    """

    turns: Tensor
    third: Tensor
    middles: Tensor
    reaches: Tensor


@cache
def _constants(dtype: torch.dtype, device: torch.device) -> _Constants:
    third = torch.arange(3, dtype=dtype, device=device) * (2 * math.pi / 3)
    middles, reaches = torch.tensor(
        [[0, 1, 1, 0], [1 / 2, 1, 1, math.pi / 2]], dtype=dtype, device=device
    ).view(2, 4, 1, 1, 1)
    return _Constants(third - third[:, None], third.new_tensor(1 / 3), middles, reaches)


def colour_matrix(saturation: Tensor, hue: Tensor) -> Tensor:
    """Matrices (B, 3, 3) that turn colours by an angle (B, 1, 1) and stretch them by a factor."""
    constants = _constants(hue.dtype, hue.device)
    turned = (constants.turns + hue).cos_()
    return torch.addcmul(constants.third, saturation, turned, value=2 / 3)


def recoloured(
    images: Tensor,
    lift: Tensor,
    contrast: Tensor,
    saturation: Tensor,
    hue: Tensor,
    out: Tensor | None = None,
) -> Tensor:
    """Images (B, 3, I, J) in another light, each by its own four numbers, (B, 1, 1) each."""
    low, high = value_range(images)
    pixels = images.flatten(2)  # (B, 3, I J)
    mean = pixels.mean(dim=(1, 2), keepdim=True)
    offset = torch.addcmul(mean, mean, contrast, value=-1).addcmul_(lift, high - low)
    matrix = colour_matrix(saturation, hue).mul_(contrast)
    room = None if out is None else out.view_as(pixels)
    values = torch.baddbmm(offset, matrix, pixels, out=room)
    return within(values, low, high).view_as(images)


def brightness(
    images: Tensor, strength: float, generator: torch.Generator, out: Tensor | None = None
) -> Tensor:
    """Lighter or darker by up to this share of the range."""
    return brightened(images, uniform(images, -strength, strength, generator), out)


def contrast(
    images: Tensor, strength: float, generator: torch.Generator, out: Tensor | None = None
) -> Tensor:
    """Contrast between 1 - strength and 1 + strength."""
    return contrasted(images, uniform(images, 1 - strength, 1 + strength, generator), out)


def colour_jitter(
    images: Tensor, strength: float, generator: torch.Generator, out: Tensor | None = None
) -> Tensor:
    """Brightness, contrast, saturation and hue at once."""
    constants = _constants(images.dtype, images.device)
    shares = images.new_empty(4, len(images), 1, 1)
    shares.uniform_(-strength, strength, generator=generator)
    lift, factor, saturation, hue = torch.addcmul(constants.middles, shares, constants.reaches)
    return recoloured(images, lift, factor, saturation, hue, out)


_X = {"x": "an image (C, I, J); x' is kept within the range of its batch"}
_MEAN = {"m": "the mean of the image"}
_HOWARD = "Howard (2013), arXiv 1312.5402"

BRIGHTNESS = Retouch(
    change=brightness,
    in_place=True,
    strength=0.2,
    most=1,
    card=Card(
        sentence="The image becomes lighter or darker as a whole.",
        formula=r"x' = x + b r \qquad b \sim U(-s, s)",
        symbols={
            **_X,
            "b": "the brightness of one image",
            "r": "the range of the batch, from its lowest to its highest value",
            "s": "the strength",
        },
        source=_HOWARD,
    ),
)
CONTRAST = Retouch(
    change=contrast,
    in_place=True,
    strength=0.2,
    most=1,
    card=Card(
        sentence="Values move away from the image's mean, or towards it.",
        formula=r"x' = a (x - m) + m \qquad a \sim U(1 - s, 1 + s)",
        symbols={**_X, **_MEAN, "a": "the contrast of one image", "s": "the strength"},
        source=_HOWARD,
    ),
)
COLOUR_JITTER = Retouch(
    change=colour_jitter,
    strength=0.2,
    most=1,
    channels=3,
    card=Card(
        sentence="Brightness, contrast, saturation and hue change together, as in another light.",
        formula=r"x' = a (M x - m) + m + b r \qquad "
        r"M_{kl} = \frac{1 + 2 c \cos(h + 2 \pi (l - k) / 3)}{3}",
        symbols={
            **_X,
            **_MEAN,
            "a": "contrast, from 1 - s to 1 + s",
            "b": "brightness, from -s/2 to s/2",
            "c": "saturation, from 1 - s to 1 + s",
            "h": "hue: a turn of up to s/4 either way",
            "M": "(3, 3): turns and stretches colours around the axis of greys",
            "r": "the range of the batch",
            "s": "the strength",
        },
        source=f"{_HOWARD}; Haeberli (1993), Matrix operations for image processing",
    ),
)
