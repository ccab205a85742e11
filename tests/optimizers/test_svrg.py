"""SVRG: the step by hand, no noise at the minimum, and exact continuation within a period."""

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.optimizers.svrg import SVRG, SVRG_ENTRY
from netwright.testing.optimizer_contract import OPTIMIZER_CHECKS
from tests.repetition import for_each

ROWS = torch.tensor([1.0, 2.0, 6.0, 7.0], dtype=torch.float64)  # their mean is 4


def weight() -> nn.Parameter:
    return nn.Parameter(torch.zeros((), dtype=torch.float64))


def closure_for(w: nn.Parameter, rows: Tensor) -> Callable[[], Tensor]:
    """Half the mean of r (w - 1)^2: the slope of row r is r (w - 1)."""

    def closure() -> Tensor:
        w.grad = None
        loss = (rows * (w - 1) ** 2).mean() / 2
        torch.autograd.backward(loss)
        return loss

    return closure


@for_each("check", OPTIMIZER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_optimizer_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(lambda params: SVRG(params, lr=0.02, period=2))


def test_three_steps_by_hand() -> None:
    w = weight()
    optimizer, full = SVRG([w], lr=0.1, period=2), closure_for(w, ROWS)
    # The snapshot is 0 and mu = -4. At the snapshot every batch gives mu: w = 0.4.
    assert optimizer.step(closure_for(w, ROWS[2:3]), full).item() == pytest.approx(3.0)
    assert w.item() == pytest.approx(0.4)
    # Row 1: 1 (0.4 - 1) - 1 (0 - 1) - 4 = -3.6, w = 0.76.
    optimizer.step(closure_for(w, ROWS[:1]), full)
    assert w.item() == pytest.approx(0.76)
    # A new snapshot: mu = 4 (0.76 - 1) = -0.96, w = 0.856.
    optimizer.step(closure_for(w, ROWS[3:]), full)
    assert w.item() == pytest.approx(0.856)
    assert optimizer.state[w]["snapshot"].item() == pytest.approx(0.76)
    assert optimizer.state[w]["full"].item() == pytest.approx(-0.96)


def test_a_whole_batch_makes_it_gradient_descent() -> None:
    ours, theirs = weight(), weight()
    optimizer, descent = SVRG([ours], lr=0.05, period=3), torch.optim.SGD([theirs], lr=0.05)
    for _ in range(7):
        optimizer.step(closure_for(ours, ROWS))
        descent.step(closure_for(theirs, ROWS))
        torch.testing.assert_close(ours, theirs)


@pytest.mark.slow
def test_converges_with_a_constant_rate_where_sgd_keeps_its_noise() -> None:
    rng = generator(0, "svrg")
    inputs = torch.randn(30, 3, generator=rng, dtype=torch.float64)
    targets = torch.randn(30, generator=rng, dtype=torch.float64)
    best = torch.linalg.lstsq(inputs, targets[:, None]).solution[:, 0]
    places = [nn.Parameter(torch.zeros(3, dtype=torch.float64)) for _ in range(2)]

    def closure_of(w: nn.Parameter, rows: Tensor) -> Callable[[], Tensor]:
        def closure() -> Tensor:
            w.grad = None
            loss = (inputs[rows] @ w - targets[rows]).square().mean() / 2
            torch.autograd.backward(loss)
            return loss

        return closure

    reduced, plain = SVRG(places[:1], lr=0.05, period=30), torch.optim.SGD(places[1:], lr=0.05)
    for _ in range(40 * 30):
        row = torch.randint(30, (1,), generator=rng)
        reduced.step(closure_of(places[0], row), closure_of(places[0], torch.arange(30)))
        plain.step(closure_of(places[1], row))
    assert (places[0] - best).norm() < 1e-8
    assert (places[1] - best).norm() > 1e-2


def test_full_gradient_is_asked_for_once_a_period() -> None:
    w = weight()
    asked: list[int] = []
    optimizer = SVRG([w], lr=0.1, period=3)

    def full() -> Tensor:
        asked.append(len(asked))
        return closure_for(w, ROWS)()

    for _ in range(7):
        optimizer.step(closure_for(w, ROWS[:1]), full)
    assert len(asked) == 3  # before steps 1, 4 and 7


@for_each("stop", [1, 2, 3, 4])
def test_goes_on_exactly_in_the_middle_of_a_period(stop: int) -> None:
    def steps(w: nn.Parameter, optimizer: SVRG, first: int, last: int) -> None:
        for i in range(first, last):
            optimizer.step(closure_for(w, ROWS[i % 4 :][:1]), closure_for(w, ROWS))

    straight, stopped = weight(), weight()
    steps(straight, SVRG([straight], lr=0.1, period=3), 0, 6)
    before, after = (SVRG([stopped], lr=0.1, period=3) for _ in range(2))
    steps(stopped, before, 0, stop)
    after.load_state_dict(copy.deepcopy(before.state_dict()))
    steps(stopped, after, stop, 6)
    assert torch.equal(straight, stopped)


def test_an_error_at_the_snapshot_puts_the_weights_back() -> None:
    w = weight()
    looks: list[float] = []
    optimizer = SVRG([w], lr=0.1, period=5)
    optimizer.step(closure_for(w, ROWS))
    before = w.item()

    def closure() -> Tensor:
        looks.append(w.item())
        if len(looks) == 2:
            raise RuntimeError("enough")
        return closure_for(w, ROWS)()

    with pytest.raises(RuntimeError, match="enough"):
        optimizer.step(closure)
    assert looks == [before, 0.0]
    assert w.item() == before


def test_refusals_and_what_the_entry_asks_for() -> None:
    with pytest.raises(ValueError, match=r"^period must be at least 1, got 0$"):
        SVRG([weight()], period=0)
    with pytest.raises(ConfigError, match=r"^lr must not be negative, got -0.1$"):
        SVRG([weight()], lr=-0.1)
    with pytest.raises(ValueError, match=r"^only one parameter group is supported, got 2$"):
        SVRG([{"params": [weight()]}, {"params": [weight()]}])  # type: ignore[list-item]
    assert SVRG_ENTRY.closure
    assert SVRG_ENTRY.full_gradient
    assert not SVRG_ENTRY.graph
    assert not SVRG_ENTRY.full_batch
