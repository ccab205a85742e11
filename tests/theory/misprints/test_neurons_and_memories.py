"""Thresholds, dichotomies and memories: the numbers of both forms."""

import math

import pytest

from netwright.theory.misprints import neurons_and_memories as forms


def test_number_of_dichotomies_is_covers() -> None:
    assert [forms.dichotomies(*sizes) for sizes in ((4, 2), (6, 3), (8, 3))] == [8, 32, 58]
    assert forms.dichotomies(50, 25) / 2**50 == 0.5


def test_the_share_of_dichotomies_vanishes_while_their_number_grows() -> None:
    telling = forms.cover_fraction()
    assert telling.right < 1e-6
    assert telling.wrong > 1e8


def test_with_its_diagonal_an_overloaded_memory_keeps_any_state() -> None:
    telling = forms.hebbian_diagonal()
    assert telling.right == 0
    # Each bit holds itself with s/n = 10 against noise of deviation sqrt(s/n).
    held = (1 - math.erfc(math.sqrt(10 / 2)) / 2) ** 100
    assert telling.wrong == pytest.approx(held, abs=0.07)


def test_capacity_with_the_binary_logarithm_is_too_small() -> None:
    telling = forms.capacity_logarithm()
    assert telling.right == pytest.approx(1, abs=0.05)
    assert telling.wrong < 0.01


def test_or_differs_from_exclusive_or_where_both_are_on() -> None:
    assert forms.exclusive_or().wrong == 1


def test_one_example_needs_as_many_updates_as_the_bound_allows() -> None:
    telling = forms.perceptron_bound()
    assert (telling.right, telling.wrong) == (0, -1)
