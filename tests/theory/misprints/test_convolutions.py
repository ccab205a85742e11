"""Convolution and pooling: both against torch and FFT, and the numbers of both forms."""

import pytest
import torch

from netwright.theory.misprints import convolutions as forms


def test_convolution_is_the_product_of_spectra() -> None:
    f, h = forms.signal("f"), forms.signal("h")
    spectra = torch.fft.fft(f) * torch.fft.fft(h)
    torch.testing.assert_close(forms.convolve(f, h), torch.fft.ifft(spectra).real)


def test_correlation_is_what_a_layer_computes() -> None:
    f, h = forms.signal("f"), forms.signal("h")
    around = torch.cat([f, f[:-1]])
    layer = torch.nn.functional.conv1d(around[None, None], h[None, None])[0, 0]
    torch.testing.assert_close(forms.correlate(h, f), layer)


def test_only_convolution_commutes() -> None:
    telling = forms.commutes()
    assert telling.right < 1e-14
    assert telling.wrong > 1


def test_a_window_that_does_not_fit_is_left_out() -> None:
    telling = forms.output_size()
    assert (telling.bound, telling.right, telling.wrong) == (3, 3, 3.5)


def test_a_window_of_two_holds_two_values() -> None:
    assert (forms.pooling_window().right, forms.pooling_window().wrong) == (2, 9)


def test_pooling_by_two_leaves_a_quarter() -> None:
    assert (forms.pooling_stride().right, forms.pooling_stride().wrong) == (4, 9)
    assert (forms.pooled_share().right, forms.pooled_share().wrong) == (4, 2)


def test_reversed_twice_is_the_signal() -> None:
    h = forms.signal("h")
    assert torch.equal(forms.reversed_signal(forms.reversed_signal(h)), h)
    assert forms.reversed_signal(h)[0] == h[0]
    assert forms.reversed_signal(h)[1] == pytest.approx(float(h[-1]))
