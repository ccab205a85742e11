"""Images held as bytes, and turned into floats a batch at a time, where they lie.

    encoded = (byte / 255 - mean) / scale        mean and scale of each channel

A byte takes a quarter of the room of a float, so data sets that would not fit do fit, also on a
graphics card.

Shapes: N images, B of a batch, C channels, I rows, J columns.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.errors import DataError
from netwright.data.dataset import Split

MOST_BYTES = 2**31  # of floats that are made all at once


@dataclass(frozen=True)
class ChannelScaling:
    """How bytes become floats, channel by channel.

    Args:
        mean: what is taken from each channel (C,), of bytes brought to [0, 1].
        scale: what each channel is then divided by (C,).
    """

    mean: tuple[float, ...]
    scale: tuple[float, ...]

    def columns(self, device: torch.device) -> tuple[Tensor, Tensor]:
        """Offset and factor (C, 1, 1) each: encoded = offset + factor * byte."""
        offset = [-mean / scale for mean, scale in zip(self.mean, self.scale, strict=True)]
        factor = [1 / (255 * scale) for scale in self.scale]
        return _column(offset, device), _column(factor, device)

    def encode(self, pixels: Tensor) -> Tensor:
        """Bytes (..., C, I, J) -> float32."""
        offset, factor = self.columns(pixels.device)
        return torch.addcmul(offset, pixels, factor)

    def decode(self, images: Tensor) -> Tensor:
        """Floats (..., C, I, J) -> the bytes that they come from."""
        offset, factor = self.columns(images.device)
        return ((images - offset) / factor).round().clamp(0, 255).to(torch.uint8)


def _column(values: list[float], device: torch.device) -> Tensor:
    return torch.tensor(values, dtype=torch.float32, device=device)[:, None, None]


class PixelSplit(Split):
    """A split of images that are held as bytes; `read` and `inputs` give floats.

    Args:
        pixels: (N, C, I, J) uint8.
        scaling: how they become floats.
        targets: as in `Split`; masks are (N, I, J) uint8.
        weights: as in `Split`.
    """

    pixels: Tensor
    scaling: ChannelScaling
    columns: tuple[Tensor, Tensor]

    def __init__(
        self,
        *,
        pixels: Tensor,
        scaling: ChannelScaling,
        targets: Tensor,
        weights: Tensor | None = None,
    ) -> None:
        check_shape("pixels", pixels, "N", len(scaling.mean), "I", "J")
        if pixels.dtype != torch.uint8:
            raise DataError(f"pixels must be bytes (uint8), got {pixels.dtype}")
        values = {
            "pixels": pixels,
            "scaling": scaling,
            "targets": targets,
            "weights": weights,
            "columns": scaling.columns(pixels.device),  # once: a batch waits for no copy
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)  # a split is frozen

    def __len__(self) -> int:
        return len(self.pixels)

    def __repr__(self) -> str:
        return f"PixelSplit({tuple(self.pixels.shape)})"

    @property
    def inputs(self) -> Tensor:
        """All images as floats (N, C, I, J), made now: for parts that are known to be small."""
        size = math.prod(self.pixels.shape) * torch.float32.itemsize
        if size > MOST_BYTES:
            raise DataError(
                f"all {len(self):,} images together take {size / 2**30:.1f} GiB as floats, at "
                f"most {MOST_BYTES / 2**30:.0f} GiB are allocated at once: use fewer or smaller "
                f"images, or a model that trains in batches"
            )
        return self.scaling.encode(self.pixels)

    def read(self, rows: Tensor) -> Tensor:
        """The images at these places (B, C, I, J), as floats."""
        offset, factor = self.columns
        return torch.addcmul(offset, self.pixels.index_select(0, rows), factor)

    def take(self, indices: Tensor) -> "PixelSplit":
        """The examples at these places, in this order, still as bytes."""
        return PixelSplit(
            pixels=self.pixels[indices],
            scaling=self.scaling,
            targets=self.targets[indices],
            weights=None if self.weights is None else self.weights[indices],
        )

    def with_targets(self, targets: Tensor, weights: Tensor | None) -> "PixelSplit":
        """The same bytes with other targets and weights."""
        return PixelSplit(
            pixels=self.pixels, scaling=self.scaling, targets=targets, weights=weights
        )

    def check_inputs(self, name: str) -> None:
        """Nothing to do: every byte is finite."""

    def to(self, device: torch.device) -> "PixelSplit":
        """The same examples on another device, still as bytes."""
        return PixelSplit(
            pixels=self.pixels.to(device),
            scaling=self.scaling,
            targets=self.targets.to(device),
            weights=None if self.weights is None else self.weights.to(device),
        )
