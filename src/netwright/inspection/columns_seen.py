"""The data as it was seen: every column with its kind, its gaps and its spread.

Shapes: N rows, F numbers a row.
"""

import torch

from netwright.data.dataset import Data
from netwright.data.preprocessing import readable
from netwright.data.tables.encoding import TableEncoder

MOST_COLUMNS = 60


def describe_columns(data: Data) -> list[dict[str, str]]:
    """One row a column of the training data, in the units it came in; at most 60."""
    if isinstance(data.preprocessor, TableEncoder):
        return [
            {
                "column": column.name,
                "kind": column.kind,
                "missing": str(column.missing),
                "different values": str(column.distinct),
                "what was done": column.note,
            }
            for column in data.preprocessor.summaries[:MOST_COLUMNS]
        ]
    offset, scale = data.preprocessor.units()
    raw = data.train.inputs.flatten(1).cpu().double() * scale + offset  # (N, F)
    if data.spec.inputs != "features":
        shape = " x ".join(map(str, data.spec.input_shape))
        return [{"column": f"{data.spec.inputs} of {shape}", **_spread(raw.flatten())}]
    names = data.spec.feature_names or tuple(f"x{index}" for index in range(raw.shape[1]))
    return [
        {"column": name, **_spread(raw[:, index])}
        for index, name in enumerate(names[:MOST_COLUMNS])
    ]


def _spread(values: torch.Tensor) -> dict[str, str]:
    deviation = float(values.std(correction=0))
    numbers = {"smallest": values.min(), "mean": values.mean(), "largest": values.max()}
    told = {name: readable(float(value), deviation or 1.0) for name, value in numbers.items()}
    return {**told, "standard deviation": f"{deviation:.4g}"}
