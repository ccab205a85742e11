"""Least squares, logistic and softmax regression: the numbers of both forms."""

import pytest

from netwright.theory.misprints import linear_models as forms


def test_bias_that_starts_from_the_weight_is_wrong_by_two_thirds() -> None:
    telling = forms.bias_update()
    assert telling.right == pytest.approx(1, abs=1e-9)
    # At rest b = w - eta mean(left), and the mean of what is left is b - 1: b = (2 + 1/2) / (3/2).
    assert telling.wrong == pytest.approx(5 / 3, abs=1e-9)


def test_the_sigmoid_goes_to_one_and_its_slope_to_a_quarter() -> None:
    telling = forms.sigmoid_quarter()
    assert telling.right == 0.25
    assert telling.wrong == pytest.approx(1, abs=1e-4)


def test_without_brackets_the_bias_has_the_wrong_gradient() -> None:
    telling = forms.logistic_sign()
    assert abs(telling.right) < 1e-15
    assert telling.wrong == pytest.approx(-0.1627, abs=1e-4)


def test_without_its_minus_sign_cross_entropy_unlearns_the_true_class() -> None:
    telling = forms.cross_entropy_sign()
    assert telling.right == pytest.approx(0.9)
    assert telling.wrong < 1e-100


def test_epanechnikovs_kernel_is_better_than_the_triangle() -> None:
    telling = forms.triangular_kernel()
    assert telling.right == pytest.approx(1, abs=1e-7)
    assert telling.wrong == pytest.approx(1.0143, abs=1e-4)


def test_normal_equations_have_one_unknown_for_each_feature() -> None:
    assert (forms.normal_equations().right, forms.normal_equations().wrong) == (3, 20)
