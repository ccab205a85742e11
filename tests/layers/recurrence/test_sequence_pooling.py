"""Pooling over steps: by hand, over the steps that count."""

import pytest
import torch

from netwright.layers.recurrence.sequence_pooling import Pooling, pool_steps

OUTPUTS = torch.tensor([[[1.0, -5], [3, -1], [2, -9]], [[4, 0], [100, 100], [100, 100]]])
LENGTHS = torch.tensor([3, 1])


@pytest.mark.parametrize(
    ("pooling", "wanted"),
    [("last", [[2, -9], [4, 0]]), ("mean", [[2, -5], [4, 0]]), ("max", [[3, -1], [4, 0]])],
)
def test_steps_beyond_the_end_of_a_row_do_not_count(
    pooling: Pooling, wanted: list[list[float]]
) -> None:
    assert pool_steps(OUTPUTS, pooling, LENGTHS).tolist() == wanted
    assert pool_steps(OUTPUTS[:1], pooling).tolist() == wanted[:1]  # without lengths all count


def test_the_last_step_of_the_backward_half_is_the_first() -> None:
    assert pool_steps(OUTPUTS, "last", LENGTHS, bidirectional=True).tolist() == [[2, -5], [4, 0]]


@pytest.mark.parametrize("pooling", ["last", "mean", "max"])
def test_an_empty_row_is_its_first_step(pooling: Pooling) -> None:
    assert pool_steps(OUTPUTS, pooling, torch.tensor([0, 0])).tolist() == [[1, -5], [4, 0]]
