"""Gaussian noise on every pixel, drawn anew in every image and every epoch.

Shapes: B images (B, C, I, J).
Source: Bishop (1995), "Training with noise is equivalent to Tikhonov regularization".
"""

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.data.augment.augmentation import Retouch
from netwright.data.augment.colour import value_range


def noise(
    images: Tensor, strength: float, generator: torch.Generator, out: Tensor | None = None
) -> Tensor:
    """Add normal numbers whose deviation is this share of the batch's range."""
    low, high = value_range(images)
    numbers = torch.empty_like(images) if out is None else out
    numbers.normal_(generator=generator)
    return numbers.mul_(strength * (high - low)).add_(images)


NOISE = Retouch(
    change=noise,
    strength=0.05,
    most=1,
    card=Card(
        sentence="Normal noise on every pixel: for a linear model with a squared loss, weight "
        "decay by another name.",
        formula=r"x' = x + n \qquad n \sim N(0, (s r)^2)",
        symbols={
            "x": "an image (C, I, J)",
            "n": "the noise, of the same shape; values may leave the range",
            "r": "the range of the batch, from its lowest to its highest value",
            "s": "the strength",
        },
        source="Bishop (1995), Neural Computation 7, 108-116",
    ),
)
