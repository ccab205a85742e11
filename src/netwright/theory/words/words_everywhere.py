r"""A word that every text has weighs nothing in tf-idf, however often it occurs.

    tf-idf(w, d) = N(w, d) ln(|D| / |{d in D : w in d}|) = N(w, d) ln 1 = 0

Shapes: N texts, V words.
Source: Sparck Jones, "A statistical interpretation of term specificity" (1972).
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Interval

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed
from netwright.data.words.term_documents import count_terms, weigh_terms
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, equals

VOCABULARY = 30
LENGTH = 40  # words of a text, beside the common one
COMMON = 0  # the word that every text has
TEXTS = {"quick": 50, "full": 2000}


@dataclass(frozen=True, kw_only=True)
class EverywhereConfig(Config):
    """The texts."""

    most: Annotated[
        int, Interval(ge=1, le=100), Doc("the common word occurs 1 to this many times in a text")
    ] = 20
    everywhere: Annotated[
        bool, Assumption("every text has the word; off, one of them does not")
    ] = True


def draw_texts(
    given: EverywhereConfig, count: int, rng: np.random.Generator
) -> list["np.ndarray[tuple[int], np.dtype[np.int64]]"]:
    """Texts of random words, the rarer the larger their number, and of the common word."""
    chances = 1 / np.arange(1, VOCABULARY)
    texts = [
        np.concatenate(
            (
                rng.choice(np.arange(1, VOCABULARY), LENGTH, p=chances / chances.sum()),
                np.full(rng.integers(1, given.most + 1), COMMON),
            )
        )
        for _ in range(count)
    ]
    if not given.everywhere:
        texts[0] = texts[0][texts[0] != COMMON]
    return texts


def measure_words_everywhere(given: EverywhereConfig, seed: int, effort: Effort) -> Verdict:
    """The largest weight of the common word, and of the others."""
    rng = np.random.default_rng(derive_seed(seed, "words-everywhere"))
    counts = count_terms(draw_texts(given, TEXTS[effort], rng), VOCABULARY)
    weights = weigh_terms(counts).toarray()  # (N, V)
    heaviest = weights.max(axis=0)
    return Verdict(
        findings=(
            equals("largest weight of the word", 0, float(heaviest[COMMON]), n=len(weights)),
            at_least(
                "times that the word occurs",
                len(weights),
                float(counts.toarray()[:, COMMON].sum()),
                n=len(weights),
            ),
        ),
        chart=ClaimChart(
            x_label="share of texts that have the word",
            y_label="largest tf-idf of the word",
            series=(
                predicted("in every text: 0", (1,), (0,)),
                measured("a word", (counts.toarray() > 0).mean(axis=0), heaviest),
            ),
            explanation="Each dot is a word. The one at the right is in every text, and its weight "
            "is 0, however often it occurs.",
        ),
    )


EVERYWHERE = Claim(
    card=Card(
        sentence="A word that every text has weighs 0 in tf-idf, however often it occurs.",
        formula=r"N(w, d) \, \ln \frac{|D|}{|\{d \in D : w \in d\}|} = 0",
        symbols={
            "N(w, d)": "how often word w occurs in text d",
            "D": "the texts",
        },
        source="Sparck Jones (1972), Journal of Documentation 28, 11-21",
    ),
    topic="Words",
    kind="theorem",
    settings=EverywhereConfig,
    experiment=measure_words_everywhere,
)
