"""Convolution and cross-correlation: four ways that agree, independent references, their laws."""

import re
from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest
import scipy.signal
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.errors import DataError, UnknownNameError
from netwright.layers.attention.gaussian_window import gaussian_window
from netwright.layers.convolution.convolution import WAYS, convolve, correlate
from netwright.layers.convolution.convolution_boundary import BOUNDARIES
from tests.repetition import for_each

Operation = Callable[..., Tensor]
Cut = Literal["full", "valid", "same"]
# Odd and even kernels, one as large as its signal, one value, images that are not square.
SHAPES = [
    ((7,), (3,)),
    ((7,), (4,)),
    ((5,), (5,)),
    ((4,), (1,)),
    ((6, 5), (3, 2)),
    ((4, 7), (4, 3)),
]


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def flipped(kernel: Tensor) -> Tensor:
    return kernel.flip(tuple(range(kernel.ndim)))


def assert_equal(one: Tensor, other: Tensor | np.ndarray, atol: float = 1e-12) -> None:
    torch.testing.assert_close(one, torch.as_tensor(other), rtol=0, atol=atol)


@for_each("shapes", SHAPES, ids=str)
@for_each("boundary", BOUNDARIES)
@for_each("operation", [convolve, correlate], ids=["convolve", "correlate"])
def test_all_ways_agree(
    operation: Operation, boundary: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    signal, kernel = numbers(*shapes[0]), numbers(*shapes[1], seed=1)
    direct = operation(signal, kernel, boundary)
    for way in WAYS:
        assert_equal(operation(signal, kernel, boundary, by=way), direct)


@for_each("operation", [convolve, correlate], ids=["convolve", "correlate"])
@for_each("boundary", ["full", "same"])
def test_a_kernel_may_be_longer_than_its_signal_where_zeros_surround_it(
    operation: Operation, boundary: str
) -> None:
    signal, kernel = numbers(2, 3), numbers(4, 3, seed=1)
    reference = {convolve: scipy.signal.convolve2d, correlate: scipy.signal.correlate2d}[operation]
    whole = torch.as_tensor(reference(signal.numpy(), kernel.numpy(), "full"))
    expected = whole if boundary == "full" else whole[1:3, 1:4]
    for way in WAYS:
        assert_equal(operation(signal, kernel, boundary, by=way), expected)


@pytest.mark.covers("convolution-discrete", "valid-convolution")
@for_each("boundary", ["full", "valid", "same"])
@for_each("m", [1, 2, 3, 4, 7])
def test_one_dimension_is_that_of_numpy(m: int, boundary: Cut) -> None:
    signal, kernel = numbers(7), numbers(m, seed=1)
    assert_equal(
        convolve(signal, kernel, boundary), np.convolve(signal.numpy(), kernel.numpy(), boundary)
    )
    expected = np.correlate(signal.numpy(), kernel.numpy(), boundary)
    assert_equal(correlate(signal, kernel, boundary), expected)
    assert len(expected) == {"full": 7 + m - 1, "valid": 7 - m + 1, "same": 7}[boundary]


@pytest.mark.covers("convolution-2d", "valid-convolution")
@for_each("boundary", ["full", "valid", "same"])
@for_each("kernel_shape", [(3, 3), (2, 3), (4, 2), (1, 1)], ids=str)
def test_two_dimensions_are_those_of_scipy(kernel_shape: tuple[int, int], boundary: Cut) -> None:
    image, kernel = numbers(5, 6), numbers(*kernel_shape, seed=1)
    assert_equal(
        convolve(image, kernel, boundary),
        scipy.signal.convolve2d(image.numpy(), kernel.numpy(), boundary),
    )
    if boundary == "full":
        assert_equal(convolve(kernel, image), convolve(image, kernel))
    if boundary != "same" or all(size % 2 for size in kernel_shape):  # scipy shifts even kernels
        assert_equal(
            correlate(image, kernel, boundary),
            scipy.signal.correlate2d(image.numpy(), kernel.numpy(), boundary),
        )


def test_a_convolution_of_torch_is_a_cross_correlation() -> None:
    signal, kernel = numbers(9), numbers(3, seed=1)
    image, patch = numbers(6, 5), numbers(3, 3, seed=1)
    for boundary in ("valid", "same"):
        line = F.conv1d(signal[None, None], kernel[None, None], padding=boundary)[0, 0]
        plane = F.conv2d(image[None, None], patch[None, None], padding=boundary)[0, 0]
        assert_equal(correlate(signal, kernel, boundary), line)
        assert_equal(correlate(image, patch, boundary), plane)


@pytest.mark.covers("cross-correlation")
def test_cross_correlation_is_convolution_with_the_flipped_kernel_and_does_not_commute() -> None:
    image, kernel = numbers(6, 5), numbers(3, 2, seed=1)
    assert_equal(
        correlate(image, kernel, "valid"),
        scipy.signal.correlate2d(image.numpy(), kernel.numpy(), "valid"),
    )
    for boundary in ("full", "valid", "same"):
        assert_equal(correlate(image, kernel, boundary), convolve(image, flipped(kernel), boundary))
    one, other = numbers(4), numbers(4, seed=1)
    assert (correlate(one, other) - correlate(other, one)).abs().max() > 0.1
    assert_equal(correlate(one, other), flipped(correlate(other, one)))


@pytest.mark.covers("conv-commutative-linear")
def test_convolution_commutes_and_is_linear() -> None:
    kernel, one, other = numbers(4), numbers(9, seed=1), numbers(9, seed=2)
    assert_equal(convolve(one, kernel), convolve(kernel, one))
    assert_equal(convolve(one, other, "circular"), convolve(other, one, "circular"))
    for boundary in BOUNDARIES:
        mixed = convolve(2 * one - 3 * other, kernel, boundary)
        parts = 2 * convolve(one, kernel, boundary) - 3 * convolve(other, kernel, boundary)
        assert_equal(mixed, parts)


@pytest.mark.covers("convolution-continuous")
def test_two_boxes_make_a_triangle() -> None:
    step = 1e-3
    box = torch.ones(1000, dtype=torch.float64)  # one unit long
    triangle = step * convolve(box, box, by="fft")
    assert triangle.max() == pytest.approx(1.0, abs=1e-9)
    assert int(triangle.argmax()) * step == pytest.approx(1.0, abs=2 * step)
    assert int((triangle > 1e-9).sum()) * step == pytest.approx(2.0, abs=2 * step)
    times = step * torch.arange(1, 2000, dtype=torch.float64)
    assert_equal(triangle, torch.minimum(times, 2 - times))


@pytest.mark.covers("conv-worked-example")
@for_each("way", WAYS)
def test_the_worked_example(way: str) -> None:
    image = torch.arange(1.0, 13, dtype=torch.float64).view(4, 3)
    kernel = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    expected = torch.tensor([[37.0, 47.0], [67.0, 77.0], [97.0, 107.0]], dtype=torch.float64)
    assert_equal(correlate(image, kernel, "valid", by=way), expected)


@pytest.mark.covers("circular-convolution")
@for_each("way", WAYS)
def test_circular_by_the_formula_and_by_spectra(way: str) -> None:
    signal, kernel = numbers(6), numbers(4, seed=1)
    ahead = [sum(kernel[i] * signal[(k + i) % 6] for i in range(4)) for k in range(6)]
    back = [sum(kernel[i] * signal[(k - i) % 6] for i in range(4)) for k in range(6)]
    correlated, convolved = (f(signal, kernel, "circular", by=way) for f in (correlate, convolve))
    assert_equal(correlated, torch.tensor(ahead, dtype=torch.float64))
    assert_equal(convolved, torch.tensor(back, dtype=torch.float64))
    spectra = np.fft.fft(signal.numpy()), np.fft.fft(kernel.numpy(), 6)
    assert_equal(correlated, np.fft.ifft(spectra[0] * spectra[1].conj()).real)
    assert_equal(convolved, np.fft.ifft(spectra[0] * spectra[1]).real)


@pytest.mark.covers("same-convolution")
@for_each("m", [1, 2, 3, 4, 5])
def test_same_keeps_the_length_and_the_middle(m: int) -> None:
    signal, kernel = numbers(9), numbers(m, seed=1)
    same, valid = correlate(signal, kernel, "same"), correlate(signal, kernel, "valid")
    assert len(same) == 9
    assert_equal(same[m // 2 : m // 2 + len(valid)], valid)
    impulse = torch.zeros(9, dtype=torch.float64)
    impulse[4] = 1
    response = correlate(impulse, torch.ones(m, dtype=torch.float64), "same").nonzero()[:, 0]
    assert abs(response.double().mean() - 4) <= (0 if m % 2 else 0.5)  # even ones have no middle


@pytest.mark.covers("tensor-arrays")
def test_zeros_around_a_signal_change_nothing_but_the_place() -> None:
    image, kernel = numbers(4, 5), numbers(2, 3, seed=1)
    whole = convolve(image, kernel)
    for left, right, top, bottom in ((1, 0, 0, 2), (3, 4, 5, 6)):
        larger = convolve(F.pad(image, (left, right, top, bottom)), kernel)
        assert_equal(larger, F.pad(whole, (left, right, top, bottom)))


@pytest.mark.covers("translation-equivariance")
def test_convolution_commutes_with_shifts_on_a_circle_and_elsewhere_but_at_the_border() -> None:
    image, kernel = numbers(8, 9), numbers(3, 4, seed=1)
    for shift in ((1, 0), (0, 2), (-3, 5)):
        moved = image.roll(shift, (0, 1))
        on_circle = convolve(image, kernel, "circular")
        assert torch.equal(convolve(moved, kernel, "circular"), on_circle.roll(shift, (0, 1)))
        detected = convolve(moved, kernel, "circular").relu()
        assert torch.equal(detected, on_circle.relu().roll(shift, (0, 1)))
    first = convolve(image.roll(1, 0), kernel, "same")
    then = convolve(image, kernel, "same").roll(1, 0)
    # The last row came to the front: two rows see it there, and one misses it.
    assert_equal(first[2:-1], then[2:-1])
    assert (first - then)[[0, 1, -1]].abs().amax(dim=1).min() > 0.1


@pytest.mark.covers("translation-invariance")
def test_a_sum_over_all_places_forgets_where_something_was() -> None:
    image, kernel = numbers(8, 8), numbers(3, 3, seed=1)

    def detected(pixels: Tensor) -> Tensor:
        return correlate(pixels, kernel, "circular").relu()

    moved = image.roll((2, 3), (0, 1))
    assert float(detected(moved).sum()) == pytest.approx(float(detected(image).sum()), abs=1e-12)
    assert (detected(moved) - detected(image)).abs().max() > 0.1


@pytest.mark.covers("not-scale-rotation-equivariant")
def test_convolution_does_not_commute_with_turning_or_stretching() -> None:
    image, kernel = numbers(8, 8), numbers(3, 3, seed=1)

    def turning_gap(kernel: Tensor) -> float:
        turned = convolve(image.rot90(), kernel, "same")
        return float((turned - convolve(image, kernel, "same").rot90()).norm())

    symmetric = gaussian_window(3, 1.0)
    assert turning_gap(kernel) > 1
    assert turning_gap(symmetric) < 1e-12
    twice = torch.ones(2, 2, dtype=torch.float64)
    stretched = convolve(torch.kron(image, twice), symmetric, "same")
    assert (stretched - torch.kron(convolve(image, symmetric, "same"), twice)).norm() > 1


@pytest.mark.covers("convolution-smoothing")
def test_a_blur_removes_high_frequencies() -> None:
    noise = numbers(512)
    bump = gaussian_window(15, 2.0).sum(dim=0)
    blurred = convolve(noise, bump, "circular")

    def high_power(signal: Tensor) -> float:
        spectrum = torch.fft.rfft(signal).abs().square()
        return float(spectrum[len(spectrum) // 2 :].sum())

    assert high_power(blurred) < 0.1 * high_power(noise)
    assert blurred.diff().abs().sum() < 0.5 * noise.diff().abs().sum()


@pytest.mark.covers("density-of-sum")
def test_the_sum_of_two_dice_has_the_convolution_of_their_chances() -> None:
    die = torch.full((6,), 1 / 6, dtype=torch.float64)
    both = convolve(die, die)
    expected = torch.tensor([1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1], dtype=torch.float64) / 36
    assert_equal(both, expected)
    throws = torch.randint(6, (2, 100_000), generator=torch.Generator().manual_seed(0)).sum(dim=0)
    shares = throws.bincount(minlength=11).double() / len(throws)
    assert (shares - both).abs().max() < 0.006  # five standard deviations of a share


@pytest.mark.covers("conv-1d-timeseries")
def test_a_moving_average_is_a_running_mean_of_each_channel() -> None:
    series = numbers(2, 20)
    mean = torch.full((5,), 0.2, dtype=torch.float64)
    running = series.unfold(1, 5, 1).mean(dim=2)
    assert_equal(torch.stack([convolve(channel, mean, "valid") for channel in series]), running)
    each = mean.expand(2, 1, 5)
    assert_equal(F.conv1d(series[None], each, groups=2)[0], running)


@for_each("way", WAYS)
def test_gradients_flow_through_each_way(way: str) -> None:
    signal, kernel = numbers(4, 3).requires_grad_(), numbers(2, 2, seed=1).requires_grad_()
    for boundary in BOUNDARIES:
        torch.autograd.gradcheck(
            lambda x, w, b=boundary: convolve(x, w, b, by=way), (signal, kernel)
        )


@pytest.mark.parametrize("operation", [convolve, correlate], ids=["convolve", "correlate"])
def test_unknown_ways_and_mixed_numbers_are_refused(operation: Operation) -> None:
    x = numbers(4)
    sentence = "unknown way 'matrx'; did you mean 'matrix'?"
    with pytest.raises(UnknownNameError, match=f"^{re.escape(sentence)}$"):
        operation(x, x, by="matrx")
    for other in (x.float(), torch.arange(4)):
        sentence = (
            "signal and kernel must be floating-point numbers of one type, "
            f"got torch.float64 and {other.dtype}"
        )
        with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
            operation(x, other)
    sentence = "signal and kernel must be tensors, got Tensor and list"
    with pytest.raises(DataError, match=f"^{sentence}$"):
        operation(x, [1.0, 2.0])


@for_each("operation", [convolve, correlate], ids=["convolve", "correlate"])
@for_each("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_refused_where_there_is_no_transform(
    operation: Operation, dtype: torch.dtype
) -> None:
    x = numbers(4).to(dtype)
    with pytest.raises(DataError, match=f"^fft needs numbers of float32 or float64, got {dtype}$"):
        operation(x, x, by="fft")
    assert operation(x, x).dtype == dtype
