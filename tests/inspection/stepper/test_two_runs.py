"""The tape and torch's own run draw the same numbers, and their gradients are held together."""

import math

import torch
from torch import Tensor, nn

from netwright.inspection.stepper.node import Node
from netwright.inspection.stepper.reverse_sweep import Sweep
from netwright.inspection.stepper.step_through import StepThrough, step_through
from netwright.inspection.stepper.two_runs import disagreement

X, Y = torch.tensor([[0.3, -1.0, 2.0]]), torch.tensor([1])


class Noisy(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * torch.randn(2)


class NamedX(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.x = nn.Parameter(torch.tensor([[2.0, 3.0, 4.0]]))

    def forward(self, x: Tensor) -> Tensor:
        return (x * self.x).sum()


class Learning(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, output: Tensor, _: Tensor) -> Tensor:
        return (output * self.weight).sum()


def parameters(stepped: StepThrough) -> list[str]:
    return [step.name for step in stepped.steps if step.kind == "parameter"]


def test_both_runs_draw_the_same_random_numbers() -> None:
    assert step_through(Noisy(3, 2), X, Y).disagreement < 1e-14


def test_a_parameter_may_be_called_as_the_input() -> None:
    stepped = step_through(NamedX(), X)
    assert stepped.disagreement == 0.0
    gradients = [step.gradient.entries for step in stepped.steps[:2]]
    assert gradients == [(2.0, 3.0, 4.0), tuple(X.double()[0].tolist())]


def test_a_loss_with_weights_of_its_own_is_computed_in_float64() -> None:
    torch.manual_seed(0)
    model, loss = nn.Linear(3, 2), nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0]))
    stepped = step_through(model, X, Y, loss=loss)
    assert stepped.disagreement < 1e-14
    assert abs(stepped.loss - loss(model(X), Y).item()) < 1e-6


def test_a_loss_that_learns_has_gradients_too_and_is_left_as_it_was() -> None:
    loss = Learning()
    stepped = step_through(nn.Linear(3, 2), X, Y, loss=loss)
    assert parameters(stepped) == ["weight", "bias", "loss.weight"]
    assert stepped.disagreement == 0.0
    assert loss.weight.grad is None and loss.weight.dtype == torch.float32


def test_a_weight_that_model_and_loss_share_is_one() -> None:
    model, loss = nn.Linear(3, 2), Learning()
    loss.weight = model.bias
    assert parameters(step_through(model, X, Y, loss=loss)) == ["weight", "bias"]


def apart(found: list[float], wanted: list[float]) -> float:
    value = torch.tensor(found)
    node = Node("parameter", "w", "", "", (), value, None)
    return disagreement((node,), Sweep([value], [], {}), {("parameter", "w"): torch.tensor(wanted)})


def test_gradients_that_are_no_numbers_are_equal_only_to_such() -> None:
    assert apart([1.0, math.nan], [1.0, math.nan]) == 0.0
    assert apart([1.0, math.nan], [1.0, 2.0]) == math.inf
    assert apart([1.0, 2.0], [1.0, math.inf]) == math.inf
    assert apart([3.0, 0.0], [0.0, 0.0]) == 1.0
