"""Weight decay, noise and dropout: the numbers of both forms."""

import pytest

from netwright.theory.misprints import regularisation as forms


def test_without_its_factor_weight_decay_decays_nothing() -> None:
    telling = forms.decay_update()
    assert telling.right == pytest.approx(0.5)
    assert telling.wrong == pytest.approx(1)


def test_adam_divides_the_penalty_away() -> None:
    telling = forms.decoupled_decay()
    assert telling.right == pytest.approx(1, abs=1e-5)
    assert telling.wrong == pytest.approx(0, abs=1e-5)


def test_torch_drops_the_share_it_is_given() -> None:
    telling = forms.dropout_probability()
    assert telling.bound == pytest.approx(0.8, abs=0.005)
    assert telling.right == 0.8
    assert telling.wrong == 0.2


def test_noise_on_the_inputs_costs_the_square_of_the_weights() -> None:
    telling = forms.input_noise()
    assert telling.right == pytest.approx(1, abs=0.01)
    assert telling.wrong == pytest.approx(25, abs=0.3)
