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
UNROLLED = 4  # tiles that a program reads together where it adds up: 16 bytes a thread of each
IMAGES, SLOPES = 2048, 1024  # numbers of such a tile; beside slopes images are read as well
PARTS = 528  # programs that add up at the same time: four on each of 132 processors
THREAD_NUMBERS, WARP = 8, 32  # 16 bytes of bfloat16; threads
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
        wide: channels of a tile.
    """

    kind: tuple[Any, ...]
    rows: int
    channels: int
    wide: int

    @property
    def sizes(self) -> tuple[int, int]:
        """What kernels are told."""
        return self.rows, self.channels

    @property
    def changed(self) -> dict[str, int]:
        """Rows and channels of a tile that is changed."""
        return {"row_block": CHANGED // self.wide, "column_block": self.wide}

    @property
    def all_tiles(self) -> tuple[int, int]:
        """A program for each that is changed."""
        return tiles(self.rows, CHANGED // self.wide) * tiles(self.channels, self.wide), 1


class _Sums(NamedTuple):
    """How rows are added up.

    Args:
        grid: programs, along rows and channels.
        tile: how many tiles are read together, and their rows and channels.
        warps: of a program.
    """

    grid: tuple[int, int]
    tile: dict[str, int]
    warps: int


@cache
def _sums(cut: _Cut, size: int) -> _Sums:
    """In tiles of so many numbers."""
    tall, across = size // cut.wide, tiles(cut.channels, cut.wide)
    parts = min(max(1, PARTS // across), tiles(cut.rows, tall * UNROLLED))
    tile = {"unrolled": UNROLLED, "row_block": tall, "column_block": cut.wide}
    return _Sums((parts, across), tile, warps=size // THREAD_NUMBERS // WARP)


@cache
def _cut(device: torch.device, dtype: torch.dtype, rows: int, channels: int) -> _Cut:
    return _Cut((device, dtype, rows, channels), rows, channels, width(channels, WIDEST))


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
    how = _sums(cut, IMAGES)
    sums = weight.new_empty(how.grid[0], 2, cut.channels)
    norm_kernels.add_up.start(cut.kind, how.grid, (x, sums), cut.sizes, how.tile, warps=how.warps)
    moments = weight.new_empty(3, cut.channels)
    _join(cut, sums, x, moments, eps, running)
    y = torch.empty_like(x)
    norm_kernels.apply.start(
        (*cut.kind, adds, rectifies),
        cut.all_tiles,
        (x, x if added is None else like(added, x), y, moments, weight, bias),
        cut.sizes,
        {"adds": adds, "rectifies": rectifies, **cut.changed},
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
    how = _sums(cut, SLOPES)
    sums = weight.new_empty(how.grid[0], 2, cut.channels)
    norm_kernels.add_up_slopes.start(
        (*cut.kind, adds, rectifies),
        how.grid,
        (dy, x, x if y is None else y, passed if adds else x, moments, weight, bias, sums),
        cut.sizes,
        {"adds": adds, "rectifies": rectifies, **how.tile},
        warps=how.warps,
    )
    both, dx = weight.new_empty(2, cut.channels), torch.empty_like(x)
    _join(cut, sums, x, both)
    norm_kernels.apply_slopes.start(
        (*cut.kind, rectifies and not adds),
        cut.all_tiles,
        (passed if adds else dy, x, dx, moments, weight, bias, both),
        cut.sizes,
        {"rectifies": rectifies and not adds, **cut.changed},
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
    wide, of_values = min(JOINED, cut.wide), len(out) == 3
    norm_kernels.join.start(
        (*cut.kind, of_values, running is None),
        (tiles(cut.channels, wide), 1),
        (sums, x, out, *moved),
        (*cut.sizes, len(sums), eps, momentum),
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
