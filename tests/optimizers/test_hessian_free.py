"""Hessian-free optimization: its step is the direct solution, its damping follows its forecasts."""

import itertools
import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.optimizers.conjugate_gradient import conjugate_gradient
from netwright.optimizers.curvature import GaussNewton, flatten, gradient_of
from netwright.optimizers.hessian_free import HESSIAN_FREE, HessianFree, next_damping
from netwright.testing.optimizer_contract import OPTIMIZER_CHECKS
from tests.repetition import for_each


@for_each("check", OPTIMIZER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_optimizer_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(HessianFree)


class Net(nn.Module):
    """20 weights in float64, ten rows and their classes."""

    def __init__(self) -> None:
        super().__init__()
        with seeded(0):
            layers = [nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2, bias=False)]
            self.layers = nn.Sequential(*layers).double()
            self.inputs = torch.randn(10, 2, dtype=torch.float64)
        self.classes = (self.inputs.prod(dim=1) > 0).long()

    def forward(self) -> tuple[Tensor, tuple[Tensor]]:
        outputs = self.layers(self.inputs)
        return F.cross_entropy(outputs, self.classes), (outputs,)


def descent_steps(curvatures: Tensor, start: Tensor, tol: float) -> int:
    """Steps of gradient descent at its best constant rate until the gradient is small."""
    rate, x, steps = 2 / (curvatures.min() + curvatures.max()), start, 0
    while (curvatures * x).norm() > tol * (curvatures * start).norm():
        x, steps = x - rate * curvatures * x, steps + 1
    return steps


@pytest.mark.covers("hessian-free")
def test_products_solve_as_the_matrix_does_and_in_fewer_steps_than_descent() -> None:
    net = Net()
    weights: list[Tensor] = list(net.parameters())
    loss, outputs = net()
    gradient, curvature = gradient_of(loss, weights), GaussNewton(loss, outputs, weights)
    assert len(gradient) == 20
    damped = torch.stack([curvature(v) + 0.01 * v for v in torch.eye(20).double()])
    solved = conjugate_gradient(lambda v: curvature(v) + 0.01 * v, -gradient, steps=100, tol=1e-10)
    direct = torch.linalg.solve(damped, -gradient)
    torch.testing.assert_close(solved.x, direct, rtol=0, atol=1e-6)

    curvatures = torch.logspace(0, 3, 30, dtype=torch.float64)
    start = torch.ones(30, dtype=torch.float64)
    found = conjugate_gradient(lambda v: curvatures * v, curvatures * start, steps=500, tol=1e-6)
    descent = descent_steps(curvatures, start, 1e-6)
    assert len(found.residuals) - 1 < 60
    assert descent > 1000


def test_the_step_is_the_damped_solution() -> None:
    net = Net()
    weights: list[Tensor] = list(net.parameters())
    loss, outputs = net()
    gradient, curvature = gradient_of(loss, weights), GaussNewton(loss, outputs, weights)
    damped = torch.stack([curvature(v) + 2 * v for v in torch.eye(20).double()])
    wanted = flatten(weights) - 0.7 * torch.linalg.solve(damped, gradient)
    given = HessianFree(net.parameters(), lr=0.7, damping=2.0, tol=1e-12).step(net)
    assert given.item() == loss.item()
    torch.testing.assert_close(flatten(weights), wanted)


def test_least_squares_is_solved_in_one_step() -> None:
    with seeded(0):
        inputs, targets = torch.randn(20, 3).double(), torch.randn(20, 2).double()
    layer = nn.Linear(3, 2, bias=False, dtype=torch.float64)

    def closure() -> tuple[Tensor, tuple[Tensor]]:
        outputs = layer(inputs)
        return F.mse_loss(outputs, targets), (outputs,)

    HessianFree(layer.parameters(), damping=0.0, tol=1e-12).step(closure)
    best = torch.linalg.lstsq(inputs, targets).solution
    torch.testing.assert_close(layer.weight.detach(), best.T)


def test_learns_a_net_to_the_end_and_never_uphill() -> None:
    net = Net()
    optimizer = HessianFree(net.parameters())
    losses = [optimizer.step(net).item() for _ in range(60)]
    assert all(after <= before for before, after in itertools.pairwise(losses))
    assert losses[-1] < 1e-3


def test_damping_follows_the_forecast() -> None:
    assert next_damping(3.0, 0.9) == 2.0
    assert next_damping(3.0, 0.75) == next_damping(3.0, 0.25) == 3.0
    assert next_damping(2.0, 0.2) == next_damping(2.0, -5.0) == next_damping(2.0, math.nan) == 3.0


def one_weight(loss: str, at: float) -> tuple[float, float]:
    """Where a step of 1 from `at` leads, and the damping after it."""
    x = nn.Parameter(torch.tensor([at], dtype=torch.float64))
    optimizer = HessianFree([x], damping=3.0)
    losses = {"bowl": lambda: x.square().sum(), "steep": lambda: (10 * x).exp().sum() - 9 * x.sum()}
    optimizer.step(lambda: (losses[loss](), (x,)))
    return x.item(), float(optimizer.state[x]["damping"])


def test_a_good_forecast_lowers_the_damping_by_hand() -> None:
    # From 1 on x^2: d = -2 / (2 + 3); the quadratic is the loss itself, so rho is 1.
    place, damping = one_weight("bowl", 1.0)
    assert place == pytest.approx(0.6)
    assert damping == 2.0


def test_a_step_that_raises_the_loss_is_halved_and_the_damping_grows() -> None:
    # exp(10 x) - 9 x from -1: there it looks flat, d = 9 / 3 leads to exp(20).
    place, damping = one_weight("steep", -1.0)
    steps = [math.log2(3 / (place + 1))]
    assert steps == pytest.approx([round(steps[0])], abs=0.01)
    assert steps[0] > 0.5
    assert math.exp(10 * place) - 9 * place < math.exp(-10) + 9
    assert damping == 4.5


def test_where_nothing_helps_the_weights_stay() -> None:
    x = nn.Parameter(torch.ones(1))
    looks: list[float] = []

    def closure() -> tuple[Tensor, tuple[Tensor]]:
        looks.append(x.item())
        return x.square().sum() + 100.0 * (len(looks) > 1), (x,)

    HessianFree([x]).step(closure)
    assert x.item() == 1.0
    assert len(looks) == 11
    assert looks[1] - 1 == pytest.approx(2 * (looks[2] - 1), rel=1e-5)


def test_damping_is_kept_in_the_state_and_not_in_the_settings() -> None:
    net = Net()
    optimizer = HessianFree(net.parameters(), damping=1.0)
    for _ in range(3):
        optimizer.step(net)
    state = optimizer.state_dict()
    assert state["state"][0]["damping"] != 1.0
    assert state["param_groups"][0]["damping"] == 1.0


def test_refusals_and_what_the_entry_asks_for() -> None:
    with pytest.raises(ValueError, match=r"^damping must not be negative, got -0.1$"):
        HessianFree([nn.Parameter(torch.zeros(1))], damping=-0.1)
    with pytest.raises(ConfigError, match=r"^cg_steps must be positive, got 0$"):
        HessianFree([nn.Parameter(torch.zeros(1))], cg_steps=0)
    with pytest.raises(ConfigError, match=r"^tol must be positive, got nan$"):
        HessianFree([nn.Parameter(torch.zeros(1))], tol=float("nan"))
    with pytest.raises(ConfigError, match=r"^lr must not be negative, got -1$"):
        HessianFree([nn.Parameter(torch.zeros(1))], lr=-1)
    groups = [{"params": [nn.Parameter(torch.zeros(1))]} for _ in range(3)]
    with pytest.raises(ValueError, match=r"^only one parameter group is supported, got 3$"):
        HessianFree(groups)  # type: ignore[arg-type]
    assert HESSIAN_FREE.graph
    assert HESSIAN_FREE.closure
    assert HESSIAN_FREE.full_batch


def autoencoder() -> nn.Sequential:
    """64 numbers to 8 and back, six layers deep, from orthogonal weights."""
    layers: list[nn.Module] = []
    with seeded(0):
        for before, after in itertools.pairwise([64, 32, 16, 8, 16, 32, 64]):
            layer = nn.Linear(before, after)
            nn.init.orthogonal_(layer.weight)
            nn.init.zeros_(layer.bias)
            layers += [layer, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def operations(work: Callable[[], object]) -> int:
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


@pytest.mark.slow
@pytest.mark.covers("nesterov-careful-init")
def test_momentum_from_orthogonal_weights_does_as_well_at_lower_cost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sutskever et al. (2013), on digits; of Hessian-free's cost only the products are counted."""
    inputs = torch.tensor(load_digits().data[:100] / 16, dtype=torch.float32)

    def evaluation(net: nn.Module) -> tuple[Tensor, tuple[Tensor]]:
        outputs = net(inputs)
        return (outputs - inputs).square().sum(dim=1).mean() / 2, (outputs,)

    net, plain = autoencoder(), GaussNewton.__call__
    products: list[Tensor] = []

    def counted(curvature: GaussNewton, direction: Tensor) -> Tensor:
        products.append(direction)
        return plain(curvature, direction)

    monkeypatch.setattr(GaussNewton, "__call__", counted)
    optimizer = HessianFree(net.parameters())
    for _ in range(8):
        optimizer.step(lambda: evaluation(net))
    reached = evaluation(net)[0].item()
    product = GaussNewton(*evaluation(net), list(net.parameters()))
    direction = products[-1]
    gradient_cost = operations(lambda: torch.autograd.backward(evaluation(net)[0]))
    budget = len(products) * operations(lambda: plain(product, direction)) // gradient_cost

    net = autoencoder()
    momentum = torch.optim.SGD(net.parameters(), lr=0.04, momentum=0.5, nesterov=True)
    for step in range(int(0.8 * budget)):
        momentum.param_groups[0]["momentum"] = min(0.99, 1 - 0.5 / (step // 50 + 1))
        momentum.zero_grad()
        torch.autograd.backward(evaluation(net)[0])
        momentum.step()
    assert evaluation(net)[0].item() < 1.1 * reached
