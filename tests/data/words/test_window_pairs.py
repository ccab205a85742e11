"""Pairs of a centre and its contexts: the sentence of the cat, brute force, reaches, refusals."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.data.words.window_pairs import window_pairs

SENTENCE = "I saw a cute grey cat playing in the garden".split()


@pytest.mark.covers("word2vec-window")
def test_the_contexts_of_the_cat() -> None:
    centres, contexts = window_pairs(torch.arange(len(SENTENCE)), 2)
    cat = SENTENCE.index("cat")
    found = [SENTENCE[context] for context in contexts[centres == cat].tolist()]
    assert found == ["cute", "grey", "playing", "in"]


def test_pairs_are_those_of_two_loops() -> None:
    words = torch.tensor([3, -1, 0, 2, 2, 1])
    reaches = torch.tensor([1, 2, 3, 1, 3, 2])
    for window, given in ((1, None), (3, None), (3, reaches)):
        wanted = [
            (int(word), int(words[other]))
            for place, word in enumerate(words)
            for other in range(len(words))
            if 0 < abs(place - other) <= (window if given is None else int(given[place]))
            and word >= 0
            and words[other] >= 0
        ]
        centres, contexts = window_pairs(words, window, given)
        assert list(zip(centres.tolist(), contexts.tolist(), strict=True)) == wanted


def test_a_text_without_neighbours_has_no_pairs() -> None:
    for text in ([], [1], [-1, -1]):
        centres, _ = window_pairs(torch.tensor(text, dtype=torch.int64), 4)
        assert len(centres) == 0
    with pytest.raises(ConfigError, match="window"):
        window_pairs(torch.tensor([1, 2]), 0)


def test_all_is_made_where_the_words_lie() -> None:
    words = torch.arange(4)
    with torch.device("meta"):  # what is made without a device would hold nothing
        centres, contexts = window_pairs(words, 1)
    assert centres.tolist() == [0, 1, 1, 2, 2, 3]
    assert contexts.tolist() == [1, 0, 2, 1, 3, 2]
