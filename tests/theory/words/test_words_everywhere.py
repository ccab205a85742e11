"""A word that every text has: it weighs 0, and a smoothed weight turns the verdict."""

import numpy as np
import pytest

from netwright.data.words import term_documents
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.words.words_everywhere import (
    COMMON,
    EVERYWHERE,
    EverywhereConfig,
    draw_texts,
)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(EVERYWHERE)


@pytest.mark.covers("tf-idf")
def test_the_word_weighs_nothing_though_it_occurs_most() -> None:
    weight, times = EVERYWHERE.check().findings
    assert weight.measured == 0
    assert times.measured > 5 * times.n


def test_texts_have_the_word_or_one_has_not() -> None:
    for everywhere in (True, False):
        given = EverywhereConfig(everywhere=everywhere)
        texts = draw_texts(given, 9, np.random.default_rng(0))
        assert sum(COMMON in text for text in texts) == 9 - (not everywhere)


def test_a_logarithm_of_one_more_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = term_documents.inverse_document_frequencies
    monkeypatch.setattr(
        term_documents, "inverse_document_frequencies", lambda counts: plain(counts) + 1
    )
    assert not EVERYWHERE.check().holds
