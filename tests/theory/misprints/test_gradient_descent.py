"""Descent and momentum: the numbers of both forms."""

import pytest
import torch

from netwright.theory.misprints import gradient_descent as forms


def test_momentum_is_far_ahead_of_plain_descent() -> None:
    telling = forms.momentum()
    assert telling.right == pytest.approx(1.5e-8, rel=0.01)
    assert telling.wrong == pytest.approx(9e-3, rel=0.01)


def test_nesterov_with_the_wrong_sign_runs_away() -> None:
    telling = forms.nesterov_sign()
    assert telling.right == pytest.approx(3.2e-11, rel=0.01)
    assert telling.wrong > 1e50


def test_nesterovs_step_is_torchs() -> None:
    weight = torch.ones(2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=forms.RATE, momentum=forms.FRICTION, nesterov=True)
    place, velocity = torch.ones(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    for _ in range(20):
        weight.grad = forms.bowl_gradient(weight.detach())
        optimizer.step()
        place, velocity = forms.nesterov_step(place, velocity)
    # torch keeps the place where the gradient is taken: one look ahead further on.
    torch.testing.assert_close(weight.detach(), place - forms.FRICTION * velocity)


def test_the_sum_from_one_misses_the_newest_gradient() -> None:
    telling = forms.heavy_ball_limit()
    assert telling.right == pytest.approx(10)
    assert telling.wrong == pytest.approx(9)


def test_a_short_gradient_is_not_made_longer() -> None:
    telling = forms.clipping()
    assert (telling.right, telling.wrong) == (0.5, 1)


def test_clipping_shortens_to_the_limit_and_keeps_the_direction() -> None:
    long = torch.tensor([3.0, 4.0], dtype=torch.float64)
    torch.testing.assert_close(forms.clipped(long, 1.0), long / 5)


def test_the_promised_decrease_is_kept() -> None:
    assert 1 < forms.sufficient_decrease().right < 2.1
    assert forms.sufficient_decrease().wrong < 0.5


def test_nothing_is_smaller_than_itself() -> None:
    telling = forms.previous_iterate()
    assert telling.right == pytest.approx(0.99 / 101)
    assert telling.wrong == pytest.approx(1 / 0.99)
