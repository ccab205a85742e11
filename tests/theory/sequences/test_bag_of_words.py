"""A bag of words: three sentences with one bag, and what keeps their order."""

import pytest
import torch

from netwright.data.text.bag_of_words import count_tokens
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.sequences.bag_of_words import WORD_ORDER, WordOrderConfig, bags, last_states


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(WORD_ORDER)


@pytest.mark.covers("bag-of-words-order-loss", "bag-of-words")
def test_the_three_sentences_share_one_bag_and_no_state() -> None:
    same_bag, reordered, apart = WORD_ORDER.check(size="full").findings
    assert (same_bag.measured, reordered.measured) == (1, 0)
    assert apart.measured > 0.01


def test_bags_by_hand() -> None:
    tokens = torch.tensor([[0, 2, 2]])
    assert bags(WordOrderConfig(), tokens, 3).tolist() == [[1, 0, 2]]
    pairs = bags(WordOrderConfig(single_words=False), tokens, 3).view(3, 3)
    assert pairs.nonzero().tolist() == [[0, 2], [2, 2]]


def test_a_network_reads_the_same_thing_in_the_same_sentence() -> None:
    tokens = torch.tensor([[0, 1, 2], [0, 1, 2], [2, 1, 0]])
    states = last_states(tokens, 3, seed=0)
    assert torch.equal(states[0], states[1])
    assert (states[0] - states[2]).norm() > 1e-3


def test_counts_that_look_at_the_place_turn_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_word_twice(texts, size):  # type: ignore[no-untyped-def]
        return count_tokens([[*text, text[0]] for text in texts], size)

    monkeypatch.setattr("netwright.theory.sequences.bag_of_words.count_tokens", first_word_twice)
    assert not WORD_ORDER.check().holds
