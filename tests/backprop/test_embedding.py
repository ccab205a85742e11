"""An embedding by hand: repeated tokens add up, it is a dense layer of one-hot inputs, autograd."""

import pytest
import torch
from torch.nn import functional as F

from netwright.backprop.dense import dense_backward, dense_forward
from netwright.backprop.embedding import embedding_backward, embedding_forward
from netwright.core.errors import DataError, ShapeError
from tests.backprop.references import assert_equal, autograd_gradients, numbers
from tests.repetition import for_each


def test_the_rows_of_a_token_used_twice_add_up() -> None:
    table = torch.arange(8.0).view(4, 2)
    rows, kept = embedding_forward(torch.tensor([2, 0, 2]), table)
    assert rows.tolist() == [[4, 5], [0, 1], [4, 5]]
    found = embedding_backward(kept, torch.tensor([[1.0, 2.0], [3.0, 4.0], [10.0, 20.0]]))
    assert found.tolist() == [[3, 4], [0, 0], [11, 22], [0, 0]]


@for_each("shape", [(), (5,), (3, 4), (2, 0)])
def test_gradients_are_those_of_autograd(shape: tuple[int, ...]) -> None:
    tokens = torch.randint(6, shape, generator=torch.Generator().manual_seed(0))
    table, delta = numbers(6, 3), numbers(*shape, 3, seed=1)
    rows, kept = embedding_forward(tokens, table)
    assert_equal(rows, F.embedding(tokens, table))
    (expected,) = autograd_gradients(lambda table: F.embedding(tokens, table), [table], delta)
    assert_equal(embedding_backward(kept, delta), expected)


def test_it_is_the_dense_layer_of_one_hot_inputs() -> None:
    tokens, table, delta = torch.tensor([1, 3, 1]), numbers(4, 2), numbers(3, 2, seed=1)
    rows, kept = embedding_forward(tokens, table)
    z, dense_kept = dense_forward(F.one_hot(tokens, 4).double(), table.T, torch.zeros(2).double())
    assert_equal(rows, z)
    assert_equal(embedding_backward(kept, delta), dense_backward(dense_kept, delta).weight.T)


def test_what_does_not_fit_is_refused() -> None:
    for token in (4, -1):
        with pytest.raises(DataError, match=rf"^tokens must lie in \[0, 4\), got {token}$"):
            embedding_forward(torch.tensor([0, token]), torch.zeros(4, 2))
    for kind in (torch.float32, torch.bool, torch.uint8):
        with pytest.raises(DataError, match=rf"^tokens must be int32 or int64, got {kind}$"):
            embedding_forward(torch.zeros(4, dtype=kind), torch.zeros(4, 2))
    _, kept = embedding_forward(torch.tensor([0, 3]), torch.zeros(4, 2))
    with pytest.raises(ShapeError, match=r"^delta must have shape \(2, D\), got \(3, 2\)$"):
        embedding_backward(kept, torch.zeros(3, 2))
