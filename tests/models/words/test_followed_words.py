"""Words that are followed: neither the first nor unknown ones, and who is near them."""

import numpy as np
import torch

from netwright.models.words.followed_words import (
    FOLLOWED,
    NOTED,
    followed_words,
    nearest_words,
    noted_epochs,
)
from tests.models.words.test_word2vec import build, company, own_home  # noqa: F401 - a fixture


def test_epochs_are_spread_from_the_first_to_the_last() -> None:
    assert noted_epochs(1) == [1]
    assert noted_epochs(5) == [1, 2, 3, 4, 5]
    many = noted_epochs(10**9)
    assert (many[0], many[-1], len(many)) == (1, 10**9, NOTED)


def test_words_are_of_several_ranks_and_occur() -> None:
    counts = np.zeros(5000, dtype=np.int64)
    counts[4:4004] = np.arange(4000, 0, -1)
    found = followed_words(counts)
    assert len(found) == len(set(found.tolist())) == FOLLOWED
    assert found.min() == 4 + 60
    assert found.max() == 4 + 3000
    few = followed_words(np.array([0, 0, 0, 0, 3, 9, 0]))
    assert set(few.tolist()) <= {4, 5}


def test_the_nearest_have_the_largest_cosines_and_are_words() -> None:
    vectors = torch.tensor([[1.0, 0], [1, 0], [1, 0], [1, 0], [2, 0], [1, 1], [0, 3], [-1, 0]])
    assert nearest_words(vectors, torch.tensor([4, 6]), 2).tolist() == [[5, 6], [5, 4]]


def test_neighbours_are_noted_after_each_epoch_and_survive_a_resume() -> None:
    whole, cut = (build(13, version="plain", window=1, epochs=3, lr=0.1) for _ in range(2))
    assert not whole.nearest.any()
    for _ in whole.fit_steps(company(), 0):
        pass
    assert bool((whole.nearest >= 4).all())
    next(iter(cut.fit_steps(company(), 0)))
    assert bool((cut.nearest[0] >= 4).all())
    assert not cut.nearest[1:].any()
    again = build(13, version="plain", window=1, epochs=3, lr=0.1)
    again.load_state_dict(cut.state_dict())
    for _ in again.fit_steps_from(company(), 0, 1):
        pass
    assert torch.equal(again.nearest, whole.nearest)
    assert torch.equal(again.followed, whole.followed)
