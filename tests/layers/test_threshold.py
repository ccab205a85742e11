"""Hard thresholds: their values at zero, and the gradient that they stop."""

import pytest
import torch

from netwright.layers.threshold import heaviside, sign

PLACES = torch.tensor([-1.0, 0.0, 1.0])


@pytest.mark.covers("heaviside")
def test_step_is_flat_and_zero_at_zero() -> None:
    assert heaviside(PLACES).tolist() == [0, 0, 1]
    assert heaviside(PLACES, at_zero=1.0).tolist() == [0, 1, 1]
    away = torch.tensor([-2.0, -0.5, 0.5, 2.0], dtype=torch.float64)
    slope = (heaviside(away + 1e-6) - heaviside(away - 1e-6)) / 2e-6
    assert torch.equal(slope, torch.zeros(4, dtype=torch.float64))
    weight = torch.ones(3, 1, requires_grad=True)
    out = heaviside(torch.randn(5, 3) @ weight) + 0 * weight.sum()
    (grad,) = torch.autograd.grad(out.sum(), weight)
    assert not grad.any()


def test_sign_takes_no_side_at_zero_or_the_positive_one() -> None:
    assert sign(PLACES).tolist() == [-1, 0, 1]
    assert sign(PLACES, at_zero=1.0).tolist() == [-1, 1, 1]


def test_values_keep_their_shape_and_type() -> None:
    z = torch.randn(2, 3, 4, dtype=torch.float64)
    for values in (heaviside(z), sign(z)):
        assert values.shape == z.shape
        assert values.dtype == torch.float64


@pytest.mark.covers("artificial-neuron")
def test_weighted_sum_and_step_are_gates() -> None:
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    weights, bias = torch.randn(2, dtype=torch.float64), 0.3
    by_hand = [sum(w * v for w, v in zip(weights, row, strict=True)) + bias for row in x]
    torch.testing.assert_close(x @ weights + bias, torch.stack(by_hand), rtol=0, atol=1e-12)
    ones = torch.ones(2, dtype=torch.float64)
    assert heaviside(x @ ones - 1.5).tolist() == [0, 0, 0, 1]
    assert heaviside(x @ ones - 0.5).tolist() == [0, 1, 1, 1]
    assert heaviside(-x[:2, 1] + 0.5).tolist() == [1, 0]
