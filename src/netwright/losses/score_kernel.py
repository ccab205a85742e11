r"""Logits scored by one kernel on CUDA: each row is read twice and written once, by its gradient.

    m = max_v z_v,    s = log sum_v exp z_v,    l = s - z_y,    dl/dz_v = exp(z_v - s) - [v = y]

The first pass over a row keeps of each thread the maximum, the tile that brought it and a sum of
exponentials, which are joined at its end; the second writes the gradient. The same by torch's own
operations, `losses/linear_cross_entropy.py`, is a dozen passes in float32.

The kernel is written in Triton, which torch brings along where it has CUDA.

Shapes: n rows, V kinds of token, W columns: V and what is filled up.
Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
"""

import math
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from netwright.core.kernel_start import can_run

DEPTH, WARPS = 1, 16  # measured on an H200 for 50,257 kinds of token
WIDTH = 8  # numbers of a half format that a thread loads at once
LOG2_E = math.log2(math.e)
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
        *(classes, logits.shape[1], in_place, LOWEST, LOG2_E, DEPTH, 32 * WARPS, WIDTH),
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
        log2_e: tl.constexpr,
        depth: tl.constexpr,
        threads: tl.constexpr,
        width: tl.constexpr,
    ):
        row = tl.program_id(0).to(tl.int64)
        logits += row * columns
        target, amount = tl.load(targets + row), tl.load(amounts + row)
        tile: tl.constexpr = depth * threads * width
        # The last axis is a thread's own: what is kept of a row is kept once a thread.
        within = tl.arange(0, depth)[:, None, None] * (threads * width)
        within += tl.arange(0, threads)[None, :, None] * width
        within += tl.arange(0, width)[None, None, :]
        # From the last tile, which may end early, to the first: of equal maxima the first counts.
        last = classes // tile * tile
        place = last + within
        z = tl.load(logits + place, mask=place < classes, other=lowest).to(tl.float32)
        # No lower than a finite number: a difference of infinities is none.
        high = tl.maximum(tl.max(tl.max(z, axis=2), axis=0), lowest)
        shares = tl.exp2((z - high[None, :, None]) * log2_e)
        total = tl.sum(tl.sum(shares, axis=2), axis=0)
        since = tl.full((threads,), last, tl.int32)
        for behind in range(tile, last + 1, tile):
            start = last - behind
            # Without a mask: eight numbers at a time.
            z = tl.load(logits + start + within).to(tl.float32)
            highest = tl.max(tl.max(z, axis=2), axis=0)
            since = tl.where(highest >= high, start, since)
            higher = tl.maximum(high, highest)
            power = higher * log2_e
            # The difference first: a fused product would leave its rounding where none of a thread
            # is finite, which at this size is infinite as an exponent.
            total *= tl.exp2((high - higher) * log2_e)
            shares = tl.exp2(z * log2_e - power[None, :, None])
            total += tl.sum(tl.sum(shares, axis=2), axis=0)
            high = higher
        top = tl.max(high)
        power = top * log2_e + tl.log2(tl.sum(total * tl.exp2((high - top) * log2_e)))
        wanted = tl.load(logits + target).to(tl.float32)
        tl.store(nats + row, power / log2_e - wanted)
        # Of the first tile with the maximum; of none where a logit is not a number.
        place = tl.min(tl.where(high == top, since, classes)) + within
        z = tl.load(logits + place, mask=place < classes, other=lowest).to(tl.float32)
        tl.store(told + row, tl.min(tl.where(z == top, place, classes)).to(tl.int64))
        if in_place:
            kind = logits.dtype.element_ty
            place = last + within
            z = tl.load(logits + place, mask=place < classes, other=lowest).to(tl.float32)
            if amount != 0:
                slope = tl.exp2(z * log2_e - power) * amount
                tl.store(logits + place, slope.to(kind), mask=place < columns)
                for start in range(0, last, tile):
                    at = logits + start + within
                    z = tl.load(at, eviction_policy="evict_first").to(tl.float32)
                    slope = tl.exp2(z * log2_e - power) * amount
                    tl.store(at, slope.to(kind), eviction_policy="evict_first")
                tl.debug_barrier()  # the target's own comes last, whoever wrote there
                tl.store(
                    logits + target, ((tl.exp2(wanted * log2_e - power) - 1) * amount).to(kind)
                )
            else:  # its logits need not be finite
                zeros = tl.zeros(within.shape, kind)
                for start in range(0, columns, tile):
                    tl.store(logits + start + within, zeros, mask=start + within < columns)

    return score_rows
