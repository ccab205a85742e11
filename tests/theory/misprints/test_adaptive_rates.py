"""Optimizers with a rate for each weight: the numbers of both forms, against torch."""

import math

import pytest

from netwright.theory.misprints import adaptive_rates as forms


def test_adams_first_step_is_three_times_too_long_without_correction() -> None:
    telling = forms.adam_correction()
    assert telling.right == pytest.approx(1)
    assert telling.wrong == pytest.approx(math.sqrt(10))


def test_adam_and_nadam_are_torchs() -> None:
    assert abs(forms.adam_moment().right) < 1e-12
    assert abs(forms.nadam_correction().right) < 1e-6


def test_adadelta_without_its_memory_stays_slow() -> None:
    telling = forms.adadelta_memory()
    assert telling.right == pytest.approx(1)
    assert telling.wrong < 0.5


def test_adagrads_rate_falls_with_the_root_of_the_steps() -> None:
    telling = forms.adagrad_rate()
    assert telling.bound == pytest.approx(0.1)
    assert (telling.right, telling.wrong) == (0.1, 100)
