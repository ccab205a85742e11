"""A step of skip-gram by hand: autograd, differences, the cat and the word cute, refusals."""

import math

import pytest
import torch
from torch.nn import functional as F

from netwright.backprop.skip_gram import context_chances, skip_gram_gradient, skip_gram_step
from netwright.core.errors import ShapeError
from netwright.data.words.window_pairs import window_pairs
from tests.backprop.references import assert_equal, autograd_gradients, numbers

SENTENCE = "I saw a cute grey cat playing in the garden".split()
CAT, CUTE = SENTENCE.index("cat"), SENTENCE.index("cute")


@pytest.mark.covers("word2vec")
def test_slopes_are_those_of_autograd_and_of_differences() -> None:
    centre, contexts = numbers(4), numbers(7, 4, seed=1)

    def loss(centre: torch.Tensor, contexts: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy((contexts @ centre)[None], torch.tensor([2]))

    found = skip_gram_gradient(centre, contexts, 2)
    assert_equal(found.loss, loss(centre, contexts))
    one = torch.ones((), dtype=torch.float64)
    for slope, expected in zip(
        found[1:], autograd_gradients(loss, [centre, contexts], one), strict=True
    ):
        assert_equal(slope, expected)
    for place in range(4):
        step = torch.zeros(4, dtype=torch.float64)
        step[place] = 1e-6
        rise = loss(centre + step, contexts) - loss(centre - step, contexts)
        assert float(found.centre[place]) == pytest.approx(float(rise) / 2e-6, abs=1e-8)


def test_two_words_by_hand() -> None:
    vectors, contexts = torch.tensor([[1.0], [5.0]]), torch.tensor([[0.0], [math.log(3)]])
    assert context_chances(vectors[0], contexts).tolist() == pytest.approx([0.25, 0.75])
    moved, moved_contexts, loss = skip_gram_step(vectors, contexts, (0, 1), 0.5)
    assert float(loss) == pytest.approx(-math.log(0.75))
    # dv = -u_1 + 0.25 u_0 + 0.75 u_1, du = (0.25, -0.25) v
    assert moved.flatten().tolist() == pytest.approx([1 + 0.5 * 0.25 * math.log(3), 5])
    assert moved_contexts.flatten().tolist() == pytest.approx([-0.125, math.log(3) + 0.125])


@pytest.mark.covers("word2vec-window")
def test_a_step_for_cat_and_cute_moves_one_centre_and_all_contexts() -> None:
    vectors, contexts = numbers(10, 4), numbers(10, 4, seed=1)
    moved, moved_contexts, _ = skip_gram_step(vectors, contexts, (CAT, CUTE), 0.1)
    changed = (moved != vectors).any(dim=1)
    assert changed.nonzero().flatten().tolist() == [CAT]
    assert bool((moved_contexts != contexts).any(dim=1).all())
    products = moved_contexts @ moved[CAT] - contexts @ vectors[CAT]
    assert products[CUTE] > 0  # u_cute, not u_cat
    assert (
        context_chances(moved[CAT], moved_contexts)[CUTE]
        > context_chances(vectors[CAT], contexts)[CUTE]
    )


@pytest.mark.covers("word2vec")
def test_the_loss_falls_to_the_entropy_of_the_contexts() -> None:
    text = torch.tensor([0, 1, 0, 2, 0, 1, 0, 2])
    centres, seen = window_pairs(text, 1)
    pairs = torch.stack((centres, seen), dim=1)
    counts = torch.zeros(3, 3, dtype=torch.float64).index_put(
        (centres, seen), torch.ones(len(pairs), dtype=torch.float64), accumulate=True
    )
    chances = counts / counts.sum(dim=1, keepdim=True)
    entropy = float(-(counts / counts.sum() * chances.clamp(min=1e-300).log()).sum())
    vectors, contexts = 0.3 * numbers(3, 3), 0.3 * numbers(3, 3, seed=1)
    losses: list[float] = []
    for epoch in range(60):
        lr = 0.3 if epoch < 40 else 0.03
        losses = []
        for pair in pairs.tolist():
            vectors, contexts, loss = skip_gram_step(vectors, contexts, (pair[0], pair[1]), lr)
            losses.append(float(loss))
    assert sum(losses) / len(losses) == pytest.approx(entropy, abs=0.03)


def test_vectors_of_another_width_are_refused() -> None:
    with pytest.raises(ShapeError, match="contexts"):
        skip_gram_gradient(torch.ones(3), torch.ones(5, 2), 0)
