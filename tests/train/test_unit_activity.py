"""Sleeping units: counted by hand, wherever the activation is called; the model stays as it is."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.train.layer_lengths import LayerLengths
from netwright.train.unit_activity import (
    Activity,
    dead_share,
    flat_share_of_sigmoid,
    flat_share_of_tanh,
    measure_unit_activity,
)
from tests.train.toy_runs import assert_same, copy_of


def measured(model: nn.Module, inputs: Tensor) -> dict[str, Activity]:
    return measure_unit_activity(model, inputs, LayerLengths(model).layers)


class Called(nn.Module):
    """A layer of four units whose activation is called as a function."""

    def __init__(self, activation: Callable[[Tensor], Tensor], biases: list[float]) -> None:
        super().__init__()
        self.inner, self.activation = nn.Linear(1, 4), activation
        self.outer = nn.Linear(4, 1)
        with torch.no_grad():
            self.inner.weight.fill_(1.0)
            self.inner.bias.copy_(torch.tensor(biases))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.outer(self.activation(self.inner(x)))
        return y


@pytest.mark.parametrize(
    "relu",
    [F.relu, torch.relu, Tensor.relu, nn.ReLU(), nn.ReLU(inplace=True)],
    ids=["functional", "torch", "method", "module", "in place"],
)
def test_a_unit_that_no_example_wakes_is_dead_however_relu_is_called(
    relu: Callable[[Tensor], Tensor],
) -> None:
    # x is 0 or 1: units with bias -2 and -5 are never positive; -0.5 is, once.
    model = Called(relu, [-2.0, -0.5, -5.0, 3.0])
    found = measured(model, torch.tensor([[0.0], [1.0]]))
    assert found == {"inner": Activity(0.5, None), "outer": Activity(None, None)}


@pytest.mark.parametrize(("squash", "end"), [(torch.sigmoid, 6.0), (torch.tanh, 3.0)])
def test_a_number_is_flat_where_the_slope_is_less_than_a_hundredth(
    squash: Callable[[Tensor], Tensor], end: float
) -> None:
    model = Called(squash, [-end - 1, -end / 2, end / 2 - 1, end])  # of two examples 0 and 1
    slope = torch.func.vmap(torch.func.grad(squash))
    numbers = torch.tensor(
        [-end - 1, -end, -end / 2, 1 - end / 2, end / 2 - 1, end / 2, end, end + 1]
    )
    wanted = (slope(numbers) < 0.01 * slope(torch.zeros(1))).float().mean().item()
    assert 0 < wanted < 1
    found = measured(model, torch.tensor([[0.0], [1.0]]))
    assert found["inner"].dead is None
    assert found["inner"].saturated == pytest.approx(wanted, abs=1e-4)


def test_a_channel_of_an_image_is_dead_where_all_of_its_pixels_are_0() -> None:
    maps = torch.zeros(2, 4, 3, 3)
    maps[1, 2, 0, 1] = 1.0
    assert dead_share(maps).item() == 0.75
    assert dead_share(torch.tensor([[[0.0, 0.0], [0.0, 1.0]]])).item() == 0.5  # tokens


def test_the_ends_are_flat_and_the_middle_is_steep() -> None:
    assert flat_share_of_tanh(torch.tensor([-1.0, 0.0, 1.0, 0.5])).item() == 0.5
    assert flat_share_of_sigmoid(torch.tensor([0.0, 0.5, 1.0, 0.25])).item() == 0.5


def test_nothing_of_the_model_is_changed_and_nothing_is_drawn() -> None:
    class Draws(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + torch.rand_like(x)

    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(), Draws())
    model.train()
    before, draws = copy_of(model), torch.get_rng_state()
    measured(model, torch.randn(5, 3, generator=torch.Generator().manual_seed(0)))
    assert_same(copy_of(model), before)
    assert torch.equal(torch.get_rng_state(), draws)
    assert all(part.training for part in model.modules())
    assert not any(part._forward_pre_hooks or part._forward_hooks for part in model.modules())


def test_hooks_are_taken_off_where_the_model_fails() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 1))
    with pytest.raises(RuntimeError):
        measured(model, torch.ones(2, 3))
    assert not any(part._forward_pre_hooks for part in model.modules())
