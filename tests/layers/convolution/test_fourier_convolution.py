"""The Fourier transform and the theorem that makes it a way to convolve."""

import numpy as np
import pytest
import torch
from torch import Tensor

from netwright.layers.convolution.convolution import convolve, correlate
from netwright.layers.convolution.convolution_boundary import correlation_frame
from netwright.layers.convolution.convolution_matrix import convolution_matrix
from netwright.layers.convolution.fourier_convolution import correlate_by_fourier
from tests.repetition import for_each


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.covers("fourier-transform")
def test_a_gaussian_is_its_own_transform_and_torchs_is_the_matrix_of_waves() -> None:
    step = 0.05
    times = torch.arange(-6, 6, step, dtype=torch.float64)
    bump = torch.exp(-torch.pi * times**2)
    frequencies = torch.linspace(-2, 2, 9, dtype=torch.float64)
    waves = torch.exp(-2j * torch.pi * frequencies[:, None] * times)
    transform = step * waves @ bump.to(torch.complex128)
    expected = torch.exp(-torch.pi * frequencies**2).to(torch.complex128)
    torch.testing.assert_close(transform, expected, rtol=0, atol=1e-12)

    places = torch.arange(8, dtype=torch.float64)
    matrix = torch.exp(-2j * torch.pi * places[:, None] * places / 8)
    signal = numbers(8).to(torch.complex128)
    torch.testing.assert_close(matrix @ signal, torch.fft.fft(signal), rtol=0, atol=1e-12)
    np.testing.assert_allclose(matrix @ signal, np.fft.fft(signal.numpy()), atol=1e-12)


@pytest.mark.covers("convolution-theorem")
def test_the_transform_of_a_convolution_is_the_product_of_the_transforms() -> None:
    signal, kernel = numbers(300), numbers(200, seed=1)
    linear = convolve(signal, kernel, by="fft")
    np.testing.assert_allclose(linear, np.convolve(signal.numpy(), kernel.numpy()), atol=1e-10)
    spectra = torch.fft.rfft(signal, 499) * torch.fft.rfft(kernel, 499)
    torch.testing.assert_close(linear, torch.fft.irfft(spectra, 499), rtol=0, atol=1e-10)

    on_circle = convolve(signal, kernel, "circular", by="fft")
    spectra = torch.fft.rfft(signal) * torch.fft.rfft(kernel, 300)
    torch.testing.assert_close(torch.fft.rfft(on_circle), spectra, rtol=0, atol=1e-10)
    product = convolution_matrix(kernel, (300,), "circular") @ signal
    torch.testing.assert_close(on_circle, product, rtol=0, atol=1e-10)


@for_each("boundary", ["full", "valid", "same", "circular"])
@for_each("shapes", [((8,), (3,)), ((7, 9), (2, 5))], ids=str)
def test_windows_lie_where_the_definition_has_them(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], boundary: str
) -> None:
    signal, kernel = numbers(*shapes[0]), numbers(*shapes[1], seed=1)
    out = correlate_by_fourier(signal, kernel, correlation_frame(*shapes, boundary))
    torch.testing.assert_close(out, correlate(signal, kernel, boundary), rtol=0, atol=1e-12)
