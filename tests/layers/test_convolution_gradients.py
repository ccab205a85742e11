"""Gradients of a convolution layer by hand: autograd, the adjoint, and a case of four numbers."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.errors import ShapeError
from netwright.layers.convolution import convolve, correlate
from netwright.layers.convolution_gradients import conv_gradients
from netwright.layers.unfolded_convolution import conv_layer


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def assert_equal(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def test_a_case_by_hand() -> None:
    x, weight = torch.tensor([[[1.0, 2.0, 3.0]]]), torch.tensor([[[4.0, 5.0]]])
    found = conv_gradients(x, weight, torch.tensor([[[1.0, 10.0]]]))
    assert found.weight.tolist() == [[[1 + 20, 2 + 30]]]
    assert found.x.tolist() == [[[4, 5 + 40, 50]]]
    assert found.bias.tolist() == [11]


def test_they_are_a_correlation_and_a_full_convolution() -> None:
    x, weight, gradient = numbers(5, 6), numbers(3, 2, seed=1), numbers(3, 5, seed=2)
    found = conv_gradients(x[None, None], weight[None, None], gradient[None, None])
    assert_equal(found.weight[0, 0], correlate(x, gradient, "valid"))
    assert_equal(found.x[0, 0], convolve(gradient, weight, "full"))


@pytest.mark.covers("conv-gradients")
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("padding", [0, 1, 3])  # 3: more than the kernel reaches over
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dims", [1, 2])
def test_they_are_those_of_autograd_and_the_adjoint(
    dims: int, stride: int, padding: int, groups: int
) -> None:
    options: dict[str, Any] = {"stride": stride, "padding": padding, "groups": groups}
    x = numbers(3, 4, *(8, 7)[:dims])  # with stride 2 or 3 the last pixels are seen by none
    weight = numbers(6, 4 // groups, *(3, 2)[:dims], seed=1)
    bias = numbers(6, seed=2)
    inputs = tuple(value.requires_grad_() for value in (x, weight, bias))
    out = (F.conv1d, F.conv2d)[dims - 1](x, weight, bias, **options)
    gradient = numbers(*out.shape, seed=3)
    found = conv_gradients(x.detach(), weight.detach(), gradient, **options)
    by_autograd = torch.autograd.grad(out, inputs, gradient)
    for ours, theirs in zip((found.x, found.weight, found.bias), by_autograd, strict=True):
        assert_equal(ours, theirs)
    # <conv(x), G> = <x, conv^T(G)>, and the same for the weights: the layer is linear in both.
    product = (conv_layer(x, weight, **options) * gradient).sum()
    assert_equal((x * found.x).sum(), product)
    assert_equal((weight * found.weight).sum(), product)


def test_the_gradient_agrees_with_finite_differences() -> None:
    x, weight, gradient = numbers(1, 2, 5), numbers(2, 2, 3, seed=1), numbers(1, 2, 3, seed=2)
    options: dict[str, Any] = {"stride": 2, "padding": 1}
    found = conv_gradients(x, weight, gradient, **options)
    for value, theirs in ((x, found.x), (weight, found.weight)):
        for place in range(value.numel()):
            ends = []
            for step in (1e-6, -1e-6):
                moved = value.clone()
                moved.view(-1)[place] += step
                parts = (moved, weight) if value is x else (x, moved)
                ends.append((conv_layer(*parts, **options) * gradient).sum())
            slope = (ends[0] - ends[1]) / 2e-6
            assert float(slope) == pytest.approx(float(theirs.flatten()[place]), abs=1e-8)


def test_a_gradient_of_another_shape_is_refused() -> None:
    sentence = r"^output_gradient must have shape \(1, 2, 3\), got \(1, 2, 4\)$"
    with pytest.raises(ShapeError, match=sentence):
        conv_gradients(torch.zeros(1, 1, 5), torch.zeros(2, 1, 3), torch.zeros(1, 2, 4))
