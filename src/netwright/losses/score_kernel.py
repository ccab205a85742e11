r"""Logits scored by one kernel on CUDA: each row is read twice and written once, by its gradient.

    m = max_v z_v,    s = log sum_v exp z_v,    l = s - z_y,    dl/dz_v = exp(z_v - s) - [v = y]

The first pass over a row keeps a maximum and a sum of exponentials a lane, which are joined at its
end; the second finds the first place of the maximum and writes the gradient. The same by torch's
own operations, `losses/linear_cross_entropy.py`, is a dozen passes in float32.

The kernel is written in Triton, which torch brings along where it has CUDA.

Shapes: n rows, V kinds of token, W columns: V and what is filled up.
Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
"""

from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from netwright.core.kernel_start import can_run

LANES, WARPS = 2048, 8  # of a row at a time, measured on an H200 for 50,257 kinds of token
LOWEST = -1e38  # below all logits, and finite: differences stay numbers


def score_by_kernel(
    logits: Tensor, targets: Tensor, amounts: Tensor, classes: int, *, in_place: bool
) -> tuple[Tensor, Tensor]:
    """What `score` of `losses/linear_cross_entropy.py` gives; logits (n, W) are contiguous."""
    nats, told = torch.empty_like(amounts), torch.empty_like(targets)
    kernel = _kernel()
    kernel[(len(logits),)](
        logits,
        *(targets, amounts, nats, told),
        *(classes, logits.shape[1], in_place, LOWEST, LANES),
        num_warps=WARPS,
    )
    return nats, told


@cache
def has_kernel(device: torch.device, kind: torch.dtype) -> bool:
    """Whether the kernel runs there for logits of this kind, tried on two rows."""
    if device.type != "cuda" or kind not in {torch.float32, torch.bfloat16, torch.float16}:
        return False
    return can_run(partial(_try, device, kind), device)


def _try(device: torch.device, kind: torch.dtype) -> None:
    """Score two rows."""
    logits = torch.zeros(2, 128, device=device, dtype=kind)
    targets, amounts = torch.zeros(2, dtype=torch.int64, device=device), logits[:, 0].float()
    score_by_kernel(logits, targets, amounts, 65, in_place=True)


@cache
def _kernel() -> Any:
    import triton  # noqa: PLC0415 - it is there only where torch has CUDA
    from triton import language as tl  # noqa: PLC0415

    @triton.jit  # type: ignore[untyped-decorator]
    def score_rows(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
        logits,
        targets,
        amounts,
        nats,
        told,
        classes,
        columns,
        in_place: tl.constexpr,
        lowest: tl.constexpr,
        lanes: tl.constexpr,
    ):
        row = tl.program_id(0).to(tl.int64)
        logits += row * columns
        target, amount = tl.load(targets + row), tl.load(amounts + row)
        lane = tl.arange(0, lanes)
        high = tl.full((lanes,), lowest, tl.float32)
        total = tl.zeros((lanes,), tl.float32)
        for start in range(0, classes, lanes):
            place = start + lane
            z = tl.load(logits + place, mask=place < classes, other=lowest).to(tl.float32)
            higher = tl.maximum(high, z)
            total = total * tl.exp(high - higher) + tl.exp(z - higher)
            high = higher
        top = tl.max(high)
        spread = top + tl.log(tl.sum(total * tl.exp(high - top)))
        tl.store(nats + row, spread - tl.load(logits + target).to(tl.float32))
        first = tl.full((lanes,), 2147483647, tl.int32)
        for start in range(0, columns, lanes):
            place = start + lane
            z = tl.load(logits + place, mask=place < classes, other=lowest).to(tl.float32)
            first = tl.minimum(first, tl.where(z == top, place, 2147483647))
            if in_place:
                slope = (tl.exp(z - spread) - tl.where(place == target, 1.0, 0.0)) * amount
                slope = tl.where(amount != 0, slope, 0.0)
                tl.store(logits + place, slope.to(logits.dtype.element_ty), mask=place < columns)
        tl.store(told + row, tl.min(first).to(tl.int64))

    return score_rows
