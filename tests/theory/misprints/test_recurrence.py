"""Recurrent networks and gates: the numbers of both forms, against torch's cells."""

import pytest

from netwright.theory.misprints import recurrence as forms


def test_gates_of_the_right_form_are_torchs() -> None:
    assert forms.lstm_step() < 1e-15
    assert forms.gru_candidate().right < 1e-15


def test_gates_of_the_wrong_forms_are_not() -> None:
    assert forms.output_gate().wrong > 0.1
    assert forms.output_squash().wrong > 0.1
    assert forms.gru_candidate().wrong > 0.1


def test_gradients_vanish_below_one_and_explode_above() -> None:
    telling = forms.vanishing_condition()
    assert telling.right == pytest.approx(0.9**50)
    assert telling.wrong == pytest.approx(1.1**50)


def test_a_sum_forgets_the_order() -> None:
    telling = forms.order_of_inputs()
    assert telling.right == pytest.approx(0.398, abs=1e-3)
    assert telling.wrong == 0
