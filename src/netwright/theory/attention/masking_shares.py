r"""BERT's masks: of all tokens 15 % are chosen; of these 80 % are covered, 10 % exchanged.

The masks are those that pre-training draws (`data/text/pretraining/masking.py`), on tokens drawn
evenly. An exchanged token may by chance be the true one: that happens once in as many times as
there are tokens, and is counted as unchanged.

Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018), section 3.1.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.core.seeding import generator
from netwright.data.spec import IGNORED
from netwright.data.text.pretraining.masking import mask_tokens
from netwright.data.text.tokenizer import SPECIALS
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, equals

LENGTH = 500  # tokens of a text
SHARES = (0.15, 0.8, 0.1, 0.1)
NAMES = ("chosen", "covered", "exchanged", "as it was")
ALLOWED = (0.005, 0.01, 0.01, 0.01)  # off by so much at most


@dataclass(frozen=True, kw_only=True)
class MaskingSharesConfig(Config):
    """How many tokens are looked at."""

    tokens: Annotated[Size, Doc("tokens, in texts of 500")] = 100_000
    vocabulary: Annotated[Size, Doc("different tokens")] = 8_000
    words: Annotated[
        bool, Assumption("all tokens are words; without it, half are special, which none covers")
    ] = True


def draw_texts(given: MaskingSharesConfig, random: torch.Generator) -> Tensor:
    """Texts (B, T) of words, or with special tokens at every second place."""
    shape = (max(1, given.tokens // LENGTH), LENGTH)
    last = len(SPECIALS) + given.vocabulary
    texts = torch.randint(len(SPECIALS), last, shape, generator=random)
    if not given.words:
        texts[:, ::2] = 0
    return texts


def measure_masking_shares(given: MaskingSharesConfig, seed: int, effort: Effort) -> Verdict:
    """Mask texts once, and count."""
    random = generator(seed, "masking-shares")
    texts = draw_texts(given, random)
    mask = len(SPECIALS) + given.vocabulary
    inputs, targets = mask_tokens(texts, mask, random)
    chosen = targets != IGNORED
    covered, same = inputs == mask, chosen & (inputs == texts)
    counts = [int(part.sum()) for part in (chosen, covered, chosen & ~covered & ~same, same)]
    of = [texts.numel(), *[max(1, counts[0])] * 3]
    found = [count / total for count, total in zip(counts, of, strict=True)]
    places = range(len(NAMES))
    return Verdict(
        findings=tuple(
            equals(f"share that is {name}", share, got, within=allowed, n=total)
            for name, share, got, allowed, total in zip(
                NAMES, SHARES, found, ALLOWED, of, strict=True
            )
        ),
        chart=ClaimChart(
            x_label="tokens",
            y_label="share",
            series=(predicted("as published", places, SHARES), measured("drawn", places, found)),
            explanation="Of all tokens those that are chosen; of these the ones that are covered "
            "by [MASK], exchanged for another token, or left as they were.",
            categories=NAMES,
        ),
    )


MASKING_SHARES = Claim(
    card=Card(
        sentence="BERT is asked for 15 % of the tokens, of which 80 % are masked, 10 % replaced by "
        "another token and 10 % left as they are.",
        formula=r"p(\text{chosen}) = 0.15, \quad p(\text{[MASK]}) = 0.8, \quad"
        r" p(\text{other}) = p(\text{same}) = 0.1",
        symbols={
            r"p(\text{chosen})": "of all tokens that are no special ones",
            r"p(\text{[MASK]})": "of those that were chosen, as the two others",
        },
        source="Devlin et al. (2018), arXiv 1810.04805, section 3.1",
    ),
    topic="Attention",
    kind="theorem",
    settings=MaskingSharesConfig,
    experiment=measure_masking_shares,
)
