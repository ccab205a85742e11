"""One-hot words: equally far apart, and what turns the verdict."""

import math

import pytest
import torch

from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.words import one_hot
from netwright.theory.words.one_hot import ONE_HOT, OneHotConfig, word_vectors


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(ONE_HOT)


@pytest.mark.covers("one-hot-words")
def test_all_pairs_are_the_square_root_of_two_apart() -> None:
    distances, cosines = ONE_HOT.check(words=20).findings
    assert (distances.measured, cosines.measured) == (0, 0)
    assert distances.n == 20 * 19 / 2
    vectors = word_vectors(OneHotConfig(words=3), 0)
    assert float((vectors[0] - vectors[2]).norm()) == pytest.approx(math.sqrt(2))


def test_vectors_of_another_length_turn_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_hot, "word_vectors", lambda given, seed: 2 * torch.eye(given.words))
    assert not ONE_HOT.check().holds
