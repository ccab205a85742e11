"""A convolution layer by hand: autograd, the adjoint, and a case of four numbers."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.backprop.convolution import ConvGradients, conv_backward, conv_forward
from netwright.core.errors import ShapeError
from netwright.layers.convolution.convolution import convolve, correlate
from tests.backprop.references import assert_equal, autograd_gradients, differences, numbers
from tests.repetition import for_each


def conv_gradients(x: Tensor, weight: Tensor, delta: Tensor, **options: int) -> ConvGradients:
    """Forward without a bias, and back."""
    _, kept = conv_forward(x, weight, x.new_zeros(len(weight)), **options)
    return conv_backward(kept, delta)


def test_a_case_by_hand() -> None:
    x, weight = torch.tensor([[[1.0, 2.0, 3.0]]]), torch.tensor([[[4.0, 5.0]]])
    found = conv_gradients(x, weight, torch.tensor([[[1.0, 10.0]]]))
    assert found.weight.tolist() == [[[1 + 20, 2 + 30]]]
    assert found.x.tolist() == [[[4, 5 + 40, 50]]]
    assert found.bias.tolist() == [11]


def test_they_are_a_correlation_and_a_full_convolution() -> None:
    x, weight, delta = numbers(5, 6), numbers(3, 2, seed=1), numbers(3, 5, seed=2)
    found = conv_gradients(x[None, None], weight[None, None], delta[None, None])
    assert_equal(found.weight[0, 0], correlate(x, delta, "valid"))
    assert_equal(found.x[0, 0], convolve(delta, weight, "full"))


@pytest.mark.covers("conv-gradients")
@for_each("groups", [1, 2])
@for_each("padding", [0, 1, 3])  # 3: more than the kernel reaches over
@for_each("stride", [1, 2, 3])
@for_each("dims", [1, 2])
def test_they_are_those_of_autograd_and_the_adjoint(
    dims: int, stride: int, padding: int, groups: int
) -> None:
    options: dict[str, Any] = {"stride": stride, "padding": padding, "groups": groups}
    x = numbers(3, 4, *(8, 7)[:dims])  # with stride 2 or 3 the last pixels are seen by none
    weight = numbers(6, 4 // groups, *(3, 2)[:dims], seed=1)
    parts = (x, weight, numbers(6, seed=2))
    torch_conv = partial((F.conv1d, F.conv2d)[dims - 1], **options)
    y, kept = conv_forward(*parts, **options)
    assert_equal(y, torch_conv(*parts))
    delta = numbers(*y.shape, seed=3)
    found = conv_backward(kept, delta)
    expected = autograd_gradients(torch_conv, parts, delta)
    for ours, theirs in zip((found.x, found.weight, found.bias), expected, strict=True):
        assert_equal(ours, theirs)
    # <conv(x), delta> = <x, conv^T(delta)>, and the same for W: the layer is linear in both.
    product = (torch_conv(x, weight) * delta).sum()
    assert_equal((x * found.x).sum(), product)
    assert_equal((weight * found.weight).sum(), product)


@pytest.mark.parametrize(
    "options",
    [
        {"dilation": 2, "groups": 2},
        {"dilation": (3, 1), "stride": (2, 3), "padding": (1, 4)},  # 4: more than it reaches over
        {"dilation": (1, 2), "stride": (3, 2), "padding": (5, 0)},
    ],
)
def test_dilated_and_with_settings_of_each_dimension(options: dict[str, Any]) -> None:
    weight = numbers(6, 4 // options.get("groups", 1), 3, 2, seed=1)
    parts = (numbers(3, 4, 8, 7), weight, numbers(6, seed=2))
    torch_conv = partial(F.conv2d, **options)
    y, kept = conv_forward(*parts, **options)
    assert_equal(y, torch_conv(*parts))
    delta = numbers(*y.shape, seed=3)
    found = conv_backward(kept, delta)
    expected = autograd_gradients(torch_conv, parts, delta)
    for ours, theirs in zip((found.x, found.weight, found.bias), expected, strict=True):
        assert_equal(ours, theirs)


def test_the_gradient_agrees_with_finite_differences() -> None:
    x, weight, delta = numbers(1, 2, 5), numbers(2, 2, 3, seed=1), numbers(1, 2, 3, seed=2)
    loss = partial(weighted_sum, delta=delta, stride=2, padding=1)
    found = conv_gradients(x, weight, delta, stride=2, padding=1)
    assert_equal(found.x, differences(lambda x: loss(x, weight), x), 1e-8)
    assert_equal(found.weight, differences(lambda weight: loss(x, weight), weight), 1e-8)


def weighted_sum(x: Tensor, weight: Tensor, delta: Tensor, **options: int) -> Tensor:
    y, _ = conv_forward(x, weight, x.new_zeros(len(weight)), **options)
    return (y * delta).sum()


def test_a_gradient_of_another_shape_is_refused() -> None:
    sentence = r"^delta must have shape \(1, 2, 3\), got \(1, 2, 4\)$"
    with pytest.raises(ShapeError, match=sentence):
        conv_gradients(torch.zeros(1, 1, 5), torch.zeros(2, 1, 3), torch.zeros(1, 2, 4))
