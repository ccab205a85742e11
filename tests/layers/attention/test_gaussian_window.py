"""Gaussian windows: their sum, their shape, their limits."""

import math

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.layers.attention.gaussian_window import gaussian_window


def test_weights_fall_with_the_distance_as_a_gaussian_and_sum_to_one() -> None:
    window = gaussian_window(5, 1.5)
    assert float(window.sum()) == pytest.approx(1.0, abs=1e-15)
    for down, right in ((0, 1), (1, 1), (2, 0), (-2, -2)):
        ratio = float(window[2 + down, 2 + right] / window[2, 2])
        assert ratio == pytest.approx(math.exp(-(down**2 + right**2) / (2 * 1.5**2)), abs=1e-15)


def test_an_even_window_has_its_middle_between_pixels() -> None:
    assert gaussian_window(2, 0.7).tolist() == [[0.25, 0.25], [0.25, 0.25]]


def test_another_centre_moves_the_peak_down_and_right() -> None:
    window = gaussian_window(7, 1.0, centre=(2.0, -1.0))
    assert divmod(int(window.argmax()), 7) == (5, 2)


@pytest.mark.parametrize("width", [1e-6, 1e6])
def test_extreme_widths_are_a_point_and_a_mean(width: float) -> None:
    point = torch.zeros(3, 3, dtype=torch.float64)
    point[1, 1] = 1
    expected = point if width < 1 else torch.full_like(point, 1 / 9)
    torch.testing.assert_close(gaussian_window(3, width), expected)


def test_windows_without_size_or_width_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^size must be positive, got 0$"):
        gaussian_window(0, 1.0)
    with pytest.raises(ConfigError, match=r"^width must be positive, got 0.0$"):
        gaussian_window(3, 0.0)
