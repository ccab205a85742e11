"""Masks: True = may attend."""

import pytest
import torch

from netwright.core.errors import ShapeError
from netwright.layers.attention.masks import causal_mask, length_mask, padding_mask, zero_unread


def test_a_query_sees_the_keys_up_to_its_own_place() -> None:
    assert causal_mask(3).tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


def test_new_queries_see_all_keys_that_came_before_them() -> None:
    assert causal_mask(2, 4).tolist() == [[True, True, True, False], [True, True, True, True]]
    assert causal_mask(1, 4).all()


def test_the_first_keys_of_a_row_count() -> None:
    mask = length_mask(torch.tensor([2, 0, 3]), 3)
    assert mask.tolist() == [[[True, True, False]], [[False] * 3], [[True] * 3]]


def test_masks_are_combined_by_and() -> None:
    both = causal_mask(3) & length_mask(torch.tensor([2, 3]), 3)
    assert both.shape == (2, 3, 3)
    assert both[0].tolist() == [[True, False, False], [True, True, False], [True, True, False]]
    assert torch.equal(both[1], causal_mask(3))


def test_only_what_no_query_sees_becomes_zero() -> None:
    x = torch.tensor([[1.0, 2.0, 3.0]]).mT[None]  # (1, 3, 1)
    mask = torch.tensor([[[True, False, False], [False, False, True], [True, False, False]]])
    assert zero_unread(x, mask).flatten().tolist() == [1.0, 0.0, 3.0]
    assert zero_unread(x, mask[:, :1]).flatten().tolist() == [1.0, 0.0, 0.0]
    assert zero_unread(x, None) is x


def test_lengths_of_another_shape_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^lengths must have shape \(B\), got \(1, 2\)$"):
        length_mask(torch.ones(1, 2), 3)


def test_padding_is_seen_by_itself_alone() -> None:
    counted = torch.tensor([[False, True, True], [True, True, True]])
    first, second = padding_mask(counted).int().tolist()
    assert first == [[1, 1, 1], [0, 1, 1], [0, 1, 1]]
    assert second == [[1, 1, 1]] * 3
    assert padding_mask(counted, 2)[0].int().tolist() == [[0, 1, 1], [0, 1, 1]]
