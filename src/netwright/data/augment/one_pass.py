"""Crop, flips and cutout as one pass over images on CUDA, which lie channels-last afterwards.

The numbers are drawn as one after the other would draw them, and the pixels are the same, bit by
bit: see `pixel_kernels.py`.

Shapes: images (B, C, I, J).
"""

from collections.abc import Sequence
from functools import cache, partial

import torch
from torch import Tensor

from netwright.core.kernel_start import can_run
from netwright.data.augment.augmentation import Augmentation
from netwright.data.augment.cutout import CUTOUT, draw_squares
from netwright.data.augment.geometric import Warp, draw_places

DEVICES = ("cuda",)
MOST_IN_ROW = 4096  # numbers of a row of an image
MOST = 2**31  # numbers that a kernel counts


def is_one_pass(steps: Sequence[tuple[Augmentation, float]], images: Tensor) -> bool:
    """Whether these changes of these images are: of whole pixels, then perhaps a square."""
    kinds = [kind for kind, _ in steps]
    return (
        bool(kinds)
        and (kinds[-1] is CUTOUT or _moves_whole_pixels(kinds[-1]))
        and all(map(_moves_whole_pixels, kinds[:-1]))
        and images.device.type in DEVICES
        and images.dtype == torch.float32
        and images.is_contiguous()
        and images.shape[1] * images.shape[3] <= MOST_IN_ROW
        and images.numel() < MOST
        and (images.device.type != "cuda" or images.get_device() == torch.cuda.current_device())
        and _has_kernels(images.device)
    )


@cache
def _has_kernels(device: torch.device) -> bool:
    images, stream = torch.ones(1, 1, 2, 2, device=device), torch.Generator(device)
    return can_run(partial(changed_in_one_pass, images, [(CUTOUT, 1.0)], stream), device)


def _moves_whole_pixels(kind: Augmentation) -> bool:
    return isinstance(kind, Warp) and kind.is_whole


def changed_in_one_pass(
    images: Tensor, steps: Sequence[tuple[Augmentation, float]], generator: torch.Generator
) -> Tensor:
    """The images after changes that are one pass, in fresh memory."""
    from netwright.data.augment.pixel_kernels import read_and_blank  # noqa: PLC0415 - needs Triton

    count, channels, tall, wide = images.shape
    warps = [(kind, strength) for kind, strength in steps if isinstance(kind, Warp)]
    rows, columns = draw_places(images, warps, generator)
    blanks, strength = steps[-1][0] is CUTOUT, steps[-1][1]
    side = int(strength) if blanks else 0
    first = draw_squares(images, side, generator) if blanks else rows
    out = torch.empty_like(images, memory_format=torch.channels_last)
    block = 1 << (wide * channels - 1).bit_length()
    read_and_blank.start(
        (images.device, images.shape, blanks, side),
        (count * tall, 1),
        (images, rows.contiguous(), columns.contiguous(), first, out),
        (count, channels, tall, wide, side),
        {"blanks": blanks, "block": block},
        warps=max(1, min(4, block // 128)),
    )
    return out
