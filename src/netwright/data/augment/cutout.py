"""Cutout: a square of the image is blanked, so that no single part of it can be relied on.

Shapes: B images (B, C, I, J).
Source: DeVries and Taylor, "Improved regularization of convolutional neural networks with cutout"
(2017).
"""

from functools import cache

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.data.augment.augmentation import Retouch


def blanked(images: Tensor, side: int, first: Tensor, out: Tensor | None = None) -> Tensor:
    """Zeros in a square of each image; what of it lies outside is lost.

    Args:
        images: (B, C, I, J).
        side: of the square, in pixels.
        first: the square's first row and column (2, B, 1), which may lie outside.
        out: room for the result, or None; it may be the images.
    """
    _, _, tall, wide = images.shape
    places = _places(max(tall, wide), first.device)
    is_beyond = (places - (first + (side - 1) / 2)).abs_() > side / 2  # (2, B, longest side)
    is_kept = is_beyond[0, :, :tall, None] | is_beyond[1, :, None, :wide]
    # Times 0 or 1: ten times as fast on a CPU as `where`.
    return torch.mul(images, is_kept.to(images.dtype)[:, None], out=out)


@cache
def _places(count: int, device: torch.device) -> Tensor:
    """0, 1, 2 ...; the same for every batch."""
    return torch.arange(count, device=device)


@cache
def _sizes(tall: int, wide: int, device: torch.device) -> Tensor:
    """The two sides of an image, (2, 1, 1)."""
    return torch.tensor([tall, wide], device=device).view(2, 1, 1)


def cutout(
    images: Tensor, strength: float, generator: torch.Generator, out: Tensor | None = None
) -> Tensor:
    """Blank a square whose middle is any pixel of the image."""
    side = int(strength)
    return blanked(images, side, draw_squares(images, side, generator), out)


def draw_squares(images: Tensor, side: int, generator: torch.Generator) -> Tensor:
    """The first row and column of a square in each image, (2, B, 1)."""
    shares = torch.rand(2, len(images), 1, generator=generator, device=images.device)
    middles = shares.mul_(_sizes(*images.shape[2:], images.device)).floor_()
    return middles.sub_(side // 2)


CUTOUT = Retouch(
    change=cutout,
    in_place=True,
    strength=4,
    in_pixels=True,
    card=Card(
        sentence="A square of the image is set to zero; its centre may be any pixel, so it may "
        "extend past the border.",
        formula=r"x'_{ij} = 0 \quad \text{where } u \leq i < u + s, \; v \leq j < v + s",
        symbols={
            "x": "an image (C, I, J); 0 is black in [0, 1], and the mean of standardised images",
            "u, v": "first row and column of the square of one image",
            "s": "the strength: the side of the square in pixels",
        },
        source="DeVries and Taylor (2017), arXiv 1708.04552",
    ),
)
