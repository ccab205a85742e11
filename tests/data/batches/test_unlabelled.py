"""Inputs to be predicted: those of all batches, whatever stands beside them."""

from typing import Any

import pytest
import torch

from netwright.core.errors import DataError
from netwright.core.trees import tensors_of
from netwright.data.batches.unlabelled import unlabelled_inputs
from tests.repetition import for_each

X, Y = torch.arange(6.0).reshape(3, 2), torch.arange(3)


@for_each("item", [X, (X,), (X, Y), [X, Y, torch.ones(3)], {"x": X, "labels": Y}, {"x": X}])
def test_targets_are_left_out(item: Any) -> None:
    assert torch.equal(unlabelled_inputs([item, item]), torch.cat([X, X]))


def test_several_inputs_stay_several() -> None:
    joined = unlabelled_inputs([((X, Y), Y), ((X, Y), Y)])
    assert [len(part) for part in tensors_of(joined)] == [6, 6]
    assert list(unlabelled_inputs([{"a": X, "b": Y}])) == ["a", "b"]


def test_what_cannot_be_joined_is_refused() -> None:
    with pytest.raises(DataError, match="no batch"):
        unlabelled_inputs([])
    with pytest.raises(DataError, match="different shapes"):
        unlabelled_inputs([X, X[:, :1]])
