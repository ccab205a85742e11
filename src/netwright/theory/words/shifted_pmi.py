r"""What skip-gram with k negative samples approaches: the PMI of two words, less log k.

    J = -sum_{w,c} N(w,c) log s(v_w . u_c) - k sum_{w,c} N(w) P(c) log s(-v_w . u_c)
    dJ / d(v_w . u_c) = 0   where   v_w . u_c = log(N(w,c) |pairs| / (N(w) N(c))) - log k

A chain of a few words, some of them much more frequent, is written down; its pairs of neighbours
are drawn again and again, each with k contexts of noise, and the vectors take the steps.

Shapes: V words, D features, P pairs of a step.
Source: Levy and Goldberg, "Neural Word Embedding as Implicit Matrix Factorization" (2014).
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.data.words.association import pointwise_information
from netwright.data.words.cooccurrence import count_cooccurrences
from netwright.inspection.training.claim_chart import ClaimChart, line, measured
from netwright.models.words.plain_word2vec import Predictions, negatives_step
from netwright.models.words.word_noise import POWER
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, at_most

WORDS, LENGTH = 8, 20_000  # of the vocabulary, and of the text
PAIRS, RATE = 64, 0.02  # of a step; the rate falls to 0
STEPS = {"quick": 1500, "full": 20_000}
NEAR, ALIKE = 0.1, 0.95


@dataclass(frozen=True, kw_only=True)
class ShiftedPMIConfig(Config):
    """The noise, and the vectors."""

    negatives: Annotated[int, Interval(ge=1, le=20), Doc("samples of noise a pair, k")] = 3
    noise_by_count: Annotated[
        bool,
        Assumption(f"noise is drawn by the counts of words; off, by their power {POWER:g}"),
    ] = True
    features_suffice: Annotated[
        bool, Assumption("vectors have as many features as there are words; off, they have one")
    ] = True


def draw_counts(seed: int) -> Tensor:
    """How often each two words of a chain are neighbours (V, V); some words are frequent."""
    numbers = np.random.default_rng(seed)
    often = 1 / np.arange(1, WORDS + 1) ** 1.3
    chain = often * np.exp(0.7 * numbers.standard_normal((WORDS, WORDS)))
    bounds = (chain / chain.sum(axis=1, keepdims=True)).cumsum(axis=1)
    text = np.zeros(LENGTH, dtype=np.int64)
    drawn = numbers.random(LENGTH)
    for place in range(1, LENGTH):
        found = np.searchsorted(bounds[text[place - 1]], drawn[place])
        text[place] = min(int(found), WORDS - 1)
    return torch.from_numpy(count_cooccurrences([text], WORDS, 1).toarray())


def shifted_information(counts: Tensor, negatives: int) -> Tensor:
    """PMI - log k of each pair of words (V, V); -infinity where they never meet."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - it costs a tenth of a second

    found = pointwise_information(csr_array(counts.numpy())).tocoo()
    pmi = torch.full(counts.shape, -torch.inf, dtype=torch.float64)
    pmi[torch.as_tensor(found.row).long(), torch.as_tensor(found.col).long()] = torch.as_tensor(
        found.data
    )
    return pmi - float(np.log(negatives))


def learn_products(given: ShiftedPMIConfig, counts: Tensor, steps: int, seed: int) -> Tensor:
    """v_w . u_c of all words (V, V) after so many steps on pairs that are drawn by their counts."""
    numbers = generator(seed, "shifted-pmi")
    width = WORDS if given.features_suffice else 1
    vectors, contexts = (
        torch.randn(WORDS, width, generator=numbers, dtype=torch.float64) / width**0.5
        for _ in range(2)
    )
    noise = counts.sum(dim=0) ** (1.0 if given.noise_by_count else POWER)
    for step in range(steps):
        pairs = counts.flatten().multinomial(PAIRS, True, generator=numbers)
        drawn = noise.multinomial(PAIRS * given.negatives, True, generator=numbers)
        chosen = Predictions(
            (pairs // WORDS)[:, None], torch.ones(PAIRS, 1, dtype=torch.bool), pairs % WORDS
        )
        rate = RATE * (1 - step / steps)
        negatives_step(vectors, contexts, chosen, drawn.view(PAIRS, given.negatives), rate)
    products: Tensor = vectors @ contexts.T
    return products


def measure_shifted_pmi(given: ShiftedPMIConfig, seed: int, effort: Effort) -> Verdict:
    """Compare the products with the shifted PMI, each pair as often as it occurs."""
    counts = draw_counts(seed)
    wanted = shifted_information(counts, given.negatives)
    learned = learn_products(given, counts, STEPS[effort], seed)
    meet = counts > 0
    weights, x, y = counts[meet] / counts.sum(), wanted[meet], learned[meet]
    pairs = int(meet.sum())
    centred = torch.stack((x - weights @ x, y - weights @ y))
    spread = (centred.square() @ weights).prod().sqrt()
    alike = float((centred[0] * centred[1]) @ weights / spread)
    distance = float(weights @ (x - y).abs())
    return Verdict(
        findings=(
            at_most("mean distance of v.u from PMI - log k", NEAR, distance, n=pairs),
            at_least("correlation of v.u with PMI", ALIKE, alike, n=pairs),
        ),
        chart=_chart(x, y),
    )


def _chart(wanted: Tensor, learned: Tensor) -> ClaimChart:
    ends = [float(wanted.min()), float(wanted.max())]
    return ClaimChart(
        x_label="PMI - log k",
        y_label="product of the vectors",
        series=(
            line("equal", ends, ends),
            measured("pairs of words", wanted.tolist(), learned.tolist()),
        ),
        explanation="A dot is a pair of words. Skip-gram never computes PMI, nor does it see the "
        "counts: it sees pairs and noise, one after the other.",
    )


SHIFTED_PMI = Claim(
    card=Card(
        sentence="Skip-gram with k negative samples factorises the PMI of words and contexts, "
        "shifted by log k.",
        formula=r"v_w \cdot u_c \to \log \frac{N(w, c) \, |D|}{N(w) N(c)} - \log k",
        symbols={
            "v_w": "vector of word w, (D)",
            "u_c": "vector of word c as a context, (D)",
            "N(w, c)": "how often c is a context of w",
            "|D|": "pairs in all",
            "k": "negative samples of a pair",
        },
        source="Levy and Goldberg (2014), NeurIPS",
    ),
    topic="Words",
    kind="empirical",
    settings=ShiftedPMIConfig,
    experiment=measure_shifted_pmi,
)
