"""Pairs of segments: half follow, none is told by its length, and nothing is lost in silence."""

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.text.pretraining.sentence_pairs import DOES_NOT, FOLLOWS, pair_sentences


def random(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_half_of_the_pairs_follow_each_other_and_no_other_does() -> None:
    documents = [list(range(1000 * one, 1000 * one + 40)) for one in range(1, 11)]
    pairs = pair_sentences(documents, 5, random())
    assert pairs.first.shape == pairs.second.shape == (40, 5)
    follows = pairs.second[:, 0] == pairs.first[:, -1] + 1
    assert torch.equal(pairs.labels == FOLLOWS, follows)
    assert int((pairs.labels == DOES_NOT).sum()) == 20
    told = torch.cat((pairs.first, pairs.second)).flatten().sort().values  # each exactly once
    assert told.tolist() == [token for document in documents for token in document]
    assert (pairs.left_out, pairs.joined) == (0, 0)


def test_short_documents_are_joined_and_what_fills_no_pair_is_counted() -> None:
    documents = [[1] * 3, [2] * 5, [3] * 8, [4] * 9, [5] * 8, [6] * 2]
    pairs = pair_sentences(documents, 4, random())
    assert pairs.joined == 3  # 3 and 5 make one, the last 2 go to the one before them
    assert len(pairs.labels) == 4
    assert pairs.left_out == 35 - 4 * 8
    assert set(pairs.first.flatten().tolist()) | set(pairs.second.flatten().tolist()) == {
        *range(1, 6)
    }


def test_pairs_follow_the_generator() -> None:
    documents = [list(range(200))]
    one, same, other = (pair_sentences(documents, 5, random(seed)) for seed in (0, 0, 1))
    assert torch.equal(one.second, same.second)
    assert not torch.equal(one.labels, other.labels)


def test_too_little_text_is_refused() -> None:
    sentence = "^at least 4 pairs of segments of 5 tokens are needed, 10 tokens give 1; give"
    with pytest.raises(DataError, match=sentence):
        pair_sentences([list(range(10))], 5, random())
    with pytest.raises(DataError, match=r", 3 tokens give 0;"):
        pair_sentences([[1, 2, 3]], 5, random())
