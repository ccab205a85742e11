"""The work of a batch: counted by hand, on a copy that leaves model and generators alone."""

import pytest
import torch
from torch import Tensor, nn

from netwright.data.loading.loader import Batch
from netwright.train.profiling.batch_work import measure_work
from tests.train.toy_runs import FEATURES, OUTPUTS, assert_same, copy_of, toy_data, toy_net

ROWS, HIDDEN, FLOAT = 4, 5, 4  # of the toy net; bytes of a float


def batch() -> Batch:
    train = toy_data(rows=ROWS).train
    return Batch(train.inputs, train.targets, None, torch.arange(ROWS))


def loss(model: nn.Module, batch: Batch) -> Tensor:
    return nn.functional.cross_entropy(model(batch.inputs), batch.targets)


def test_operations_are_two_for_each_multiplication_and_addition() -> None:
    work = measure_work(toy_net(), batch(), loss)
    first, second = 2 * ROWS * FEATURES * HIDDEN, 2 * ROWS * HIDDEN * OUTPUTS
    assert work.forward == first + second
    assert work.backward == first + 2 * second  # the inputs need no gradient
    assert not work.convolves


def test_activations_are_what_is_kept_between_the_passes_each_once() -> None:
    """The ReLU's output, which two layers keep, the log-probabilities, and the sum of weights."""
    work = measure_work(toy_net(), batch(), loss)
    assert work.activations == FLOAT * (ROWS * HIDDEN + ROWS * OUTPUTS + 1)


def test_a_model_of_convolutions_is_known_as_one() -> None:
    images = torch.zeros(2, 1, 8, 8)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(4 * 36, 2))
    few = Batch(images, torch.tensor([0, 1]), None, torch.arange(2))
    assert measure_work(model, few, loss).convolves


def test_nothing_of_the_model_or_the_draws_changes() -> None:
    model, draws = toy_net(batch_norm=True, dropout=0.5), torch.get_rng_state()
    before = copy_of(model)
    measure_work(model, batch(), loss)
    assert_same(copy_of(model), before)
    assert all(weight.grad is None for weight in model.parameters())
    assert torch.equal(torch.get_rng_state(), draws)


def test_a_failure_is_raised_and_leaves_the_generators_alone() -> None:
    def failing(model: nn.Module, batch: Batch) -> Tensor:
        torch.rand(1)
        raise RuntimeError("no")

    draws = torch.get_rng_state()
    with pytest.raises(RuntimeError, match="no"):
        measure_work(toy_net(), batch(), failing)
    assert torch.equal(torch.get_rng_state(), draws)
