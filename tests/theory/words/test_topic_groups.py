"""Topics by counts: cosines by hand, and what turns the verdict."""

import numpy as np
import pytest

from netwright.data.words import latent_space
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.words import topic_groups
from netwright.theory.words.topic_groups import (
    TOPIC_GROUPS,
    TopicGroupsConfig,
    draw_texts,
    mean_cosines,
)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(TOPIC_GROUPS)


@pytest.mark.covers("lsa", "pmi-ppmi")
def test_texts_and_words_of_a_topic_point_the_same_way() -> None:
    for seed in range(3):
        verdict = TOPIC_GROUPS.check(seed)
        assert [finding.margin > 0.05 for finding in verdict.findings] == [True] * 4


@pytest.mark.covers("cosine-similarity")
def test_cosines_by_hand() -> None:
    vectors = np.array([[1.0, 0], [1, 1], [0, 5]])
    within, across = mean_cosines(vectors, np.array([0, 0, 1]))
    assert within == pytest.approx(0.7071, abs=1e-4)
    assert across == pytest.approx((0 + 0.7071) / 2, abs=1e-4)
    assert mean_cosines(7 * vectors, np.array([0, 0, 1])) == pytest.approx((within, across))


def test_words_of_a_text_are_of_its_topic_or_common() -> None:
    texts, topics = draw_texts(TopicGroupsConfig(), 6, np.random.default_rng(0))
    for text, topic in zip(texts, topics, strict=True):
        assert set(text[text < 30] // 15) == {topic}
        assert (text < 35).all() and (text >= 30).any()


def test_vectors_that_say_nothing_turn_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    factor = latent_space.factor_matrix

    def first_alone(matrix, dimensions, seed):  # type: ignore[no-untyped-def]
        return factor(matrix, 1, seed=seed)

    monkeypatch.setattr(topic_groups, "factor_matrix", first_alone)
    assert not TOPIC_GROUPS.check().holds
