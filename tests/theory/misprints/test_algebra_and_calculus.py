"""Norms, derivatives and densities: the numbers of both forms."""

import math

import numpy as np
import pytest
import torch

from netwright.theory.misprints import algebra_and_calculus as forms


@pytest.mark.covers("vector-norms")
def test_norms_have_absolute_values_and_add_up_to_more_than_the_sum() -> None:
    telling = forms.lp_norm()
    assert telling.right == np.linalg.norm([-1.0, 0.0], 3) == 1
    assert math.isnan(telling.wrong)
    lengths = forms.triangle()
    assert lengths.right == 0
    assert lengths.wrong == pytest.approx(2 - math.sqrt(2))
    x = torch.tensor([3.0, -4.0, 1.0], dtype=torch.float64)
    for p in (1, 2, 3):
        assert forms.norm(x, p) == pytest.approx(np.linalg.norm(x.numpy(), p), abs=1e-12)


def test_a_second_derivative_of_zero_is_no_inflection_of_the_fourth_power() -> None:
    telling = forms.second_derivative()
    assert (telling.right, telling.wrong) == (0, 1)


def test_the_remainder_of_the_exponential_is_exact_at_a_point_between() -> None:
    telling = forms.taylor_point()
    assert telling.right == pytest.approx(0, abs=1e-15)
    assert telling.wrong == pytest.approx(math.e - 2.5)


def test_area_without_the_factor_is_the_factor() -> None:
    assert forms.gaussian_area().wrong == pytest.approx(0.3 * math.sqrt(2 * math.pi))


def test_a_matrix_has_one_row_for_each_output() -> None:
    assert (forms.map_shape().right, forms.map_shape().wrong) == (0, -1)
    assert (forms.jacobian_shape().right, forms.jacobian_shape().wrong) == (0, -1)


def test_rows_that_sum_to_one_may_lose_two_entries() -> None:
    telling = forms.permutation_matrix()
    assert (telling.right, telling.wrong) == (3, 1)
