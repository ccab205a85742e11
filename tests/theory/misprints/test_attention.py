"""Attention and positions: the numbers of both forms."""

import math

import pytest
import torch

from netwright.theory.misprints import attention as forms


def test_a_shift_is_a_rotation_only_with_shared_speeds() -> None:
    exponent, frequency = forms.encoding_exponent(), forms.encoding_frequency()
    assert exponent.right < 1e-14
    assert exponent.wrong == pytest.approx(0.80, abs=0.02)
    assert frequency.wrong > 0.9


def test_the_slowest_wave_is_nearly_ten_thousand_positions_long() -> None:
    numbers = torch.tensor([0, 2, forms.FEATURES - 2])
    expected = [1.0, 10_000 ** (-2 / 16), 10_000 ** (-14 / 16)]
    assert forms.speeds(numbers).tolist() == pytest.approx(expected)
    encoding = forms.encode(forms.speeds(numbers), forms.speeds(numbers))
    assert encoding[3, 0].tolist() == pytest.approx([math.sin(3), math.cos(3)])


def test_attention_is_equivariant_and_not_invariant() -> None:
    telling = forms.permutation()
    assert telling.right < 1e-15
    assert telling.wrong > 0.5


def test_a_mask_on_the_weights_breaks_their_sum() -> None:
    telling = forms.masked_sum()
    assert telling.right == pytest.approx(1)
    assert telling.wrong < -999_999


def test_scores_of_d_features_have_the_variance_d() -> None:
    telling = forms.scaled_scores()
    assert telling.right == pytest.approx(1, abs=0.05)
    assert telling.wrong == pytest.approx(512, rel=0.05)


def test_heads_are_mixed_as_torch_mixes_them() -> None:
    assert forms.head_mixing().right < 1e-14


def test_attention_costs_more_on_sequences_longer_than_wide() -> None:
    telling = forms.cheaper()
    assert (telling.right, telling.wrong) == (32 / 64, 256 / 64)
