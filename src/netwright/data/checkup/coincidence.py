"""How often rows would be equal by chance: columns of few values repeat without being copied.

New rows are made that take each column from another row, so that they are as likely as their values
are; where these are equal to true rows, that has nothing to do with copies.

Shapes: N rows, F numbers of a row.
"""

import numpy as np
import torch
from torch import Tensor

from netwright.core.seeding import generator
from netwright.core.trees import count_numbers, flat_rows
from netwright.data.checkup.row_digests import row_digests
from netwright.data.dataset import Data, Split
from netwright.data.tables.encoding import TableEncoder

MOST_NUMBERS = 2**24  # that are mixed: larger rows do not repeat by chance
CLEARLY = 2.0  # times as often as by chance


def beyond_chance(observed: float, data: Data) -> bool:
    """Whether a share of equal rows is clearly larger than chance would make it."""
    return observed > CLEARLY * chance_of_equals(data)


def chance_of_equals(data: Data) -> float:
    """The share of mixed training rows that equal a true one."""
    inputs = data.train.inputs
    if count_numbers(inputs) > MOST_NUMBERS:
        return 0.0
    flat = inputs.flatten(1) if isinstance(inputs, Tensor) else flat_rows(inputs)
    rows = mixed(flat, _widths(data, flat.shape[1]))
    new = row_digests(Split(inputs=rows, targets=data.train.targets))
    true = row_digests(Split(inputs=flat, targets=data.train.targets))
    return float(np.isin(new, true).mean())


def mixed(rows: Tensor, widths: list[int]) -> Tensor:
    """Rows (N, F) that take each column, of so many numbers, from another row: a row stays none."""
    order = torch.randperm(len(rows), generator=generator(0, "columns"))
    columns = torch.split(rows.cpu()[order], widths, dim=1)
    return torch.cat([column.roll(place, 0) for place, column in enumerate(columns)], dim=1)


def _widths(data: Data, numbers: int) -> list[int]:
    """How many of the numbers of a row each column of the source has become."""
    encoder = data.preprocessor
    if isinstance(encoder, TableEncoder):
        return [len(feature.feature_names()) for feature in encoder.features]
    return [1] * numbers
