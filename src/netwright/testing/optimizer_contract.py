"""What every optimizer promises, as checks that anyone may run on an optimizer of their own.

    @pytest.mark.parametrize("check", OPTIMIZER_CHECKS, ids=lambda check: check.__name__)
    def test_keeps_the_optimizer_contract(check):
        check(lambda params: MyOptimizer(params, lr=0.02))

Every step is given a closure, so that optimizers which ask for the loss again (L-BFGS) keep the
same contract as those that do not. One whose class says `needs_graph = True` (Newton) is given a
closure that takes no gradients and gives (loss, outputs) with their graph. Choose a rate that suits
a bowl of curvatures 2 and 20.
"""

import copy
import json
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

Build = Callable[[list[nn.Parameter]], Optimizer]


def bowl(weight: Tensor) -> Tensor:
    """A stretched bowl with its floor at (1, -2); 41 at the start (0, 0)."""
    floor = torch.tensor([1.0, -2.0], dtype=weight.dtype)
    return (torch.tensor([1.0, 10.0], dtype=weight.dtype) * (weight - floor) ** 2).sum()


def take_steps(optimizer: Optimizer, weight: nn.Parameter, count: int) -> list[float]:
    """Step down the bowl; gives what each step returned."""
    needs_graph = getattr(optimizer, "needs_graph", False)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = bowl(weight)
        if needs_graph:
            return loss, (weight,)
        torch.autograd.backward(loss)
        return loss

    step: Any = optimizer.step  # torch's types want a closure that gives a float
    return [float(step(closure).detach()) for _ in range(count)]


def depth(weight: Tensor) -> float:
    """The loss at a weight."""
    return float(bowl(weight.detach()))


def check_is_a_torch_optimizer(build: Build) -> None:
    """Torch's schedulers and scalers work on it: every group has its learning rate."""
    weight = nn.Parameter(torch.zeros(2))
    optimizer = build([weight])
    assert isinstance(optimizer, Optimizer), f"{type(optimizer).__name__} is no torch optimizer"
    for group in optimizer.param_groups:
        assert "lr" in group, "a parameter group has no 'lr'"
    rate = optimizer.param_groups[0]["lr"]
    schedule = LambdaLR(optimizer, lambda step: 1.0 / (step + 1))
    take_steps(optimizer, weight, 1)
    schedule.step()
    moved = optimizer.param_groups[0]["lr"]
    assert abs(moved - rate / 2) <= 1e-12 * rate, f"a schedule asked for {rate / 2}, got {moved}"


def check_descends_a_bowl(build: Build) -> None:
    """200 steps leave less than a tenth of the loss."""
    weight = nn.Parameter(torch.zeros(2))
    before = depth(weight)
    take_steps(build([weight]), weight, 200)
    after = depth(weight)
    assert after < 0.1 * before, f"the loss was {before:g}, 200 steps left {after:g}"


def check_returns_the_loss_before_the_step(build: Build) -> None:
    """`step(closure)` gives the closure's loss, as torch's optimizers do."""
    weight = nn.Parameter(torch.zeros(2))
    before = depth(weight)
    (given,) = take_steps(build([weight]), weight, 1)
    assert given == before, f"the loss was {before}, step gave {given}"
    assert depth(weight) != before, "the step did not move the weight"


def check_repeats_exactly(build: Build) -> None:
    """The same start and gradients give the same weights to the last bit."""
    first, second = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(2))
    take_steps(build([first]), first, 20)
    take_steps(build([second]), second, 20)
    assert torch.equal(first, second), f"two runs differ: {first.tolist()} and {second.tolist()}"


def check_resumes_exactly(build: Build) -> None:
    """Stop, save, load and go on: the same weights to the last bit as without the stop."""
    straight, stopped = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(2))
    take_steps(build([straight]), straight, 6)
    first = build([stopped])
    take_steps(first, stopped, 3)
    second = build([stopped])
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    take_steps(second, stopped, 3)
    assert torch.equal(straight, stopped), (
        f"straight on gives {straight.tolist()}, with a stop {stopped.tolist()}"
    )


def check_state_is_tensors_and_plain_values(build: Build) -> None:
    """The state can be written as safetensors and JSON, without pickle."""
    weight = nn.Parameter(torch.zeros(2))
    optimizer = build([weight])
    take_steps(optimizer, weight, 3)
    state = optimizer.state_dict()
    try:
        json.dumps(state["param_groups"], allow_nan=False)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"the parameter groups are not JSON: {error}") from None
    for kept in state["state"].values():
        for name, value in kept.items():
            assert _is_plain(value), f"the state {name!r} is a {type(value).__name__}"


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    if isinstance(value, dict):
        return all(_is_plain(item) for item in value.values())
    return value is None or isinstance(value, Tensor | bool | int | float | str)


def check_leaves_parameters_without_gradient(build: Build) -> None:
    """A parameter that the loss does not use stays as it is."""
    used, unused = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.ones(2))
    take_steps(build([used, unused]), used, 3)
    assert torch.equal(unused, torch.ones(2)), f"an unused parameter moved to {unused.tolist()}"
    assert not torch.equal(used, torch.zeros(2)), "the used one did not move"


def check_works_in_double_precision(build: Build) -> None:
    """The parameter keeps its type, and three steps go where single precision goes."""
    single = nn.Parameter(torch.zeros(2))
    double = nn.Parameter(torch.zeros(2, dtype=torch.float64))
    take_steps(build([single]), single, 3)
    take_steps(build([double]), double, 3)
    assert double.dtype == torch.float64, f"float64 became {double.dtype}"
    torch.testing.assert_close(
        double.detach().float(),
        single.detach(),
        rtol=1e-3,
        atol=1e-4,
        msg=lambda text: f"float64 and float32 part: {text}",
    )


OPTIMIZER_CHECKS = (
    check_is_a_torch_optimizer,
    check_descends_a_bowl,
    check_returns_the_loss_before_the_step,
    check_repeats_exactly,
    check_resumes_exactly,
    check_state_is_tensors_and_plain_values,
    check_leaves_parameters_without_gradient,
    check_works_in_double_precision,
)
