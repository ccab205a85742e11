r"""The maximum of windows, for images whose channels lie together.

    y_p = max x_q over the q of window p        x'_q = sum of y'_p over the p whose maximum is q

Which pixel of a window is the largest is kept as a byte, where torch keeps eight; and each pixel
adds up what comes back to it by itself, always in the same order.

Shapes: images (B, C, I, J), windows of k x k every s pixels, outputs (B, C, O, P).
"""

import triton.language as tl

from netwright.core.kernel_start import Kernel


@Kernel
def largest(
    x,
    y,
    chosen,
    count,
    channels,
    tall,
    wide,
    out_tall,
    out_wide,
    size: tl.constexpr,
    stride: tl.constexpr,
    padding: tl.constexpr,
    row_block: tl.constexpr,
    column_block: tl.constexpr,
) -> None:
    """The largest pixel of each window, and its place in it."""
    columns = tl.program_id(1) * column_block + tl.arange(0, column_block)
    places = tl.program_id(0) * row_block + tl.arange(0, row_block)
    inside = columns < channels
    image = places // (out_tall * out_wide)
    first_row = places // out_wide % out_tall * stride - padding
    first_column = places % out_wide * stride - padding
    best = tl.full((row_block, column_block), float("-inf"), tl.float32)
    place = tl.zeros((row_block, column_block), tl.int32)
    for number in tl.static_range(size * size):
        row, column = first_row + number // size, first_column + number % size
        is_there = (places < count) & (row >= 0) & (row < tall) & (column >= 0) & (column < wide)
        mask = is_there[:, None] & inside[None, :]
        at = ((image * tall + row) * wide + column)[:, None] * channels + columns[None, :]
        values = tl.load(x + at, mask=mask, other=float("-inf")).to(tl.float32)
        is_larger = (values > best) | (values != values)  # noqa: PLR0124 - NaN wins
        best = tl.where(is_larger, values, best)
        place = tl.where(is_larger, number, place)
    mask = (places < count)[:, None] & inside[None, :]
    at = places[:, None] * channels + columns[None, :]
    tl.store(y + at, best, mask=mask)
    tl.store(chosen + at, place, mask=mask)


@Kernel
def bring_back(
    dy,
    chosen,
    dx,
    count,
    channels,
    tall,
    wide,
    out_tall,
    out_wide,
    size: tl.constexpr,
    stride: tl.constexpr,
    padding: tl.constexpr,
    reach: tl.constexpr,
    row_block: tl.constexpr,
    column_block: tl.constexpr,
) -> None:
    """What comes back to each pixel from the windows that it is the largest of."""
    columns = tl.program_id(1) * column_block + tl.arange(0, column_block)
    places = tl.program_id(0) * row_block + tl.arange(0, row_block)
    inside = columns < channels
    image = places // (tall * wide)
    row, column = places // wide % tall + padding, places % wide + padding
    total = tl.zeros((row_block, column_block), tl.float32)
    for number in tl.static_range(reach * reach):
        out_row, out_column = row // stride - number // reach, column // stride - number % reach
        down, right = row - out_row * stride, column - out_column * stride  # within the window
        is_there = (places < count) & (out_row >= 0) & (out_row < out_tall) & (down < size)
        is_there = is_there & (out_column >= 0) & (out_column < out_wide) & (right < size)
        mask = is_there[:, None] & inside[None, :]
        at = ((image * out_tall + out_row) * out_wide + out_column)[:, None] * channels
        at = at + columns[None, :]
        is_ours = tl.load(chosen + at, mask=mask, other=255) == (down * size + right)[:, None]
        slope = tl.load(dy + at, mask=mask, other=0.0).to(tl.float32)
        total += tl.where(is_ours, slope, 0.0)
    mask = (places < count)[:, None] & inside[None, :]
    tl.store(dx + places[:, None] * channels + columns[None, :], total, mask=mask)
