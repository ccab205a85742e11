"""Pooling: the kinds of torch by hand, and the mean that is weighted by distance."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.ndimage import maximum_filter, rotate
from sklearn.datasets import load_digits
from torch import Tensor, nn

from netwright.core.errors import ConfigError, ShapeError
from netwright.core.seeding import seeded
from netwright.layers.attention.gaussian_window import gaussian_window
from netwright.layers.convolution.pooling import GaussianPool2d
from netwright.layers.convolution.unfolded_convolution import conv_layer
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each

EXAMPLE = torch.tensor(
    [[[[1.0, 2, 5, 3], [3, 0, 1, 2], [2, 1, 3, 4], [1, 1, 2, 0]]]], dtype=torch.float64
)


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def input_gradient(layer: nn.Module, x: Tensor) -> Tensor:
    x = x.clone().requires_grad_()
    return torch.autograd.grad(layer(x).sum(), x)[0]


@pytest.mark.covers("max-pooling")
def test_max_pooling_of_the_example_and_the_one_pixel_a_window_that_learns() -> None:
    pool = nn.MaxPool2d(2)
    assert pool(EXAMPLE).tolist() == [[[[3, 5], [2, 4]]]]
    largest = [[0, 0, 1, 0], [1, 0, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]]
    assert input_gradient(pool, EXAMPLE).tolist() == [[largest]]


@pytest.mark.covers("average-pooling")
def test_average_pooling_of_the_example_and_its_even_gradient() -> None:
    pool = nn.AvgPool2d(2)
    assert pool(EXAMPLE).tolist() == [[[[1.5, 2.75], [1.25, 2.25]]]]
    assert input_gradient(pool, EXAMPLE).tolist() == [[[[0.25] * 4] * 4]]


@pytest.mark.covers("l2-pooling")
def test_l2_pooling_is_the_length_of_a_window() -> None:
    pool = nn.LPPool2d(2, 2)
    assert pool(torch.tensor([[[[3.0, 4.0], [0.0, 0.0]]]])).item() == 5
    x = numbers(2, 3, 4, 6)
    lengths = x.unfold(2, 2, 2).unfold(3, 2, 2).norm(dim=(-2, -1))
    torch.testing.assert_close(pool(x), lengths, rtol=0, atol=1e-12)
    torch.autograd.gradcheck(pool, x.requires_grad_())
    # After a ReLU whole windows are 0, where a length has no slope.
    assert input_gradient(pool, torch.zeros(1, 1, 2, 2)).tolist() == [[[[0, 0], [0, 0]]]]


@pytest.mark.covers("weighted-average-pooling")
def test_distance_weighted_pooling_is_a_fixed_convolution_of_each_channel() -> None:
    pool = GaussianPool2d(3, width=0.8, stride=2).double()
    window = gaussian_window(3, 0.8)
    assert float(window.sum()) == pytest.approx(1.0, abs=1e-15)
    assert window[1, 1] > window[0, 1] > window[0, 0]
    x = numbers(2, 4, 7, 9)
    each = window.expand(4, 1, 3, 3)
    torch.testing.assert_close(pool(x), conv_layer(x, each, stride=2, groups=4), rtol=0, atol=1e-7)
    constant = torch.full((1, 2, 7, 9), 3.0, dtype=torch.float64)
    torch.testing.assert_close(pool(constant), constant[..., :3, :4], rtol=0, atol=1e-6)


def test_a_wide_gaussian_is_the_plain_mean_and_windows_lie_side_by_side_by_default() -> None:
    x = numbers(2, 3, 6, 6).float()
    torch.testing.assert_close(GaussianPool2d(2, width=1e4)(x), nn.AvgPool2d(2)(x))
    assert str(GaussianPool2d(2, width=0.5)) == (
        "GaussianPool2d(kernel_size=2, width=0.5, stride=2)"
    )
    assert not GaussianPool2d(2, width=0.5).state_dict()


@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_layer_contract(check: Callable[[Build], None]) -> None:
    check(lambda: (GaussianPool2d(3, width=1.0, stride=2), torch.randn(2, 2, 5, 7)))


@pytest.mark.covers("unstrided-pooling")
def test_windows_that_overlap_fully_keep_the_resolution() -> None:
    x = numbers(9, 8)
    for r in (2, 3, 4):
        pooled = nn.MaxPool2d(r, stride=1)(x[None, None])[0, 0]
        assert pooled.shape == (9 - r + 1, 8 - r + 1)
        # scipy's window has its middle at r // 2.
        interior = maximum_filter(x.numpy(), size=r)[r // 2 :, r // 2 :]
        np.testing.assert_array_equal(pooled, interior[: 9 - r + 1, : 8 - r + 1])


def test_overlapping_windows_by_hand() -> None:
    line = torch.tensor([[[1.0, 5.0, 2.0, 0.0, 3.0, 4.0, 9.0]]])
    assert nn.MaxPool1d(3, stride=2)(line).tolist() == [[[5, 3, 9]]]


@pytest.mark.covers("global-pooling")
def test_global_pooling_takes_images_of_any_size_and_forgets_places() -> None:
    for pool in (nn.AdaptiveMaxPool2d(1), nn.AdaptiveAvgPool2d(1)):
        with seeded(0):
            network = nn.Sequential(
                nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular"),
                nn.ReLU(),
                nn.Conv2d(4, 5, 3, padding=1, padding_mode="circular"),
                pool,
                nn.Flatten(),
                nn.Linear(5, 3),
            ).double()
        for side in (16, 32):
            x = numbers(2, 1, side, side)
            out = network(x)
            assert out.shape == (2, 3)
            moved = network(x.roll((3, -5), (2, 3)))
            torch.testing.assert_close(moved, out, rtol=0, atol=1e-12)


@pytest.mark.covers("adaptive-pooling")
def test_quadrants_give_four_numbers_for_images_of_any_size() -> None:
    pool = nn.AdaptiveMaxPool2d(2)
    for rows, columns in ((8, 8), (10, 14), (31, 17)):
        x = numbers(1, 3, rows, columns)
        quadrants = pool(x)
        assert quadrants.shape == (1, 3, 2, 2)
        for i in (0, 1):
            for j in (0, 1):
                # An odd side has a middle line; it belongs to both halves.
                down = slice(None, -(-rows // 2)) if i == 0 else slice(rows // 2, None)
                right = slice(None, -(-columns // 2)) if j == 0 else slice(columns // 2, None)
                assert torch.equal(quadrants[..., i, j], x[..., down, right].amax(dim=(2, 3)))


@pytest.mark.covers("pooling-k-downsampling")
def test_pooling_k_pixels_apart_leaves_one_in_k_squared() -> None:
    x = numbers(1, 3, 12, 12)
    for k in (2, 3, 4):
        for pool in (nn.MaxPool2d(k), GaussianPool2d(k, width=1.0).double()):
            assert x.numel() == k**2 * pool(x).numel()


@pytest.mark.covers("pooling-local-invariance")
def test_a_shift_changes_all_detectors_and_half_of_what_is_pooled() -> None:
    pool = nn.MaxPool1d(3, stride=1, padding=1)
    before, after = torch.tensor([0.1, 1.0, 0.2, 0.1]), torch.tensor([0.3, 0.1, 1.0, 0.2])
    assert int((before == after).sum()) == 0
    pooled_before, pooled_after = pool(before[None, None])[0, 0], pool(after[None, None])[0, 0]
    torch.testing.assert_close(pooled_before, torch.tensor([1.0, 1.0, 1.0, 0.2]))
    torch.testing.assert_close(pooled_after, torch.tensor([0.3, 1.0, 1.0, 1.0]))
    assert int((pooled_before == pooled_after).sum()) == 2
    window = numbers(1, 1, 6)
    order = torch.tensor([2, 0, 1, 4, 5, 3])  # within the windows of three
    assert torch.equal(nn.MaxPool1d(3)(window[..., order]), nn.MaxPool1d(3)(window))


@pytest.mark.covers("learned-invariance-pooling")
def test_the_largest_of_three_turned_filters_knows_a_five_in_each_position() -> None:
    digits = load_digits()
    five = digits.images[digits.target == 5][0]
    turned = np.stack([rotate(five, angle, reshape=False, order=1) for angle in (-45, 0, 45)])
    templates = torch.from_numpy(turned - turned.mean(axis=(1, 2), keepdims=True))
    templates = (templates / templates.norm(dim=(1, 2), keepdim=True))[:, None]  # (3, 1, 8, 8)
    images = nn.functional.pad(templates, (3, 1, 2, 2))  # somewhere on a larger field
    responses = conv_layer(images, templates).amax(dim=(2, 3))  # (image, filter)
    assert responses.amax(dim=1).min() >= 0.9 * responses.max()
    upright_filter = responses[:, 1]
    assert upright_filter[[0, 2]].max() < 0.6 * responses.max()


def test_images_smaller_than_the_window_and_bad_settings_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^a kernel of 3 must fit .* got 2 \+ 0$"):
        GaussianPool2d(3, width=1.0)(torch.zeros(1, 1, 5, 2))
    with pytest.raises(ShapeError, match=r"^x must have shape \(B, C, I, J\), got \(5, 5\)$"):
        GaussianPool2d(3, width=1.0)(torch.zeros(5, 5))
    with pytest.raises(ConfigError, match=r"^stride must be positive, got 0$"):
        GaussianPool2d(3, width=1.0, stride=0)
    with pytest.raises(ConfigError, match=r"^size must be positive, got 0$"):
        GaussianPool2d(0, width=1.0, stride=1)


def test_the_window_is_exact_in_the_type_that_a_layer_is_brought_to() -> None:
    pool, window = GaussianPool2d(3, width=0.7), gaussian_window(3, 0.7)
    assert torch.equal(pool.window, window.float())
    assert torch.equal(pool.half().double().window, window)
