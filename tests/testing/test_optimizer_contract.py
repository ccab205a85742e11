"""The optimizer contract: torch's own pass, and each check catches one that breaks it."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from netwright.testing import optimizer_contract as contract
from netwright.testing.optimizer_contract import OPTIMIZER_CHECKS, Build, bowl, take_steps
from tests.repetition import for_each

Check = Callable[[Build], None]


class Sound(Optimizer):
    """Gradient steps with momentum, written out."""

    rate = 0.01

    def __init__(self, params: list[nn.Parameter]) -> None:
        super().__init__(params, {"lr": self.rate})

    def step(self, closure: Any = None) -> Any:
        with torch.enable_grad():
            loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    self.move(param, group["lr"])
        return loss

    def move(self, param: nn.Parameter, lr: float) -> None:
        if param.grad is not None:
            state = self.state[param]
            state["speed"] = 0.9 * state.get("speed", torch.zeros_like(param)) + param.grad
            param.sub_(lr * state["speed"])


class Curvature(Optimizer):
    """Newton steps along each weight by itself, from the graph of the loss."""

    needs_graph = True

    def __init__(self, params: list[nn.Parameter]) -> None:
        super().__init__(params, {"lr": 0.5})

    def step(self, closure: Any = None) -> Any:
        with torch.enable_grad():
            loss, outputs = closure()
        for group in self.param_groups:
            for param in group["params"]:
                if any(param is output for output in outputs):
                    self.move(loss, param, group["lr"])
        return loss

    def move(self, loss: Tensor, param: nn.Parameter, lr: float) -> None:
        (slope,) = torch.autograd.grad(loss, param, create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), param)
        with torch.no_grad():
            param.sub_(lr * slope / bend)


class NotTorchs:
    def __init__(self, params: list[nn.Parameter]) -> None:
        self.param_groups = [{"params": params, "lr": 0.1}]


class NoRate(Sound):
    def __init__(self, params: list[nn.Parameter]) -> None:
        Optimizer.__init__(self, params, {"rate": 0.01})


class Climbs(Sound):
    rate = -0.0001


class ForgetsTheLoss(Sound):
    def step(self, closure: Any = None) -> Any:
        return super().step(closure) * 0


class StandsStill(Sound):
    rate = 0.0


class Chance(Sound):
    def move(self, param: nn.Parameter, lr: float) -> None:
        super().move(param, lr)
        param.add_(1e-3 * torch.randn(param.shape))


class MemoryOutsideItsState(Sound):
    def __init__(self, params: list[nn.Parameter]) -> None:
        super().__init__(params)
        self.speed = torch.zeros(2)

    def move(self, param: nn.Parameter, lr: float) -> None:
        if param.grad is not None:
            self.speed = 0.9 * self.speed + param.grad
            param.sub_(lr * self.speed)


class FunctionInItsGroups(Sound):
    def __init__(self, params: list[nn.Parameter]) -> None:
        super().__init__(params)
        self.param_groups[0]["shape"] = abs


class ObjectInItsState(Sound):
    def move(self, param: nn.Parameter, lr: float) -> None:
        super().move(param, lr)
        self.state[param]["clock"] = itertools.count()


class DecaysEverything(Sound):
    def move(self, param: nn.Parameter, lr: float) -> None:
        super().move(param, lr)
        param.mul_(1 - lr)


class SingleOnly(Sound):
    def move(self, param: nn.Parameter, lr: float) -> None:
        super().move(param, lr)
        if param.dtype == torch.float64:
            param.add_(0.1)


@for_each("check", OPTIMIZER_CHECKS, ids=lambda check: check.__name__)
@for_each(
    "build",
    [
        Sound,
        Curvature,
        lambda params: torch.optim.Adam(params, lr=0.1),
        lambda params: torch.optim.LBFGS(params, max_iter=2),
        lambda params: torch.optim.Rprop(params, lr=0.1),
    ],
    ids=["Sound", "Curvature", "Adam", "LBFGS", "Rprop"],
)
def test_sound_optimizer_passes(build: Build, check: Check) -> None:
    check(build)


@for_each(
    ("check", "kind", "message"),
    [
        (contract.check_is_a_torch_optimizer, NotTorchs, "NotTorchs is no torch optimizer"),
        (contract.check_is_a_torch_optimizer, NoRate, "has no 'lr'"),
        (contract.check_descends_a_bowl, Climbs, "the loss was 41, 200 steps left"),
        (contract.check_returns_the_loss_before_the_step, ForgetsTheLoss, "step gave 0"),
        (contract.check_returns_the_loss_before_the_step, StandsStill, "did not move"),
        (contract.check_repeats_exactly, Chance, "two runs differ"),
        (contract.check_resumes_exactly, MemoryOutsideItsState, "with a stop"),
        (contract.check_state_is_tensors_and_plain_values, FunctionInItsGroups, "are not JSON"),
        (contract.check_state_is_tensors_and_plain_values, ObjectInItsState, "'clock' is a count"),
        (contract.check_leaves_parameters_without_gradient, DecaysEverything, "moved to"),
        (contract.check_works_in_double_precision, SingleOnly, "float64 and float32 part"),
    ],
)
def test_broken_optimizer_is_caught(check: Check, kind: Any, message: str) -> None:
    assert check in OPTIMIZER_CHECKS
    with pytest.raises(AssertionError, match=message):
        check(kind)


def test_the_schedule_is_asked_for_the_rate_it_set() -> None:
    class KeepsItsRate(Sound):
        """Puts its rate back whenever it steps, as one with a frozen copy would."""

        def __init__(self, params: list[nn.Parameter]) -> None:
            super().__init__(params)
            frozen = self.param_groups[0]

            class Stubborn(dict[str, Any]):
                def __setitem__(self, name: str, value: Any) -> None:
                    if name != "lr":
                        super().__setitem__(name, value)

            self.param_groups[0] = Stubborn(frozen)

    with pytest.raises(AssertionError, match=r"a schedule asked for 0\.005, got 0\.01"):
        contract.check_is_a_torch_optimizer(KeepsItsRate)


def test_bowl_by_hand() -> None:
    # 1 * (0 - 1)^2 + 10 * (0 + 2)^2 = 41; its slope is (-2, 40).
    weight = nn.Parameter(torch.zeros(2))
    loss: Tensor = bowl(weight)
    assert loss.item() == 41.0
    assert torch.autograd.grad(loss, weight)[0].tolist() == [-2.0, 40.0]
    assert bowl(torch.tensor([1.0, -2.0])).item() == 0.0


def test_steps_give_the_loss_before_each() -> None:
    weight = nn.Parameter(torch.zeros(2))
    # One step of 0.01: (0.02, -0.4), and the bowl there is 0.98^2 + 10 * 1.6^2.
    losses = take_steps(torch.optim.SGD([weight], lr=0.01), weight, 2)
    assert losses == pytest.approx([41.0, 0.98**2 + 10 * 1.6**2])
