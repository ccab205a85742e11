r"""One-hot vectors know no meaning: every word is as far from every other.

    |e_i - e_j| = sqrt(2),   cos(e_i, e_j) = 0        for all i != j

Shapes: V words.
Source: Bengio et al., "A Neural Probabilistic Language Model" (2003), section 1.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most

SHOWN = 100  # pairs in the chart
TOLERANCE = 1e-12


@dataclass(frozen=True, kw_only=True)
class OneHotConfig(Config):
    """The vocabulary."""

    words: Annotated[int, Interval(ge=2, le=500), Doc("V, words of the vocabulary")] = 100
    one_hot: Annotated[
        bool,
        Assumption("each word has a dimension of its own; off, vectors are drawn at random"),
    ] = True


def word_vectors(given: OneHotConfig, seed: int) -> Tensor:
    """One-hot (V, V), or random ones of length 1."""
    if given.one_hot:
        return torch.eye(given.words, dtype=torch.float64)
    numbers = generator(seed, "one-hot")
    return F.normalize(
        torch.randn(given.words, given.words, generator=numbers, dtype=torch.float64)
    )


def measure_one_hot(given: OneHotConfig, seed: int, effort: Effort) -> Verdict:
    """The distances and cosines of all pairs of words."""
    vectors = word_vectors(given, seed)
    pairs = torch.triu_indices(given.words, given.words, offset=1)
    first, second = vectors[pairs[0]], vectors[pairs[1]]
    distances = (first - second).norm(dim=1)
    cosines = F.cosine_similarity(first, second)
    count = len(distances)
    return Verdict(
        findings=(
            at_most(
                "largest difference of a distance from the square root of 2",
                TOLERANCE,
                float((distances - math.sqrt(2)).abs().max()),
                n=count,
            ),
            at_most("largest cosine of two words", TOLERANCE, float(cosines.abs().max()), n=count),
        ),
        chart=ClaimChart(
            x_label="pair of words",
            y_label="distance",
            series=(
                predicted("square root of 2", (0, min(count, SHOWN)), (math.sqrt(2),) * 2),
                measured("distance of two words", range(SHOWN), distances[:SHOWN].tolist()),
            ),
            explanation="Each dot is a pair of words. Their one-hot vectors are equally far apart, "
            "whatever the words mean.",
        ),
    )


ONE_HOT = Claim(
    card=Card(
        sentence="One-hot vectors of words are all equally far apart: cat is as far from dog as "
        "from table.",
        formula=r"|e_i - e_j| = \sqrt{2}, \quad e_i \cdot e_j = 0 \quad (i \neq j)",
        symbols={"e_i": "the vector of word i: 1 at place i, else 0, (V)"},
        source="Bengio et al. (2003), JMLR 3, 1137-1155",
    ),
    topic="Words",
    kind="theorem",
    settings=OneHotConfig,
    experiment=measure_one_hot,
)
