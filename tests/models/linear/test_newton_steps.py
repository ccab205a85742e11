"""Newton's steps: the direction by hand, quadratic convergence, and a sample that only helps."""

import pytest
import torch
from torch import Tensor

from netwright.models.linear import newton_steps as module
from netwright.models.linear.log_loss import LogLoss, Sigmoid
from netwright.models.linear.newton_steps import minimise_log_loss, newton_direction, newton_steps


def problem(rows: int, l2: float = 1e-3, scale: float = 1.0) -> LogLoss:
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(rows, 3, generator=numbers, dtype=torch.float64)
    noise = torch.randn(rows, generator=numbers, dtype=torch.float64)
    y = (x @ torch.tensor([2.0, -1.0, 0.0], dtype=torch.float64) + noise > 0.5).double()
    share = torch.full((rows,), 1 / rows, dtype=torch.float64)
    return LogLoss(link=Sigmoid(), inputs=scale * x, truth=y[:, None], share=share, l2=l2)


def zeros() -> Tensor:
    return torch.zeros(1, 4, dtype=torch.float64)


def gradient_at(loss: LogLoss, theta: Tensor) -> float:
    chances = loss.link.chances(loss.scores(theta))
    return float(loss.gradient(chances, theta).abs().max())


def test_direction_by_hand() -> None:
    curvature = torch.tensor([[4.0, 0.0], [0.0, 1e-12]], dtype=torch.float64)
    gradient = torch.tensor([2.0, 3e-12], dtype=torch.float64)
    assert newton_direction(curvature, gradient).tolist() == pytest.approx([-0.5, -3.0])


def test_direction_is_found_where_the_curvature_is_singular_or_worse() -> None:
    ones = torch.ones(2, 2, dtype=torch.float64)
    gradient = torch.tensor([1.0, 1.0], dtype=torch.float64)
    assert newton_direction(ones, gradient).tolist() == pytest.approx([-0.5, -0.5], rel=1e-3)
    rounded = ones - 1e-9 * torch.eye(2, dtype=torch.float64)  # an eigenvalue below 0
    assert newton_direction(rounded, gradient).tolist() == pytest.approx([-0.5, -0.5], rel=1e-3)


def test_gradient_falls_quadratically_to_the_tolerance() -> None:
    loss = problem(300)
    steps = list(newton_steps(loss, zeros(), 1e-12))
    slopes = [step.slope for step in steps]
    assert all(
        later < 2 * earlier**1.5 for earlier, later in zip(slopes[-3:], slopes[-2:], strict=False)
    )
    assert gradient_at(loss, steps[-1].theta) <= 1e-12
    assert len(steps) < 12


def test_loss_falls_in_every_step_also_from_far_away() -> None:
    loss = problem(200)
    start = torch.tensor([[-30.0, 50.0, 40.0, -20.0]], dtype=torch.float64)
    values = [loss.misfit(loss.scores(start)) + loss.penalty(start)]
    for step in newton_steps(loss, start, 1e-8):
        values.append(step.misfit + loss.penalty(step.theta))
        assert step.misfit == pytest.approx(loss.misfit(loss.scores(step.theta)), rel=1e-9)
    assert values == sorted(values, reverse=True)
    assert gradient_at(loss, step.theta) <= 1e-8


def test_units_of_the_inputs_do_not_matter() -> None:
    plain = list(newton_steps(problem(200, l2=1e-12), zeros(), 1e-10))
    large = list(newton_steps(problem(200, l2=1e-12, scale=1e5), zeros(), 1e-5))
    torch.testing.assert_close(large[-1].theta[:, :3] * 1e5, plain[-1].theta[:, :3])


def test_a_tolerance_below_rounding_ends_the_steps_all_the_same() -> None:
    steps = list(newton_steps(problem(200), zeros(), 1e-30))
    assert len(steps) < 30


def test_a_sample_leads_to_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_SAMPLE", 1)
    loss = problem(5_000)
    sizes: list[int] = []
    take = LogLoss.take

    def counting(self: LogLoss, rows: Tensor) -> LogLoss:
        sizes.append(len(rows))
        return take(self, rows)

    monkeypatch.setattr(LogLoss, "take", counting)
    sampled = list(minimise_log_loss(loss, 1e-10))
    assert set(sizes) == {400}
    whole = list(newton_steps(loss, zeros(), 1e-10))
    torch.testing.assert_close(sampled[-1].theta, whole[-1].theta, rtol=0, atol=1e-8)
    monkeypatch.setattr(module, "SAMPLE_A_WEIGHT", 2)  # too few: the curvature of all takes over
    coarse = list(minimise_log_loss(loss, 1e-10))
    torch.testing.assert_close(coarse[-1].theta, whole[-1].theta, rtol=0, atol=1e-8)


def test_examples_that_do_not_count_are_not_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST_SAMPLE", 1)
    loss = problem(5_000)
    share = (torch.arange(5_000) % 2).double()
    half = LogLoss(
        link=loss.link, inputs=loss.inputs, truth=loss.truth, share=share / share.sum(), l2=loss.l2
    )
    sampled = list(minimise_log_loss(half, 1e-10))
    alone = list(newton_steps(half.take(share.nonzero()[:, 0]), zeros(), 1e-10))
    torch.testing.assert_close(sampled[-1].theta, alone[-1].theta, rtol=0, atol=1e-8)
