"""Layers, symmetries and starting weights: the numbers of both forms."""

import math

import pytest

from netwright.theory.misprints import networks as forms


def test_two_layers_of_three_units_have_thirty_six_orders() -> None:
    telling = forms.equivalent_weights()
    assert (telling.bound, telling.right, telling.wrong) == (36, 36, 12)


def test_a_root_taken_twice_is_too_wide() -> None:
    telling = forms.glorot_spread()
    assert telling.right == pytest.approx(1, abs=0.01)
    assert telling.wrong == pytest.approx((2 / 400) ** -0.25, rel=0.01)


def test_a_matrix_without_eigenvalues_can_double_a_signal() -> None:
    assert (forms.signal_growth().right, forms.signal_growth().wrong) == (1, 0)


def test_weights_of_a_unit_double_with_the_pixels() -> None:
    telling = forms.picture_growth()
    assert (telling.bound, telling.right, telling.wrong) == (2, 2, 60_000)


def test_a_loop_without_its_recursion_keeps_the_last_signal() -> None:
    telling = forms.gradient_path()
    assert math.isclose(telling.right, 2**-8)
    assert telling.wrong == 1
