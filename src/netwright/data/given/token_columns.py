"""Columns of tokens, as a tokenizer leaves them in a dataset: lists of whole numbers, row by row.

Rows are filled up to the longest: tokens and masks with 0, targets with -100, which do not count.
Where no column tells which tokens are real, `attention_mask` is made. Without targets, each token
is predicted from those before it.

Shapes: N rows, T tokens.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from netwright.core.config import Config
from netwright.core.errors import DataError
from netwright.data.dataset import Data
from netwright.data.given.form import GivenForm
from netwright.data.given.given import Given
from netwright.data.given.several_inputs import SeveralInputsConfig, several_inputs_data
from netwright.data.spec import IGNORED

TOKENS, MASK = "input_ids", "attention_mask"


def filled(rows: Sequence[Any], fill: int = 0) -> Tensor:
    """Lists of whole numbers of any length -> (N, T), the longest of them."""
    parts = [torch.as_tensor(row, dtype=torch.int64) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(parts, batch_first=True, padding_value=fill)


def token_inputs(columns: Mapping[str, Sequence[Any]]) -> dict[str, Tensor]:
    """Each column (N, T), with a mask of the tokens that are real where lengths differ."""
    inputs = {name: filled(rows) for name, rows in columns.items()}
    first = next(iter(columns.values()))
    if MASK not in inputs and len({len(row) for row in first}) > 1:
        inputs[MASK] = filled([[1] * len(row) for row in first])
    return inputs


def next_tokens(inputs: Mapping[str, Tensor]) -> Tensor:
    """The tokens themselves as targets (N, T), without those that only fill up."""
    tokens = inputs.get(TOKENS)
    if tokens is None:
        raise DataError(
            f"tokens without targets are read from the column {TOKENS!r}, got "
            f"{', '.join(inputs)}: name a target, as in target='labels'"
        )
    mask = inputs.get(MASK)
    return tokens if mask is None else tokens.masked_fill(mask == 0, IGNORED)


def _load(given: Given, config: SeveralInputsConfig) -> Data:
    return several_inputs_data(given, config, any_length=True)


def _settings(_source: Any, _given: Mapping[str, Any]) -> type[Config]:
    return SeveralInputsConfig


TOKEN_COLUMNS = GivenForm(
    name="columns of tokens",
    recognises=lambda source: False,  # only a dataset has them
    settings=_settings,
    load=_load,
)
