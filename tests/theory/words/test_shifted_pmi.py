"""Skip-gram approaches the shifted PMI: the claim, PMI by hand, and steps that turn the verdict."""

import math

import pytest
import torch

from netwright.models.words.plain_word2vec import negatives_step
from netwright.theory.words import shifted_pmi
from netwright.theory.words.shifted_pmi import SHIFTED_PMI, draw_counts, shifted_information
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(SHIFTED_PMI)


@pytest.mark.covers("word2vec", "pmi-ppmi")
def test_products_of_the_vectors_come_to_the_shifted_pmi() -> None:
    distance, alike = SHIFTED_PMI.check().findings
    assert distance.measured < 0.1
    assert alike.measured > 0.97
    assert distance.n == alike.n > 50


def test_information_by_hand() -> None:
    counts = torch.tensor([[0.0, 2.0], [2.0, 4.0]], dtype=torch.float64)
    found = shifted_information(counts, 2)
    assert found[0, 0] == -math.inf
    assert float(found[0, 1]) == pytest.approx(math.log(2 * 8 / (2 * 6)) - math.log(2))
    assert float(found[1, 1]) == pytest.approx(math.log(4 * 8 / 36) - math.log(2))


def test_the_text_has_frequent_and_rare_words() -> None:
    counts = draw_counts(0)
    assert torch.equal(counts, counts.T)
    often = counts.sum(dim=0)
    assert float(often.max() / often.min()) > 8


def test_steps_with_less_noise_end_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_one(vectors, contexts, given, noise, lr):  # type: ignore[no-untyped-def]
        return negatives_step(vectors, contexts, given, noise[:, :1], lr)

    monkeypatch.setattr(shifted_pmi, "negatives_step", with_one)
    monkeypatch.setattr(shifted_pmi, "STEPS", {"quick": 200, "full": 200})
    assert SHIFTED_PMI.check().findings[0].measured > 0.5  # with all of it, 0.094 after 200 steps
