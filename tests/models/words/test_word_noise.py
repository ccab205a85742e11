"""Chances of words: by hand, and the alias table draws what it was made of."""

import numpy as np
import pytest

from netwright.models.words.word_noise import alias_table, keep_chances, noise_chances

COUNTS = np.array([0, 1, 16, 81])


def test_frequent_words_are_left_out_by_the_formula() -> None:
    keep = keep_chances(np.array([90, 10]), 0.1)
    ratio = 0.1 / 0.9
    assert keep.tolist() == pytest.approx([ratio**0.5 + ratio, 1.0])
    assert keep_chances(COUNTS, 0).tolist() == [1, 1, 1, 1]


def test_noise_is_the_counts_to_three_quarters() -> None:
    assert noise_chances(COUNTS).tolist() == pytest.approx([0, 1 / 36, 8 / 36, 27 / 36])


def test_the_table_holds_each_chance_exactly() -> None:
    for seed in range(5):
        chances = np.random.default_rng(seed).random(50) ** 4
        chances[7] = 0
        chances /= chances.sum()
        table = alias_table(chances)
        mass = table.stays.astype(float)
        np.add.at(mass, table.alias, 1 - table.stays)
        np.testing.assert_allclose(mass / 50, chances, atol=1e-7)
