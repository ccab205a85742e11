r"""Counts know topics: LSA groups texts, and PPMI groups words, by what they are about.

    texts: U_k S_k of tf-idf (N, V)         words: U_k S_k of PPMI (V, V)

Texts of two topics are made of words of their own and of common ones; nobody says which is which.

Shapes: N texts, V words, K = 2 dimensions.
Source: Deerwester et al., "Indexing by Latent Semantic Analysis" (1990); Levy and Goldberg (2014).
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed
from netwright.data.words.association import positive_information
from netwright.data.words.cooccurrence import Words, count_cooccurrences
from netwright.data.words.latent_space import Floats, factor_matrix
from netwright.data.words.term_documents import count_terms, weigh_terms
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import ClaimFinding, Verdict, at_least, at_most

TEXTS = {"quick": 60, "full": 1000}
LENGTH = 60  # words of a text
OWN, COMMON = 15, 5  # words of each topic, and of both
WINDOW = 5
WITHIN, ACROSS = 0.9, 0.2  # what the claim says of cosines


@dataclass(frozen=True, kw_only=True)
class TopicGroupsConfig(Config):
    """The texts."""

    common: Annotated[
        float, Interval(ge=0, le=0.5), Doc("share of words that both topics have")
    ] = 0.2
    own_words: Annotated[
        bool, Assumption("topics have words of their own; off, both draw from all words")
    ] = True


def draw_texts(
    given: TopicGroupsConfig, count: int, rng: np.random.Generator
) -> tuple[list[Words], "np.ndarray[tuple[int], np.dtype[np.int64]]"]:
    """Texts and their topics (N,), 0 and 1 by turns; words 0 to 14 are of topic 0, then of 1."""
    topics = np.arange(count) % 2
    texts: list[Words] = []
    for topic in topics:
        own = (
            rng.integers(OWN, size=LENGTH) + OWN * topic
            if given.own_words
            else rng.integers(2 * OWN, size=LENGTH)
        )
        both = rng.integers(2 * OWN, 2 * OWN + COMMON, size=LENGTH)
        texts.append(np.where(rng.random(LENGTH) < given.common, both, own))
    return texts, topics


def mean_cosines(vectors: Floats, groups: Words) -> tuple[float, float]:
    """The mean cosine of two vectors (N, D) of one group, and of two of different groups."""
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    cosines = units @ units.T
    same = groups[:, None] == groups
    others = ~np.eye(len(groups), dtype=bool)
    return float(cosines[same & others].mean()), float(cosines[~same].mean())


def measure_topic_groups(given: TopicGroupsConfig, seed: int, effort: Effort) -> Verdict:
    """Cosines of texts by LSA and of words by PPMI, within a topic and across."""
    rng = np.random.default_rng(derive_seed(seed, "topic-groups"))
    texts, topics = draw_texts(given, TEXTS[effort], rng)
    size = 2 * OWN + COMMON
    by_text = factor_matrix(weigh_terms(count_terms(texts, size)), 2, seed=seed)
    associations = positive_information(count_cooccurrences(texts, size, WINDOW))
    by_word = factor_matrix(associations, 2, seed=seed)
    cosines = {
        "texts by LSA": mean_cosines(by_text.row_vectors, topics),
        "words by PPMI": mean_cosines(by_word.row_vectors[: 2 * OWN], np.arange(2 * OWN) // OWN),
    }
    counts = {"texts by LSA": len(texts), "words by PPMI": 2 * OWN}
    findings: list[ClaimFinding] = []
    for what, (within, across) in cosines.items():
        n = counts[what]
        findings += [
            at_least(f"mean cosine of {what}, within a topic", WITHIN, within, n=n),
            at_most(f"mean cosine of {what}, across topics", ACROSS, across, n=n),
        ]
    places = range(len(cosines))
    return Verdict(
        findings=tuple(findings),
        chart=ClaimChart(
            x_label="",
            y_label="mean cosine",
            series=(
                predicted("least within a topic", places, [WITHIN] * len(cosines)),
                predicted("most across topics", places, [ACROSS] * len(cosines)),
                measured("within a topic", places, [pair[0] for pair in cosines.values()]),
                measured("across topics", places, [pair[1] for pair in cosines.values()]),
            ),
            explanation="In two dimensions, texts and words of one topic point the same way, those "
            "of different topics do not. No topic was ever named."
            if given.own_words
            else "Where both topics draw from all words there is nothing to tell them by.",
            categories=tuple(cosines),
        ),
    )


TOPIC_GROUPS = Claim(
    card=Card(
        sentence="Latent semantics of texts and PPMI of words group them by topic, without being "
        "told one.",
        formula=r"M \approx U_k S_k V_k^T, \quad W = U_k S_k",
        symbols={
            "M": "tf-idf of texts and words, or PPMI of words and contexts",
            "U_k, S_k, V_k": "the k largest singular values, with their vectors",
            "W": "vectors of texts or words",
        },
        source="Deerwester et al. (1990), JASIS 41, 391-407",
    ),
    topic="Words",
    kind="empirical",
    settings=TopicGroupsConfig,
    experiment=measure_topic_groups,
)
