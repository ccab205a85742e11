r"""Each step of skip-gram makes the context it saw more likely, and words used alike come together.

    v_c <- v_c - lr dJ/dv_c,   u_w <- u_w - lr dJ/du_w,   J = -log P(o | c)

Steps of one pair (centre c, context o) with the whole softmax, on a small corpus in which "cat" and
"dog" stand in the same places, and "sun" in others.

Shapes: V words, D features.
Source: Mikolov et al., "Efficient Estimation of Word Representations in Vector Space" (2013).
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor
from torch.nn import functional as F

from netwright.backprop.skip_gram import skip_gram_gradient, skip_gram_step
from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.data.words.window_pairs import window_pairs
from netwright.inspection.training.claim_chart import ClaimChart, line
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, at_most, no_violations

ALIKE = ("the cat drinks milk", "the dog drinks milk", "a cat chases mice", "a dog chases mice")
APART = ("the sun shines bright", "a sun burns high")
OTHERWISE = ("one dog barks loud", "my dog runs home")  # where cat and dog are not used alike
WINDOW = 2
FEATURES, SPREAD = 16, 0.3  # of the vectors, and of their first numbers
PASSES = {"quick": 16, "full": 100}
LARGE = 40.0  # a step that overshoots
COSINE, APART_COSINE = 0.9, 0.5


@dataclass(frozen=True, kw_only=True)
class SkipGramStepsConfig(Config):
    """The steps, and the corpus."""

    lr: Annotated[float, Interval(gt=0, le=1), Doc("the size of a step")] = 0.25
    small_steps: Annotated[
        bool, Assumption(f"steps are small; off, the size of a step is {LARGE:g}")
    ] = True
    used_alike: Annotated[
        bool, Assumption("cat and dog are used alike; off, they have no context in common")
    ] = True


def pairs_of(sentences: tuple[str, ...]) -> tuple[list[str], Tensor]:
    """The words of the sentences, and all pairs (P, 2) of a centre and a context."""
    words = sorted({word for sentence in sentences for word in sentence.split()})
    pairs = [
        torch.stack(
            window_pairs(torch.tensor([words.index(word) for word in one.split()]), WINDOW), dim=1
        )
        for one in sentences
    ]
    return words, torch.cat(pairs)


def measure_skip_gram_steps(given: SkipGramStepsConfig, seed: int, effort: Effort) -> Verdict:
    """Count steps after which the context is not more likely; then compare the words."""
    alike = ALIKE if given.used_alike else (*ALIKE[0::2], *OTHERWISE)
    words, pairs = pairs_of((*alike, *APART))
    numbers = generator(seed, "skip-gram-steps")
    vectors, contexts = (
        SPREAD * torch.randn(len(words), FEATURES, generator=numbers, dtype=torch.float64)
        for _ in range(2)
    )
    lr = given.lr if given.small_steps else LARGE
    worse = steps = 0
    cosines: list[tuple[float, float]] = []
    for _ in range(PASSES[effort]):
        for place in torch.randperm(len(pairs), generator=numbers).tolist():
            centre, seen = pairs[place].tolist()
            vectors, contexts, before = skip_gram_step(vectors, contexts, (centre, seen), lr)
            after = skip_gram_gradient(vectors[centre], contexts, seen).loss
            worse += not bool(after < before)  # NaN is not lower either
            steps += 1
        cat, dog, sun = (vectors[words.index(word)] for word in ("cat", "dog", "sun"))
        cosines.append((_cosine(cat, dog), _cosine(cat, sun)))
    near, far = cosines[-1]
    return Verdict(
        findings=(
            no_violations("steps after which the context is not more likely", worse, n=steps),
            at_least("cosine of cat and dog", COSINE, near, n=steps),
            at_most("cosine of cat and sun", APART_COSINE, far, n=steps),
        ),
        chart=_chart(cosines),
    )


def _cosine(first: Tensor, second: Tensor) -> float:
    return float(F.cosine_similarity(first, second, dim=0))


def _chart(cosines: list[tuple[float, float]]) -> ClaimChart:
    passes = range(1, len(cosines) + 1)
    return ClaimChart(
        x_label="passes over the corpus",
        y_label="cosine of two vectors",
        series=(
            line("cat and dog", passes, [pair[0] for pair in cosines]),
            line("cat and sun", passes, [pair[1] for pair in cosines]),
        ),
        explanation="Cat and dog are never seen together. They come to point the same way since "
        "the same words stand around them; those around the sun are others.",
    )


SKIP_GRAM_STEPS = Claim(
    card=Card(
        sentence="A small step of skip-gram makes the context that it saw more likely, and words "
        "that are used alike come to have like vectors.",
        formula=r"P(o \mid c) = \frac{e^{u_o \cdot v_c}}{\sum_w e^{u_w \cdot v_c}}, \quad"
        r" v_c \leftarrow v_c + \eta \left(u_o - \sum_w P(w \mid c) u_w\right)",
        symbols={
            "v_c": "vector of the centre word c, (D)",
            "u_w": "vector of word w as a context, (D)",
            "o": "the context that was seen",
            r"\eta": "size of a step",
        },
        source="Mikolov et al. (2013), arXiv:1301.3781",
        misprint="The step is sometimes said to raise the product of the centre with its own "
        "context vector. It raises the product with the context vector of the word that was seen.",
    ),
    topic="Words",
    kind="empirical",
    settings=SkipGramStepsConfig,
    experiment=measure_skip_gram_steps,
)
