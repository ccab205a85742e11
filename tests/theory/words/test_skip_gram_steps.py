"""Steps of skip-gram: contexts become likely, cat comes to dog, and what turns the verdict."""

import pytest
import torch

from netwright.backprop import skip_gram
from netwright.backprop.skip_gram import SkipGramGradient
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.words import skip_gram_steps
from netwright.theory.words.skip_gram_steps import ALIKE, SKIP_GRAM_STEPS, pairs_of


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(SKIP_GRAM_STEPS)


@pytest.mark.covers("word2vec")
def test_no_step_fails_and_interchangeable_words_end_together() -> None:
    worse, near, far = SKIP_GRAM_STEPS.check(1).findings
    assert worse.measured == 0 and worse.n > 500
    assert near.measured > 0.9
    assert far.measured < 0.5


def test_cat_and_dog_have_the_same_contexts_and_never_meet() -> None:
    words, pairs = pairs_of(ALIKE)
    seen = {
        name: sorted(pairs[pairs[:, 0] == words.index(name)][:, 1].tolist())
        for name in ("cat", "dog")
    }
    assert seen["cat"] == seen["dog"]
    assert words.index("dog") not in seen["cat"]


def test_slopes_of_the_wrong_sign_turn_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    step = skip_gram.skip_gram_step
    monkeypatch.setattr(
        skip_gram_steps,
        "skip_gram_step",
        lambda vectors, contexts, pair, lr: step(vectors, contexts, pair, -lr),
    )
    assert SKIP_GRAM_STEPS.check().findings[0].measured > 0


def test_a_loss_that_is_no_number_counts_against_the_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing = SkipGramGradient(torch.tensor(torch.nan), torch.zeros(1), torch.zeros(1))
    monkeypatch.setattr(skip_gram_steps, "skip_gram_gradient", lambda *given: nothing)
    worse = SKIP_GRAM_STEPS.check().findings[0]
    assert worse.measured == worse.n
