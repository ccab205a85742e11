r"""A convolution of few channels, for images whose channels lie together: the first of a network.

    y_{p,o} = sum_t w_{o,t} x_{p,t}        w'_{o,t} = sum_p y'_{p,o} x_{p,t}

x_{p,t} are the numbers under the window at p, t counts them: C k k, 27 for 3 x 3 windows of red,
green and blue. Each program gathers them where they are needed and multiplies by a matrix product;
cuDNN fills three channels up to eight and takes several times as long.

Shapes: images (B, C, I, J), windows of k x k every s pixels, outputs (B, O, P, Q).
"""

import triton.language as tl

from netwright.core.kernel_start import Kernel


@Kernel
def convolve(
    x,
    weight,
    y,
    count,
    outputs,
    tall,
    wide,
    out_tall,
    out_wide,
    channels: tl.constexpr,
    size: tl.constexpr,
    stride: tl.constexpr,
    padding: tl.constexpr,
    taps: tl.constexpr,
    row_block: tl.constexpr,
    column_block: tl.constexpr,
) -> None:
    """Y of x; weight (O, k, k, C)."""
    tap, columns = tl.arange(0, taps), tl.program_id(1) * column_block + tl.arange(0, column_block)
    places = tl.program_id(0) * row_block + tl.arange(0, row_block)
    is_tap: tl.constexpr = channels * size * size
    row = (places // out_wide % out_tall * stride - padding)[:, None]
    row = row + (tap // (size * channels))[None, :]
    column = (places % out_wide * stride - padding)[:, None] + (tap // channels % size)[None, :]
    mask = (places < count)[:, None] & (tap < is_tap)[None, :]
    mask = mask & (row >= 0) & (row < tall) & (column >= 0) & (column < wide)
    at = ((places // (out_tall * out_wide))[:, None] * tall + row) * wide + column
    patches = tl.load(x + at * channels + (tap % channels)[None, :], mask=mask, other=0.0)
    inside = (tap < is_tap)[:, None] & (columns < outputs)[None, :]
    factors = tl.load(weight + columns[None, :] * is_tap + tap[:, None], mask=inside, other=0.0)
    total = tl.dot(patches, factors, input_precision="ieee")
    mask = (places < count)[:, None] & (columns < outputs)[None, :]
    tl.store(y + places[:, None] * outputs + columns[None, :], total, mask=mask)


@Kernel
def add_up_weights(
    dy,
    x,
    sums,
    count,
    outputs,
    tall,
    wide,
    out_tall,
    out_wide,
    channels: tl.constexpr,
    size: tl.constexpr,
    stride: tl.constexpr,
    padding: tl.constexpr,
    taps: tl.constexpr,
    row_block: tl.constexpr,
    column_block: tl.constexpr,
) -> None:
    """Sums (part, O, taps) of w' over every so manieth block of places."""
    tap, columns = tl.arange(0, taps), tl.program_id(1) * column_block + tl.arange(0, column_block)
    total = tl.zeros((column_block, taps), tl.float32)
    for start in range(tl.program_id(0) * row_block, count, tl.num_programs(0) * row_block):
        places = start + tl.arange(0, row_block)
        row = (places // out_wide % out_tall * stride - padding)[:, None]
        row = row + (tap // (size * channels))[None, :]
        column = (places % out_wide * stride - padding)[:, None] + (tap // channels % size)[None, :]
        mask = (places < count)[:, None] & (tap < channels * size * size)[None, :]
        mask = mask & (row >= 0) & (row < tall) & (column >= 0) & (column < wide)
        at = ((places // (out_tall * out_wide))[:, None] * tall + row) * wide + column
        patches = tl.load(x + at * channels + (tap % channels)[None, :], mask=mask, other=0.0)
        mask = (places < count)[None, :] & (columns < outputs)[:, None]
        slopes = tl.load(dy + places[None, :] * outputs + columns[:, None], mask=mask, other=0.0)
        total += tl.dot(slopes, patches, input_precision="ieee")
    at = (tl.program_id(0) * outputs + columns)[:, None] * taps + tap[None, :]
    tl.store(sums + at, total, mask=(columns < outputs)[:, None])
