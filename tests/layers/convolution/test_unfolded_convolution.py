"""The convolution layer by unfolding: torch's kernel, loops, channels, sizes, costs."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.core.errors import ConfigError, ShapeError
from netwright.inspection.inside.flops import counting_flops
from netwright.layers.convolution.convolution import correlate
from netwright.layers.convolution.unfolded_convolution import conv_layer, output_size, windows
from tests.repetition import for_each


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def assert_equal(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@for_each("groups", [1, 2, 4])
@for_each("padding", [0, 1, 3])
@for_each("stride", [1, 2, 3])
def test_layer_is_that_of_torch(stride: int, padding: int, groups: int) -> None:
    options = {"stride": stride, "padding": padding, "groups": groups}
    bias = numbers(8, seed=2)
    x, weight = numbers(2, 4, 9), numbers(8, 4 // groups, 3, seed=1)
    assert_equal(conv_layer(x, weight, bias, **options), F.conv1d(x, weight, bias, **options))
    x, weight = numbers(2, 4, 7, 6), numbers(8, 4 // groups, 3, 2, seed=1)
    assert_equal(conv_layer(x, weight, bias, **options), F.conv2d(x, weight, bias, **options))


@for_each(
    "options",
    [
        {"dilation": 2},
        {"dilation": 2, "stride": 2, "padding": 3, "groups": 2},
        {"dilation": (1, 3), "stride": (2, 1), "padding": (0, 2)},
        {"dilation": (3, 1), "stride": (1, 3), "padding": (2, 1), "groups": 4},
    ],
)
def test_dilation_and_settings_of_each_dimension_are_those_of_torch(
    options: dict[str, Any],
) -> None:
    x, weight = numbers(2, 4, 9, 8), numbers(8, 4 // options.get("groups", 1), 3, 2, seed=1)
    assert_equal(conv_layer(x, weight, **options), F.conv2d(x, weight, **options))
    first = {
        name: value[0] if isinstance(value, tuple) else value for name, value in options.items()
    }
    x, weight = x[..., 0], weight[..., 0]
    expected = F.conv1d(x, weight, **first)
    assert_equal(conv_layer(x, weight, **first), expected)
    each: dict[str, Any] = {
        name: value if name == "groups" else (value,) for name, value in first.items()
    }
    assert_equal(conv_layer(x, weight, **each), expected)


def test_windows_of_a_dilated_kernel_by_hand() -> None:
    x = torch.arange(7)[None, None]
    assert windows(x, (3,), stride=2, dilation=2).tolist() == [[[[0, 2, 4], [2, 4, 6]]]]
    assert output_size(7, 3, stride=2, dilation=2) == 2
    assert output_size(5, 3, dilation=2) == 1  # it just fits


@pytest.mark.covers("conv-layer")
def test_layer_is_the_sum_over_channels_that_loops_compute() -> None:
    x, weight, bias = numbers(2, 3, 5, 6), numbers(4, 3, 3, 2, seed=1), numbers(4, seed=2)
    out = torch.zeros(2, 4, 3, 5, dtype=torch.float64)
    for example, filter_ in torch.cartesian_prod(torch.arange(2), torch.arange(4)):
        for i, j in torch.cartesian_prod(torch.arange(3), torch.arange(5)):
            patch = x[example, :, i : i + 3, j : j + 2]
            out[example, filter_, i, j] = (weight[filter_] * patch).sum() + bias[filter_]
    assert_equal(conv_layer(x, weight, bias), out)
    assert weight.numel() + bias.numel() == 4 * 3 * 3 * 2 + 4
    values = tuple(value.requires_grad_() for value in (x, weight, bias))
    torch.autograd.gradcheck(lambda *v: conv_layer(*v).tanh(), values)
    sentence = "kernels of 3 channels in 1 groups need 3 input channels, got 2"
    with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
        conv_layer(x[:, :2], weight)


@pytest.mark.covers("rgb-channel-sum")
def test_a_colour_filter_adds_up_its_three_slices() -> None:
    image, colour_filter = numbers(3, 6, 5), numbers(3, 3, 3, seed=1)
    slices = [correlate(image[c], colour_filter[c], "valid") for c in range(3)]
    out = conv_layer(image[None], colour_filter[None])
    assert out.shape == (1, 1, 4, 3)
    assert_equal(out[0, 0], slices[0] + slices[1] + slices[2])


@pytest.mark.covers("padding-stride")
def test_output_size_is_what_comes_out() -> None:
    assert output_size(8, 3, padding_total=2, stride=2) == 4
    for n in (5, 8, 11):
        for k in (1, 2, 3, 5):
            for p in (0, 1, 2):
                for s in (1, 2, 3):
                    x, weight = torch.zeros(1, 1, n), torch.zeros(1, 1, k)
                    expected = F.conv1d(x, weight, stride=s, padding=p).shape[2]
                    assert output_size(n, k, 2 * p, s) == expected
                    assert conv_layer(x, weight, stride=s, padding=p).shape[2] == expected
    assert output_size(8, 4, padding_total=3) == 8  # "same", an even kernel: one end has one more


@pytest.mark.covers("one-by-one-conv")
def test_a_kernel_of_one_pixel_is_a_dense_layer_at_each_place_and_saves_products() -> None:
    x, weight = numbers(2, 6, 4, 3), numbers(5, 6, 1, 1, seed=1)
    each = x.movedim(1, -1) @ weight[:, :, 0, 0].T
    assert_equal(conv_layer(x, weight), each.movedim(-1, 1))

    image = torch.zeros(1, 192, 4, 4)
    five: dict[str, Any] = {"kernel_size": 5, "padding": 2}
    with counting_flops() as direct:
        nn.Conv2d(192, 32, **five)(image)
    with counting_flops() as reduced:
        nn.Sequential(nn.Conv2d(192, 16, 1), nn.Conv2d(16, 32, **five))(image)
    assert direct.get_total_flops() == 2 * 16 * 192 * 32 * 25
    assert direct.get_total_flops() / reduced.get_total_flops() == pytest.approx(9.68, abs=0.005)


@pytest.mark.covers("channel-semantics")
def test_turned_channels_compute_the_same_function() -> None:
    x = numbers(2, 3, 6, 6)
    first, second = numbers(4, 3, 3, 3, seed=1), numbers(5, 4, 1, 1, seed=2)
    turn = torch.linalg.qr(numbers(4, 4, seed=3)).Q[:, :, None, None]
    maps = conv_layer(x, first)
    turned = conv_layer(maps, turn)
    assert (turned - maps).abs().max() > 0.1  # each single channel is another one
    second_turned = conv_layer(second, turn)  # its kernels, written in the turned channels
    assert_equal(conv_layer(turned, second_turned), conv_layer(maps, second))


@pytest.mark.covers("cnn-three-stages")
def test_a_block_is_convolution_then_detector_then_pooling() -> None:
    block = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.MaxPool2d(2)).double()
    x, (weight, bias) = numbers(2, 2, 8, 8), block[0].parameters()
    linear = conv_layer(x, weight, bias)  # (2, 3, 6, 6)
    detected = linear.clamp(min=0)
    pooled = windows(detected, (2, 2), stride=2).amax(dim=(-1, -2))
    assert_equal(block(x), pooled)


@pytest.mark.covers("downsampling-channel-tradeoff")
def test_half_the_sides_and_twice_the_channels_cost_the_same() -> None:
    volumes, costs = [], []
    for channels, side in ((4, 16), (8, 8), (16, 4)):
        x, weight = torch.zeros(1, channels, side, side), torch.zeros(channels, channels, 3, 3)
        with counting_flops() as counter:
            volumes.append(conv_layer(x, weight, padding=1).numel())
        costs.append(counter.get_total_flops())
    assert volumes == [1024, 512, 256]
    assert costs == [2 * 16 * 16 * 4 * 4 * 9] * 3


@for_each(
    ("x", "weight", "options", "sentence"),
    [
        (
            (1, 2, 5),
            (3, 2, 3, 3),
            {},
            "x and weight must be (B, C, n) and (O, C, k), or (B, C, n, n) and (O, C, k, k), "
            "got shapes (1, 2, 5) and (3, 2, 3, 3)",
        ),
        (
            (1, 4, 5),
            (3, 4, 3),
            {"groups": 2},
            "kernels of 4 channels in 2 groups need 8 input channels, got 4",
        ),
        ((1, 4, 5), (3, 2, 3), {"groups": 2}, "output channels must divide into 2 groups, got 3"),
        (
            (1, 1, 2, 9),
            (1, 1, 5, 5),
            {"padding": 1},
            "a kernel of 5 must fit into the padded size, got 2 + 2",
        ),
        (
            (1, 1, 4),
            (1, 1, 3),
            {"dilation": 2},
            "a kernel of 3, 5 places with dilation 2, must fit into the padded size, got 4 + 0",
        ),
        (
            (1, 1, 4, 4),
            (1, 1, 3, 3),
            {"stride": (1, 2, 3)},
            "stride must be one number or 2, one a dimension, got (1, 2, 3)",
        ),
        (
            (1, 1, 4),
            (1, 1, 3),
            {"padding": (1, 1)},
            "padding must be one number or 1, one a dimension, got (1, 1)",
        ),
    ],
)
def test_tensors_that_do_not_fit_are_refused(
    x: tuple[int, ...], weight: tuple[int, ...], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
        conv_layer(torch.zeros(x), torch.zeros(weight), **options)


def test_settings_outside_their_range_are_refused() -> None:
    x, weight = torch.zeros(1, 1, 5), torch.zeros(1, 1, 3)
    with pytest.raises(ConfigError, match=r"^stride must be positive, got 0$"):
        conv_layer(x, weight, stride=0)
    with pytest.raises(ConfigError, match=r"^dilation must be positive, got 0$"):
        conv_layer(x, weight, dilation=0)
    with pytest.raises(ConfigError, match=r"^padding must not be negative, got -2$"):
        conv_layer(x[None], weight[None], padding=(1, -2))
    with pytest.raises(ConfigError, match=r"^padding must not be negative, got -1$"):
        conv_layer(x, weight, padding=-1)
    with pytest.raises(ConfigError, match=r"^groups must be positive, got 0$"):
        conv_layer(x, weight, groups=0)
    with pytest.raises(ShapeError, match=r"^bias must have shape \(1\), got \(2,\)$"):
        conv_layer(x, weight, torch.zeros(2))
    with pytest.raises(ConfigError, match=r"^padding_total must not be negative, got -1$"):
        output_size(5, 3, -1)
    with pytest.raises(ConfigError, match=r"^kernel must be positive, got 0$"):
        output_size(5, 0)
