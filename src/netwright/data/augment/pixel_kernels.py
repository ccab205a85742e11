"""Whole pixels read at other places, and a square of zeros: one pass over the images.

Shapes: images (B, C, I, J), written with the channels of a pixel side by side.
"""

import triton.language as tl

from netwright.core.kernel_start import Kernel


@Kernel
def read_and_blank(
    images,
    rows,
    columns,
    first,
    out,
    count,
    channels,
    tall,
    wide,
    side,
    blanks: tl.constexpr,
    block: tl.constexpr,
) -> None:
    """A row of an image: from a row (B, I) and columns (B, J), counted from the middle."""
    image, row = tl.program_id(0) // tall, tl.program_id(0) % tall
    at = tl.arange(0, block)
    column, channel = at // channels, at % channels
    mask = column < wide
    down, right = (tall - 1) / 2.0, (wide - 1) / 2.0
    source_row = tl.load(rows + image * tall + row)
    source_row = tl.minimum(tl.maximum(source_row, -down), down) + down
    source_column = tl.load(columns + image * wide + column, mask=mask, other=0.0)
    source_column = tl.minimum(tl.maximum(source_column, -right), right) + right
    place = (image * channels + channel) * tall + source_row.to(tl.int32)
    values = tl.load(images + place * wide + source_column.to(tl.int32), mask=mask, other=0.0)
    if blanks:
        middle, reach = (side - 1) / 2.0, side / 2.0
        above = tl.abs(row - (tl.load(first + image) + middle))
        beside = tl.abs(column - (tl.load(first + count + image) + middle))
        # Times 0 or 1, as the plain way has it: below 0 that gives -0.
        values = values * tl.where(above > reach, 1.0, tl.where(beside > reach, 1.0, 0.0))
    tl.store(out + tl.program_id(0) * wide * channels + at, values, mask=mask)
