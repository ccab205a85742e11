r"""A bag of words has lost who chases whom: it counts words, and sums do not know an order.

    c_v = sum_t 1{w_t = v}

Shapes: N sentences, T words, V words of the vocabulary.
Source: Harris, "Distributional Structure" (1954).
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed, generator, seeded
from netwright.data.text.bag_of_words import count_tokens
from netwright.data.text.word_tokenizer import WordTokenizer
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import ELMAN
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, equals, no_violations

SENTENCES = ("The dog chases the cat", "The cat chases the dog", "cat dog chases The the")
RANDOM = {"quick": 100, "full": 1000}
VOCABULARY = 50
UNITS = 16
APART = 1e-3  # of two states, which are otherwise of size 1


@dataclass(frozen=True, kw_only=True)
class WordOrderConfig(Config):
    """What is counted."""

    words: Annotated[int, Interval(ge=2, le=100), Doc("T, words of a random sentence")] = 8
    single_words: Annotated[
        bool, Assumption("single words are counted; without it, pairs of neighbours are")
    ] = True


def bags(given: WordOrderConfig, tokens: Tensor, size: int) -> Tensor:
    """Counts of the words (N, T) of each sentence, or of its pairs of neighbours."""
    if given.single_words:
        return count_tokens(tokens.tolist(), size)
    pairs = tokens[:, :-1] * size + tokens[:, 1:]
    return count_tokens(pairs.tolist(), size**2)


def last_states(tokens: Tensor, size: int, seed: int) -> Tensor:
    """What a random recurrent network has in mind after sentences (N, T), (N, H)."""
    with seeded(derive_seed(seed, "word-order")):
        network = RecurrentStack(ELMAN, size, UNITS)
    with torch.no_grad():
        _, (state,) = network(torch.nn.functional.one_hot(tokens, size).float())
    last: Tensor = state[:, 0]
    return last


def measure_word_order(given: WordOrderConfig, seed: int, effort: Effort) -> Verdict:
    """Three sentences of the same words, and random sentences in a random other order."""
    rng = generator(seed, "word-order")
    tokenizer = WordTokenizer.fit(SENTENCES, lower=True)
    tokens = torch.tensor(tokenizer.encode_all(SENTENCES))
    three = bags(given, tokens, tokenizer.size)
    different = {tuple(bag) for bag in three.tolist()}
    states = last_states(tokens, tokenizer.size, seed)
    shape = (RANDOM[effort], given.words)
    drawn = torch.randint(VOCABULARY, shape, generator=rng)
    mixed = drawn.gather(1, torch.rand(shape, generator=rng).argsort(dim=1))
    changed = (bags(given, drawn, VOCABULARY) != bags(given, mixed, VOCABULARY)).any(dim=1)
    return Verdict(
        findings=(
            equals("different bags of the three sentences", 1, len(different), n=len(three)),
            no_violations(
                "random sentences whose bag changes with the order",
                int(changed.sum()),
                n=len(changed),
            ),
            at_least(
                "least distance of two sentences by a recurrent network",
                APART,
                float(torch.nn.functional.pdist(states).min()),
                n=len(states),
            ),
        ),
        chart=_chart(given, three, states),
    )


def _chart(given: WordOrderConfig, counts: Tensor, states: Tensor) -> ClaimChart:
    """How far each sentence is from the first."""
    places = range(len(SENTENCES))
    kind = "bag of words" if given.single_words else "bag of pairs of words"
    return ClaimChart(
        x_label="",
        y_label="distance from the first sentence",
        series=(
            predicted("no distance", places, [0.0] * len(SENTENCES)),
            measured(kind, places, (counts - counts[0]).norm(dim=1)),
            measured("state of a recurrent network", places, (states - states[0]).norm(dim=1)),
        ),
        explanation="The three sentences have the same words. Their bags are one and the same; a "
        "recurrent network, even with random weights, reads three different things."
        if given.single_words
        else "Pairs of neighbouring words keep some of the order, and the sentences come apart.",
        categories=tuple(sentence.replace(" chases ", "\nchases ") for sentence in SENTENCES),
    )


WORD_ORDER = Claim(
    card=Card(
        sentence="A bag of words cannot tell “The dog chases the cat” from “The cat chases the"
        " dog”, nor any sentence from another of the same words.",
        formula=r"c_v = \sum_t 1\{w_t = v\} = \sum_t 1\{w_{\pi(t)} = v\}",
        symbols={
            "c_v": "how often word v of the vocabulary occurs",
            "w_t": "word t of the sentence",
            r"\pi": "any reordering",
        },
        source="Harris (1954), Word 10, 146-162",
    ),
    topic="Sequences",
    kind="theorem",
    settings=WordOrderConfig,
    experiment=measure_word_order,
)
