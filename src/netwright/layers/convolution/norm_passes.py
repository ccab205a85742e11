"""The kernels of batch norm one after the other, forward and backward: see `norm_kernels.py`.

Shapes: images (B, C, I, J) with the channels of a pixel side by side: N = B I J rows of C channels.
"""

from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from netwright.core.kernel_start import tiles, width
from netwright.layers.convolution import norm_kernels

WIDEST = 128  # channels of a tile
CHANGED = 4096  # numbers of a tile that is changed
ADDED, UNROLLED, WARPS = 2048, 4, 8  # of one that is added up: 16 bytes a thread, four at a time
PARTS = 528  # programs that add up at the same time: four on each of 132 processors
PART_BLOCK, JOINED = 256, 8  # parts and channels that are joined together


class Running(NamedTuple):
    """Statistics that move towards those of a batch, and how many batches they have seen."""

    mean: Tensor
    variance: Tensor
    seen: Tensor
    momentum: float


class _Cut(NamedTuple):
    """How rows of channels are cut into tiles.

    Args:
        kind: what kernels for them are told apart by.
        rows: N.
        channels: C.
        tile: rows and channels of one that is changed.
        added: those of one that is added up, and how many are read together.
        across: tiles beside each other.
        rows_each: that a program adds up.
        parts: programs that add up.
    """

    kind: tuple[Any, ...]
    rows: int
    channels: int
    tile: dict[str, int]
    added: dict[str, int]
    across: int
    rows_each: int
    parts: int

    @property
    def all_tiles(self) -> tuple[int, int]:
        """A program for each."""
        return tiles(self.rows, self.tile["row_block"]), self.across

    @property
    def sizes(self) -> tuple[int, int]:
        """What kernels that change each number are told."""
        return self.rows, self.channels


@cache
def _cut(device: torch.device, dtype: torch.dtype, rows: int, channels: int) -> _Cut:
    wide = width(channels, WIDEST)
    across, tall = tiles(channels, wide), ADDED // wide
    rows_each = tiles(tiles(rows, tall * UNROLLED), max(1, PARTS // across)) * tall * UNROLLED
    return _Cut(
        kind=(device, dtype, rows, channels),
        rows=rows,
        channels=channels,
        tile={"row_block": CHANGED // wide, "column_block": wide},
        added={"unrolled": UNROLLED, "row_block": tall, "column_block": wide},
        across=across,
        rows_each=rows_each,
        parts=tiles(rows, rows_each),
    )


def _cut_of(x: Tensor) -> _Cut:
    return _cut(x.device, x.dtype, x.numel() // x.shape[1], x.shape[1])


def forward_pass(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    added: Tensor | None,
    eps: float,
    rectifies: bool,
    running: Running | None = None,
) -> tuple[Tensor, Tensor]:
    """The output, and the moments (3, C): mean, 1 / deviation, unbiased variance.

    Args:
        x: images.
        weight: (C,) float32.
        bias: (C,) float32.
        added: before ReLU, of the shape of x; None: nothing.
        eps: added to the variance.
        rectifies: whether ReLU comes last.
        running: moved in place.
    """
    cut, adds = _cut_of(x), added is not None
    sums = weight.new_empty(cut.parts, 2, cut.channels)
    norm_kernels.add_up.start(
        cut.kind,
        (cut.parts, cut.across),
        (x, sums),
        (*cut.sizes, cut.rows_each),
        cut.added,
        warps=WARPS,
    )
    moments = weight.new_empty(3, cut.channels)
    _join(cut, sums, x, moments, eps, running)
    y = torch.empty_like(x)
    norm_kernels.apply.start(
        (*cut.kind, adds, rectifies),
        cut.all_tiles,
        (x, x if added is None else like(added, x), y, moments, weight, bias),
        cut.sizes,
        {"adds": adds, "rectifies": rectifies, **cut.tile},
    )
    return y, moments


def backward_pass(
    dy: Tensor,
    x: Tensor,
    y: Tensor | None,
    moments: Tensor,
    weight: Tensor,
    bias: Tensor,
    rectifies: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of x, of what was added (empty where it is dy), and of bias and weight (2, C).

    Args:
        dy: of the output.
        x: images.
        y: the output, where something was added to it.
        moments: of the images.
        weight: (C,) float32.
        bias: (C,) float32.
        rectifies: whether ReLU came last.
    """
    cut, dy = _cut_of(x), like(dy, x)
    adds = y is not None and rectifies
    passed = torch.empty_like(x) if adds else x.new_empty(0)
    sums = weight.new_empty(cut.parts, 2, cut.channels)
    norm_kernels.add_up_slopes.start(
        (*cut.kind, adds, rectifies),
        (cut.parts, cut.across),
        (dy, x, x if y is None else y, passed if adds else x, moments, weight, bias, sums),
        (*cut.sizes, cut.rows_each),
        {"adds": adds, "rectifies": rectifies, **cut.added},
        warps=WARPS,
    )
    both, dx = weight.new_empty(2, cut.channels), torch.empty_like(x)
    _join(cut, sums, x, both)
    norm_kernels.apply_slopes.start(
        (*cut.kind, rectifies and not adds),
        cut.all_tiles,
        (passed if adds else dy, x, dx, moments, weight, bias, both),
        cut.sizes,
        {"rectifies": rectifies and not adds, **cut.tile},
    )
    return dx, passed, both


def _join(
    cut: _Cut,
    sums: Tensor,
    x: Tensor,
    out: Tensor,
    eps: float = 0.0,
    running: Running | None = None,
) -> None:
    """Write the sums over all parts (2, C), or the moments that follow from them (3, C)."""
    moved, momentum = ((out, out, out), 0.0) if running is None else (running[:3], running.momentum)
    wide, of_values = min(JOINED, cut.tile["column_block"]), len(out) == 3
    norm_kernels.join.start(
        (*cut.kind, of_values, running is None),
        (tiles(cut.channels, wide), 1),
        (sums, x, out, *moved),
        (*cut.sizes, cut.parts, eps, momentum),
        {
            "of_values": of_values,
            "moves": running is not None,
            "part_block": PART_BLOCK,
            "column_block": wide,
        },
    )


def like(values: Tensor, x: Tensor) -> Tensor:
    """The values, their channels together as those of x are, and in its format of numbers."""
    return values.to(x.dtype).contiguous(memory_format=torch.channels_last)
