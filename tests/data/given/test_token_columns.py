"""Columns of tokens: filled up to the longest, with a mask where none tells what is real."""

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.given.given import Given
from netwright.data.given.several_inputs import SeveralInputsConfig
from netwright.data.given.token_columns import TOKEN_COLUMNS, filled, next_tokens, token_inputs

ROWS = [[3, 4], [5], [1, 2, 3]]


def test_rows_are_filled_up_to_the_longest() -> None:
    assert filled(ROWS).tolist() == [[3, 4, 0], [5, 0, 0], [1, 2, 3]]
    assert filled(ROWS, -100)[1].tolist() == [5, -100, -100]


def test_a_mask_is_made_where_lengths_differ_and_none_is_given() -> None:
    assert token_inputs({"input_ids": ROWS})["attention_mask"].sum(dim=1).tolist() == [2, 1, 3]
    given = token_inputs({"input_ids": ROWS, "attention_mask": [[1, 0], [1], [1, 1, 1]]})
    assert given["attention_mask"][0].tolist() == [1, 0, 0]
    assert list(token_inputs({"input_ids": [[1, 2], [3, 4]]})) == ["input_ids"]


def test_tokens_alone_are_their_own_targets() -> None:
    assert next_tokens(token_inputs({"input_ids": ROWS}))[1].tolist() == [5, -100, -100]
    with pytest.raises(DataError, match="read from the column 'input_ids', got words"):
        next_tokens({"words": torch.ones(2, 2)})


def test_validation_rows_may_be_longer() -> None:
    config = SeveralInputsConfig(val_size=0.0, test_size=0.0)
    data = TOKEN_COLUMNS.load(
        Given(
            data=(token_inputs({"input_ids": ROWS * 2}), filled([[0, 1], [1], [0, 1, 0]] * 2)),
            validation=({"input_ids": [[1] * 5], "attention_mask": [[1] * 5]}, [[1] * 5]),
        ),
        config,
    )
    assert (data.spec.inputs, data.spec.target, data.spec.num_outputs) == ("parts", "tags", 2)
    assert data.val is not None
    assert data.val.targets.shape == (1, 5)
