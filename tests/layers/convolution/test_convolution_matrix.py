"""Matrices of convolutions: their diagonals, what they share, and which maps they are."""

from math import prod

import numpy as np
import pytest
import torch
from torch import Tensor

from netwright.layers.convolution.convolution import convolve, correlate
from netwright.layers.convolution.convolution_boundary import BOUNDARIES
from netwright.layers.convolution.convolution_matrix import convolution_matrix, correlation_matrix
from tests.repetition import for_each


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def assert_equal(one: Tensor, other: Tensor | np.ndarray, atol: float = 1e-12) -> None:
    torch.testing.assert_close(one, torch.as_tensor(other), rtol=0, atol=atol)


@pytest.mark.covers("full-convolution-toeplitz")
@pytest.mark.parametrize(("n", "m"), [(6, 3), (4, 4), (3, 5)])
def test_a_full_convolution_is_a_toeplitz_matrix(n: int, m: int) -> None:
    signal, kernel = numbers(n), numbers(m, seed=1)
    matrix = convolution_matrix(kernel, (n,))
    assert matrix.shape == (n + m - 1, n)
    assert_equal(matrix @ signal, np.convolve(signal.numpy(), kernel.numpy()))
    for offset in range(-(n + m - 2), n):
        diagonal = matrix.diagonal(offset)
        expected = kernel[-offset] if 0 <= -offset < m else 0.0
        assert torch.equal(diagonal, torch.full_like(diagonal, float(expected)))


@pytest.mark.covers("circulant-example")
def test_a_filter_of_three_values_fills_a_circulant_matrix() -> None:
    w0, w1, w2 = (float(w) for w in numbers(3))
    kernel = torch.tensor([w0, w1, w2], dtype=torch.float64)
    matrix = correlation_matrix(kernel, (5,), "circular")
    assert matrix.tolist() == [
        [w0, w1, w2, 0, 0],
        [0, w0, w1, w2, 0],
        [0, 0, w0, w1, w2],
        [w2, 0, 0, w0, w1],
        [w1, w2, 0, 0, w0],
    ]
    assert (len(set(matrix.flatten().tolist()) - {0.0}), matrix.numel()) == (3, 25)
    signal = numbers(5, seed=1)
    assert_equal(matrix @ signal, correlate(signal, kernel, "circular"))
    # Frequencies are its eigenvectors, the conjugate transform of the filter its eigenvalues.
    values = np.fft.fft(kernel.numpy(), 5).conj()
    waves = np.exp(2j * np.pi * np.outer(np.arange(5), np.arange(5)) / 5)
    np.testing.assert_allclose(matrix.numpy() @ waves, waves * values, atol=1e-12)
    found = torch.linalg.eigvals(matrix).numpy()
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(values), atol=1e-10)


@for_each("boundary", BOUNDARIES)
def test_the_matrix_of_an_image_filter_acts_on_its_rows_one_after_another(boundary: str) -> None:
    image, kernel = numbers(4, 5), numbers(3, 2, seed=1)
    for matrix, out in (
        (convolution_matrix(kernel, (4, 5), boundary), convolve(image, kernel, boundary)),
        (correlation_matrix(kernel, (4, 5), boundary), correlate(image, kernel, boundary)),
    ):
        assert matrix.shape == (out.numel(), image.numel())
        assert_equal(matrix @ image.flatten(), out.flatten())


@pytest.mark.covers("integral-operator")
def test_a_kernel_of_two_variables_gives_the_fourier_transform_and_convolution() -> None:
    n = 8
    places = torch.arange(n, dtype=torch.float64)
    signal, kernel = numbers(n), numbers(3, seed=1)

    waves = torch.exp(-2j * torch.pi * places[:, None] * places / n)  # H(u, t) = e^(-2 pi i t u)
    np.testing.assert_allclose(
        (waves @ signal.to(torch.complex128)).numpy(), np.fft.fft(signal.numpy()), atol=1e-12
    )

    def response(distance: int) -> float:
        return float(kernel[distance]) if 0 <= distance < 3 else 0.0

    shifts = [[response(u - t) for t in range(n)] for u in range(n + 2)]  # H(u, t) = h(u - t)
    assert_equal(convolution_matrix(kernel, (n,)), torch.tensor(shifts, dtype=torch.float64))


@pytest.mark.covers("shift-equivariant-is-conv")
def test_a_linear_map_that_commutes_with_shifts_is_a_convolution() -> None:
    n = 7
    anything = numbers(n, n)
    shift = torch.eye(n, dtype=torch.float64).roll(1, 0)
    powers = [torch.linalg.matrix_power(shift, power) for power in range(n)]
    commuting = torch.stack([power @ anything @ power.T for power in powers]).mean(dim=0)
    assert_equal(commuting @ shift, shift @ commuting)
    impulse_response = commuting[:, 0]
    assert_equal(commuting, convolution_matrix(impulse_response, (n,), "circular"), atol=1e-10)
    assert (anything - convolution_matrix(anything[:, 0], (n,), "circular")).abs().max() > 0.1


@pytest.mark.covers("conv-from-dense")
@pytest.mark.parametrize("reach", [1, 4])  # 4: of 5 x 5 pixels each sees all, and still they share
def test_a_dense_layer_that_shares_and_stays_local_is_a_convolution(reach: int) -> None:
    n = 5
    image, kernel = numbers(n, n), numbers(2 * reach + 1, 2 * reach + 1, seed=1)
    dense = torch.zeros(n, n, n, n, dtype=torch.float64)
    for i, j, a, b in np.ndindex(n, n, n, n):
        if max(abs(a - i), abs(b - j)) <= reach:
            dense[i, j, a, b] = kernel[a - i + reach, b - j + reach]
    out = torch.einsum("ijab,ab->ij", dense, image)
    assert_equal(correlate(image, kernel, "same"), out)
    assert_equal(correlation_matrix(kernel, (n, n), "same"), dense.reshape(n * n, n * n))
    # Free weights: of a dense layer, of one that shares, and of one that is local as well.
    assert dense.numel() == n**4 == 625
    assert kernel.numel() == {4: (2 * n - 1) ** 2, 1: 9}[reach]


def test_the_matrix_is_as_sparse_as_the_kernel_is_small() -> None:
    matrix = correlation_matrix(torch.ones(3, 3), (8, 8), "circular")
    assert matrix.shape == (prod((8, 8)),) * 2
    assert int(matrix.sum()) == 64 * 9
