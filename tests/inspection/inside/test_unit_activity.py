"""Sleeping units: counted by hand, wherever the activation is called; the model stays as it is."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.inspection.inside.unit_activity import unit_activities
from tests.inspection.untouched import untouched
from tests.repetition import for_each


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


@for_each(
    "relu",
    [
        F.relu,
        torch.relu,
        Tensor.relu,
        nn.ReLU(),
        nn.ReLU(inplace=True),
        lambda x: x.clamp(min=0),
        lambda x: torch.clip(x, 0),
    ],
    ids=["functional", "torch", "method", "module", "in place", "clamp", "clip"],
)
def test_a_unit_that_no_example_wakes_is_dead_however_relu_is_called(
    relu: Callable[[Tensor], Tensor],
) -> None:
    # x is 0 or 1: units with bias -2 and -5 are never positive; -0.5 is, once.
    model = Called(relu, [-2.0, -0.5, -5.0, 3.0])
    inner, outer = unit_activities(model, torch.tensor([[0.0], [1.0]]))
    assert (inner.path, inner.activation.name, outer.activation.name) == ("inner", "relu", "")
    assert inner.is_dead.tolist() == [True, False, True, False]
    assert (int(inner.zeros), inner.count, int(inner.flat)) == (5, 8, 0)
    assert not inner.is_saturated.any()


@pytest.mark.parametrize(
    ("squash", "ends"), [(torch.sigmoid, [-5.0, 4.0]), (torch.tanh, [-3.0, 2.0])]
)
def test_a_value_is_flat_within_a_hundredth_of_an_end(
    squash: Callable[[Tensor], Tensor], ends: list[float]
) -> None:
    model = Called(squash, [*ends, 0.0, 50.0])
    inner, _ = unit_activities(model, torch.tensor([[0.0], [1.0]]))
    # The first leaves its end where x is 1, the second comes to its end there.
    assert (int(inner.flat), inner.is_saturated.tolist()) == (4, [False, False, False, True])


@for_each(
    "relu6",
    [nn.ReLU6(), nn.ReLU6(inplace=True), F.relu6, lambda x: x.clamp(0, 6)],
    ids=["module", "in place", "functional", "clamp"],
)
def test_relu6_is_dead_at_0_and_saturated_at_6(relu6: Callable[[Tensor], Tensor]) -> None:
    model = Called(relu6, [-5.0, 3.0, 7.0, 5.5])
    inner, _ = unit_activities(model, torch.tensor([[0.0], [1.0]]))
    assert inner.activation.name == "relu6"
    assert inner.is_dead.tolist() == [True, False, False, False]
    assert (int(inner.flat), inner.is_saturated.tolist()) == (3, [False, False, True, False])


@for_each(
    ("clamp", "saturated"),
    [
        (nn.Hardtanh(), [True, False, True, True]),
        (nn.Hardtanh(-2, 2), [True, False, False, False]),
        (lambda x: F.hardtanh(x, max_val=9.0), [True, False, False, False]),
        (lambda x: x.clamp(min=-1.0), [False] * 4),  # no end is known to be one of an activation
        (lambda x: x.clamp(min=torch.tensor(-1.0)), [False] * 4),
    ],
    ids=["usual", "wider", "one end moved", "clamp", "tensor"],
)
def test_the_ends_are_those_of_the_call(
    clamp: Callable[[Tensor], Tensor], saturated: list[bool]
) -> None:
    model = Called(clamp, [-5.0, -0.5, 1.5, 1.2])
    inner, _ = unit_activities(model, torch.tensor([[0.0], [0.1]]))
    assert inner.is_saturated.tolist() == saturated


class Draws(nn.Module):
    """Noise also at rest."""

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.rand_like(x)


def test_nothing_of_the_model_is_changed_and_nothing_is_drawn() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(), Draws())
    inputs = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    with untouched(model.train()):
        (layer,) = unit_activities(model, inputs)
    assert (layer.path, layer.activation.name) == ("0", "relu")


def test_hooks_are_taken_off_where_the_model_fails() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 1))
    with pytest.raises(RuntimeError):
        unit_activities(model, torch.ones(2, 3))
    assert not any(part._forward_pre_hooks or part._forward_hooks for part in model.modules())


def test_what_is_no_number_is_no_reason_to_fail() -> None:
    (layer,) = unit_activities(nn.Sequential(nn.ReLU()), torch.tensor([[torch.nan, 0.0]]))
    assert layer.is_dead.tolist() == [False, True]
