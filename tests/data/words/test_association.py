"""PMI and PPMI: independence gives 0, a hand-worked table, a dense computation, and refusals."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from netwright.core.errors import ConfigError, DataError
from netwright.data.words.association import pointwise_information, positive_information
from netwright.data.words.latent_space import Floats


def dense_positive(counts: Floats, power: float, shift: float) -> Floats:
    joint = counts / counts.sum()
    contexts = counts.sum(axis=0) ** power
    chance = np.outer(joint.sum(axis=1), contexts / contexts.sum())
    with np.errstate(divide="ignore"):
        positive: Floats = np.maximum(np.log(joint / chance) - math.log(shift), 0)
    return positive


@pytest.mark.covers("pmi-ppmi")
def test_words_that_meet_by_chance_alone_have_none() -> None:
    counts = csr_array(np.outer([1.0, 2, 5], [4.0, 1, 3, 2]))
    np.testing.assert_allclose(pointwise_information(counts).toarray(), 0, atol=1e-12)


@pytest.mark.covers("pmi-ppmi")
def test_a_table_of_two_by_two_by_hand() -> None:
    counts = csr_array(np.array([[4.0, 1.0], [0.0, 5.0]]))
    # 10 pairs; words 5 and 5, contexts 4 and 6
    by_hand = [[math.log(4 * 10 / (5 * 4)), math.log(1 * 10 / (5 * 6))], [0, math.log(50 / 30)]]
    np.testing.assert_allclose(pointwise_information(counts).toarray(), by_hand, rtol=1e-12)
    positive = positive_information(counts).toarray()
    assert (positive >= 0).all()
    assert positive[1, 0] == 0  # they never meet
    assert positive[0, 1] == 0  # they meet less often than by chance
    assert positive[0, 0] == pytest.approx(math.log(2))


def test_it_equals_a_dense_computation() -> None:
    counts = np.random.default_rng(0).poisson(0.7, (40, 30)).astype(float)
    for power, shift in ((1.0, 1.0), (0.75, 1.0), (0.75, 5.0), (1.0, 2.0)):
        found = positive_information(csr_array(counts), smoothing=power, shift=shift)
        np.testing.assert_allclose(
            found.toarray(), dense_positive(counts, power, shift), rtol=1e-8, atol=1e-12
        )


def test_smoothing_lowers_what_is_rare_and_the_counts_stay_as_they_were() -> None:
    counts = csr_array(np.array([[90.0, 1.0], [9.0, 0.0]]))
    plain = pointwise_information(counts)
    smooth = pointwise_information(counts, smoothing=0.75)
    assert smooth[0, 1] < plain[0, 1]
    assert counts.toarray().tolist() == [[90, 1], [9, 0]]


def test_what_has_no_association_is_refused() -> None:
    with pytest.raises(DataError, match="no two words meet"):
        pointwise_information(csr_array((3, 3)))
    for wrong in (-1.0, math.inf, math.nan):
        with pytest.raises(DataError, match=f"must be finite and not negative, got {wrong:g}$"):
            pointwise_information(csr_array(np.array([[wrong, 1.0]])))
    for name in ("smoothing", "shift"):
        with pytest.raises(ConfigError, match=name):
            positive_information(csr_array(np.eye(2)), **{name: 0.0})
