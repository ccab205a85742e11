"""A dense layer by hand: a case of small numbers, autograd over shapes, the sum over the batch."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import linear

from netwright.backprop.dense import dense_backward, dense_forward
from netwright.core.errors import ShapeError
from tests.backprop.references import assert_equal, autograd_gradients, numbers


def test_a_case_by_hand() -> None:
    x, weight = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    z, kept = dense_forward(x, weight, torch.tensor([0.5, 0.0, -0.5]))
    assert z.tolist() == [[11.5, 17.0, 22.5]]
    found = dense_backward(kept, torch.tensor([[1.0, 10.0, 100.0]]))
    assert found.weight.tolist() == [[1, 2], [10, 20], [100, 200]]
    assert found.bias.tolist() == [1, 10, 100]
    assert found.x.tolist() == [[3 + 50 + 700, 4 + 60 + 800]]


@settings(max_examples=25, deadline=None)
@given(batch=st.integers(1, 5), inputs=st.integers(1, 5), outputs=st.integers(1, 5))
def test_gradients_are_those_of_autograd(batch: int, inputs: int, outputs: int) -> None:
    parts = (numbers(batch, inputs), numbers(outputs, inputs, seed=1), numbers(outputs, seed=2))
    delta = numbers(batch, outputs, seed=3)
    z, kept = dense_forward(*parts)
    assert_equal(z, linear(*parts))
    found = dense_backward(kept, delta)
    expected = autograd_gradients(linear, parts, delta)
    for ours, theirs in zip((found.x, found.weight, found.bias), expected, strict=True):
        assert_equal(ours, theirs)


def test_the_gradient_of_a_batch_is_the_sum_over_its_examples() -> None:
    x, weight, bias, delta = numbers(4, 3), numbers(2, 3), numbers(2), numbers(4, 2, seed=1)
    whole = dense_backward(dense_forward(x, weight, bias)[1], delta)
    alone = [
        dense_backward(dense_forward(x[i : i + 1], weight, bias)[1], delta[i : i + 1])
        for i in range(4)
    ]
    assert_equal(whole.weight, sum((one.weight for one in alone), torch.zeros_like(weight)))
    assert_equal(whole.bias, sum((one.bias for one in alone), torch.zeros_like(bias)))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"^x must have shape \(B, 3\), got \(4, 2\)$"):
        dense_forward(torch.zeros(4, 2), torch.zeros(5, 3), torch.zeros(5))
    with pytest.raises(ShapeError, match=r"^bias must have shape \(5\), got \(3,\)$"):
        dense_forward(torch.zeros(4, 3), torch.zeros(5, 3), torch.zeros(3))
    _, kept = dense_forward(torch.zeros(4, 3), torch.zeros(5, 3), torch.zeros(5))
    with pytest.raises(ShapeError, match=r"^delta must have shape \(4, 5\), got \(1, 5\)$"):
        dense_backward(kept, torch.zeros(1, 5))
