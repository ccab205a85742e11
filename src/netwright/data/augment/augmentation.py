"""An augmentation: a random change of images after which they still show the same.

Every image of a batch is changed by numbers of its own, all images at once: the numbers are drawn
as one tensor, from a generator on the images' device, and nothing waits for that device.

Shapes: B images, C channels, I rows, J columns.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.errors import ConfigError, DataError

Change = Callable[[Tensor, float, torch.Generator, Tensor | None], Tensor]


@dataclass(frozen=True, kw_only=True)
class Augmentation(ABC):
    """The abstract kind, a row's part in the catalog of augmentations.

    Args:
        card: sentence, formula, symbols (s is the strength), source.
        strength: where none is asked for.
        least: the smallest strength; 0 for any above 0.
        most: the largest strength.
        in_pixels: the strength is a whole number of pixels, fewer than an image has on a side.
        channels: that images must have; None for any number.
        in_place: the result may be written over the images.
    """

    card: Card
    strength: float
    least: float = 0.0
    most: float = math.inf
    in_pixels: bool = False
    channels: int | None = None
    in_place: bool = False

    @abstractmethod
    def apply(
        self,
        images: Tensor,
        strength: float,
        generator: torch.Generator,
        out: Tensor | None = None,
    ) -> Tensor:
        """Images (B, C, I, J) of floats -> changed ones of the same shape and dtype.

        Args:
            images: they stay as they are, unless they are `out`.
            strength: how much.
            generator: on the images' device; all chance comes from it.
            out: room for the result, or None for fresh memory; the result may lie elsewhere.
        """

    def check(self, name: str, strength: float, image_shape: tuple[int, ...]) -> None:
        """Refuse a strength that it cannot have, and images that it cannot change."""
        if self.channels not in (None, image_shape[0]):
            raise DataError(
                f"augmentation {name!r} needs images of {self.channels} channels, "
                f"got {image_shape[0]}"
            )
        most = min(image_shape[1:]) - 1 if self.in_pixels else self.most
        in_range = 0 < strength and self.least <= strength <= most
        if not (in_range and math.isfinite(strength)):  # NaN is refused too
            low = f"at least {self.least:g}" if self.least else "greater than 0"
            high = "" if math.isinf(most) else f" and at most {most:g}"
            raise ConfigError(
                f"the strength of augmentation {name!r} must be {low}{high}, got {strength:g}"
            )
        if self.in_pixels and strength != int(strength):
            raise ConfigError(
                f"the strength of augmentation {name!r} must be a whole number of pixels, "
                f"got {strength:g}"
            )


@dataclass(frozen=True, kw_only=True)
class Retouch(Augmentation):
    """Changes the values of pixels where they are.

    Args:
        change: images, strength, generator, out -> images.
    """

    change: Change

    def apply(
        self,
        images: Tensor,
        strength: float,
        generator: torch.Generator,
        out: Tensor | None = None,
    ) -> Tensor:
        """See `Augmentation.apply`."""
        return self.change(images, strength, generator, out)


def uniform(like: Tensor, low: float, high: float, generator: torch.Generator) -> Tensor:
    """A number for each row of a tensor (B, ...), shaped (B, 1, ...) so that it spreads over it."""
    shape = (len(like), *(1 for _ in like.shape[1:]))
    return like.new_empty(shape).uniform_(low, high, generator=generator)
