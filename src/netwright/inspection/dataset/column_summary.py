"""The data as it was seen: every column with its kind, its gaps and its spread.

Shapes: N rows, F numbers a row, C channels, I/J image height and width, T steps.
"""

import torch
from torch import Tensor

from netwright.core.trees import tensors_of
from netwright.data.dataset import Data
from netwright.data.pixels import PixelSplit
from netwright.data.preprocessing import Preprocessor, readable
from netwright.data.series.encoder import SeriesEncoder
from netwright.data.tables.columns import ColumnSummary
from netwright.data.tables.encoding import TableEncoder

MOST_COLUMNS = 60


def describe_columns(data: Data) -> list[dict[str, str]]:
    """One row a column of the training data, in the units it came in; at most 60.

    Images have one row a channel, series one a feature, texts one for all their tokens, several
    inputs one each.
    """
    summaries = _table_columns(data.preprocessor)
    if summaries:
        return [
            {
                "column": column.name,
                "kind": column.kind,
                "missing": str(column.missing),
                "distinct values": str(column.distinct),
                "preprocessing": column.note,
            }
            for column in summaries[:MOST_COLUMNS]
        ]
    spec, split = data.spec, data.train
    if isinstance(split, PixelSplit):
        spreads = [_byte_spread(channel) for channel in split.pixels.unbind(1)[:MOST_COLUMNS]]
        return _channel_rows(spec.input_shape, spreads)
    if spec.vocab_size:
        return [_token_row(data)]
    if spec.inputs == "parts":
        return [_part_row(*part) for part in enumerate(tensors_of(split.inputs)[:MOST_COLUMNS])]
    offset, scale = data.preprocessor.units()
    raw = split.inputs.flatten(1).cpu().double() * scale + offset  # (N, F)
    if spec.inputs == "image":
        channels = raw.reshape(-1, *spec.input_shape).unbind(1)[:MOST_COLUMNS]  # (N, I, J) each
        return _channel_rows(spec.input_shape, [_spread(channel) for channel in channels])
    if spec.inputs == "series":
        raw = raw.reshape(-1, spec.input_shape[-1])  # (N T, F): the steps of all windows
    names = spec.feature_names or tuple(f"x{index}" for index in range(raw.shape[1]))
    return [
        {"column": name, **_spread(raw[:, index])}
        for index, name in enumerate(names[:MOST_COLUMNS])
    ]


def _table_columns(encoder: Preprocessor) -> tuple[ColumnSummary, ...]:
    """The columns of the table that the data came from; none where it was no table."""
    if isinstance(encoder, TableEncoder):
        return encoder.summaries
    if isinstance(encoder, SeriesEncoder):
        return encoder.past.summaries + (encoder.known.summaries if encoder.known else ())
    return ()


def _part_row(place: int, part: Tensor) -> dict[str, str]:
    """What one of several inputs (N, ...) is."""
    size = " x ".join(str(size) for size in part.shape[1:]) or "one number"
    values = part.cpu().double()
    return {"column": f"input {place}", "shape": size, **(_spread(values) if part.numel() else {})}


def _token_row(data: Data) -> dict[str, str]:
    """How many tokens there are, and how long the texts are."""
    spec, tokens = data.spec, data.train.inputs.cpu()  # (N, T)
    is_text = torch.ones_like(tokens, dtype=torch.bool)
    if spec.padding is not None:
        is_text = tokens != spec.padding
    lengths, different = is_text.sum(dim=1).double(), len(torch.unique(tokens[is_text]))
    return {
        "column": f"{spec.inputs} of {spec.input_shape[0]}",
        "known": f"{spec.vocab_size:,}",
        "distinct": f"{different:,}",
        "shortest row": f"{int(lengths.min())}",
        "mean": f"{float(lengths.mean()):.4g}",
        "longest": f"{int(lengths.max())}",
    }


def _channel_rows(shape: tuple[int, ...], spreads: list[dict[str, str]]) -> list[dict[str, str]]:
    """A row for each channel of images of this shape (C, I, J)."""
    count, height, width = shape
    return [
        {
            "column": f"pixels of {height} x {width}" + (f", channel {place}" if count > 1 else ""),
            **spread,
        }
        for place, spread in enumerate(spreads, start=1)
    ]


def _byte_spread(channel: Tensor) -> dict[str, str]:
    """The spread of bytes, from how often each is there: no float is made of a pixel."""
    counts = torch.bincount(channel.flatten().cpu(), minlength=256).double()
    levels, shares = torch.arange(256.0, dtype=torch.float64), counts / counts.sum()
    mean = shares @ levels
    seen = levels[counts > 0]
    return _told(seen[0], mean, seen[-1], (shares @ (levels - mean) ** 2).sqrt())


def _spread(values: Tensor) -> dict[str, str]:
    return _told(values.min(), values.mean(), values.max(), values.std(correction=0))


def _told(smallest: Tensor, mean: Tensor, largest: Tensor, deviation: Tensor) -> dict[str, str]:
    spread = float(deviation)
    numbers = {"smallest": smallest, "mean": mean, "largest": largest}
    told = {name: readable(float(value), spread or 1.0) for name, value in numbers.items()}
    return {**told, "standard deviation": f"{spread:.4g}"}
