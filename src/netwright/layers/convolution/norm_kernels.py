r"""Batch norm, what is added to it and ReLU as one operation, for channels that lie together.

    y = relu((x - m) r w + b + a)        r = 1 / sqrt(v + eps)        m, v over the rows

    g = dy where y > 0        b' = sum g        w' = sum g n        n = (x - m) r
    a' = g        x' = r w (g - b' / N - n w' / N)

torch reads and writes the images 13 times for that, forward and backward; here it is 8 times, 12
with something added. Sums are taken in float32 around the first row of each channel, so that a mean
that is large against the deviation costs no digits, and always in the same order: the bits are the
same each time.

Rows are added up from the first to the last and then changed from the last to the first: what was
read last is still in the cache of the device, and what was written last is read first by whatever
comes next.

Shapes: N rows (one a pixel of an image), C channels, images (B, C, I, J) with N = B I J.
"""

import triton.language as tl

from netwright.core.kernel_start import Kernel


@Kernel
def add_up(
    x,
    sums,
    rows,
    channels,
    unrolled: tl.constexpr,
    row_block: tl.constexpr,
    column_block: tl.constexpr,
) -> None:
    """Sums and squares (part, 2, C) of x around its first row."""
    columns = tl.program_id(1) * column_block + tl.arange(0, column_block)
    inside = columns < channels
    base = tl.load(x + columns, mask=inside, other=0.0).to(tl.float32)
    total = tl.zeros((row_block, column_block), tl.float32)
    squares = tl.zeros((row_block, column_block), tl.float32)
    together = row_block * unrolled
    for start in range(tl.program_id(0) * together, rows, tl.num_programs(0) * together):
        for step in tl.static_range(unrolled):
            places = start + step * row_block + tl.arange(0, row_block)
            mask = (places < rows)[:, None] & inside[None, :]
            at = places[:, None] * channels + columns[None, :]
            values = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
            away = tl.where(mask, values - base[None, :], 0.0)
            total += away
            squares += away * away
    out = sums + tl.program_id(0) * 2 * channels + columns
    tl.store(out, tl.sum(total, axis=0), mask=inside)
    tl.store(out + channels, tl.sum(squares, axis=0), mask=inside)


@Kernel
def add_up_slopes(
    dy,
    x,
    y,
    passed,
    moments,
    weight,
    bias,
    sums,
    rows,
    channels,
    adds: tl.constexpr,
    rectifies: tl.constexpr,
    unrolled: tl.constexpr,
    row_block: tl.constexpr,
    column_block: tl.constexpr,
) -> None:
    """Sums (part, 2, C) of g and of g n; where something was added, g itself is kept."""
    columns = tl.program_id(1) * column_block + tl.arange(0, column_block)
    inside = columns < channels
    mean = tl.load(moments + columns, mask=inside, other=0.0)
    scale = tl.load(moments + channels + columns, mask=inside, other=0.0)
    factor = scale * tl.load(weight + columns, mask=inside, other=0.0)
    offset = tl.load(bias + columns, mask=inside, other=0.0)
    total = tl.zeros((row_block, column_block), tl.float32)
    products = tl.zeros((row_block, column_block), tl.float32)
    together = row_block * unrolled
    for start in range(tl.program_id(0) * together, rows, tl.num_programs(0) * together):
        for step in tl.static_range(unrolled):
            places = start + step * row_block + tl.arange(0, row_block)
            mask = (places < rows)[:, None] & inside[None, :]
            at = places[:, None] * channels + columns[None, :]
            slope = tl.load(dy + at, mask=mask, other=0.0).to(tl.float32)
            away = tl.load(x + at, mask=mask, other=0.0).to(tl.float32) - mean[None, :]
            if rectifies:
                if adds:
                    seen = tl.load(y + at, mask=mask, other=0.0).to(tl.float32)
                else:
                    seen = away * factor[None, :] + offset[None, :]
                slope = tl.where(seen <= 0, 0.0, slope)
                if adds:
                    tl.store(passed + at, slope, mask=mask)
            total += slope
            products += tl.where(mask, slope * away * scale[None, :], 0.0)
    out = sums + tl.program_id(0) * 2 * channels + columns
    tl.store(out, tl.sum(total, axis=0), mask=inside)
    tl.store(out + channels, tl.sum(products, axis=0), mask=inside)


@Kernel
def join(
    sums,
    x,
    out,
    mean,
    variance,
    seen,
    rows,
    channels,
    parts,
    eps,
    momentum,
    of_values: tl.constexpr,
    moves: tl.constexpr,
    part_block: tl.constexpr,
    column_block: tl.constexpr,
) -> None:
    """Both sums over all parts (2, C); of values: mean, 1 / deviation, unbiased variance (3, C).

    Running statistics move towards them, and batches are counted.
    """
    columns = tl.program_id(0) * column_block + tl.arange(0, column_block)
    inside = columns < channels
    first = tl.zeros((part_block, column_block), tl.float32)
    second = tl.zeros((part_block, column_block), tl.float32)
    for start in range(0, parts, part_block):
        places = start + tl.arange(0, part_block)
        mask = (places < parts)[:, None] & inside[None, :]
        at = sums + places[:, None] * 2 * channels + columns[None, :]
        first += tl.load(at, mask=mask, other=0.0)
        second += tl.load(at + channels, mask=mask, other=0.0)
    total, other = tl.sum(first, axis=0), tl.sum(second, axis=0)
    if of_values:
        away = total / rows
        spread = other / rows - away * away
        spread = tl.where(spread < 0, 0.0, spread)  # NaN stays
        total = away + tl.load(x + columns, mask=inside, other=0.0).to(tl.float32)
        other = 1 / tl.sqrt(spread + eps)
        spread = spread * (rows / (rows - 1))
        tl.store(out + 2 * channels + columns, spread, mask=inside)
        if moves:
            before = tl.load(mean + columns, mask=inside, other=0.0)
            tl.store(mean + columns, before + momentum * (total - before), mask=inside)
            before = tl.load(variance + columns, mask=inside, other=0.0)
            tl.store(variance + columns, before + momentum * (spread - before), mask=inside)
            if tl.program_id(0) == 0:
                tl.store(seen, tl.load(seen) + 1)
    tl.store(out + columns, total, mask=inside)
    tl.store(out + channels + columns, other, mask=inside)


@Kernel
def apply(
    x,
    added,
    y,
    moments,
    weight,
    bias,
    rows,
    channels,
    adds: tl.constexpr,
    rectifies: tl.constexpr,
    row_block: tl.constexpr,
    column_block: tl.constexpr,
) -> None:
    """Y of x."""
    across = tl.cdiv(channels, column_block)
    tile = tl.num_programs(0) - 1 - tl.program_id(0)
    columns = tile % across * column_block + tl.arange(0, column_block)
    inside = columns < channels
    mean = tl.load(moments + columns, mask=inside, other=0.0)
    scale = tl.load(moments + channels + columns, mask=inside, other=0.0)
    factor = scale * tl.load(weight + columns, mask=inside, other=0.0)
    offset = tl.load(bias + columns, mask=inside, other=0.0)
    places = tile // across * row_block + tl.arange(0, row_block)
    mask = (places < rows)[:, None] & inside[None, :]
    at = places[:, None] * channels + columns[None, :]
    values = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
    out = (values - mean[None, :]) * factor[None, :] + offset[None, :]
    if adds:
        out += tl.load(added + at, mask=mask, other=0.0).to(tl.float32)
    if rectifies:
        out = tl.where(out < 0, 0.0, out)  # NaN stays
    tl.store(y + at, out, mask=mask)


@Kernel
def apply_slopes(
    dy,
    x,
    dx,
    moments,
    weight,
    bias,
    sums,
    rows,
    channels,
    rectifies: tl.constexpr,
    row_block: tl.constexpr,
    column_block: tl.constexpr,
) -> None:
    """X' of dy."""
    across = tl.cdiv(channels, column_block)
    tile = tl.num_programs(0) - 1 - tl.program_id(0)
    columns = tile % across * column_block + tl.arange(0, column_block)
    inside = columns < channels
    mean = tl.load(moments + columns, mask=inside, other=0.0)
    scale = tl.load(moments + channels + columns, mask=inside, other=0.0)
    factor = scale * tl.load(weight + columns, mask=inside, other=0.0)
    offset = tl.load(bias + columns, mask=inside, other=0.0)
    mean_slope = tl.load(sums + columns, mask=inside, other=0.0) / rows
    mean_product = tl.load(sums + channels + columns, mask=inside, other=0.0) / rows
    places = tile // across * row_block + tl.arange(0, row_block)
    mask = (places < rows)[:, None] & inside[None, :]
    at = places[:, None] * channels + columns[None, :]
    slope = tl.load(dy + at, mask=mask, other=0.0).to(tl.float32)
    away = tl.load(x + at, mask=mask, other=0.0).to(tl.float32) - mean[None, :]
    if rectifies:
        slope = tl.where(away * factor[None, :] + offset[None, :] <= 0, 0.0, slope)
    pull = mean_slope[None, :] + away * (scale * mean_product)[None, :]
    tl.store(dx + at, (slope - pull) * factor[None, :], mask=mask)
