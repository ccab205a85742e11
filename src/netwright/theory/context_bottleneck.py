r"""A context of fixed size cannot hold a sequence of any length; attention need not hold it.

A recurrent encoder reads n tokens. Without attention all of them must be told from its last state,
H numbers, however many they are; with attention token i is told from the state that attention reads
at place i. Both are told by the best linear map, fitted by least squares, so that nothing but the
context differs.

Shapes: N sequences, n tokens, V different tokens, H units.
Source: Cho et al., "On the Properties of Neural Machine Translation" (2014); Bahdanau, Cho and
Bengio (2014).
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor
from torch.nn.functional import one_hot

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.claim_chart import ClaimChart, measured, predicted
from netwright.layers.attention import attend
from netwright.layers.attention_scores import dot_scores
from netwright.layers.position_encoding import sinusoidal_encoding
from netwright.layers.recurrent_cells import elman_step
from netwright.layers.unrolled import unroll
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.rnn_jacobians import rotation
from netwright.theory.verdict import Verdict, at_least, at_most

LENGTHS = (4, 8, 12, 16, 20, 24)
TOKENS = 4
SEQUENCES = {"quick": 1000, "full": 10_000}  # as many again for the test
MEMORY = 0.99  # singular values of the recurrent weights
SHARP = 10.0  # how much better a place fits its own query than others
TOLD, LOST = 95.0, 75.0  # per cent of the tokens, at least and at most


@dataclass(frozen=True, kw_only=True)
class BottleneckConfig(Config):
    """The encoder, and what it reads."""

    units: Annotated[int, Interval(ge=8, le=40), Doc("H, units of the encoder")] = 32
    fixed_size: Annotated[
        bool, Assumption("the context has the same size for all lengths; else 8 units a token")
    ] = True
    independent: Annotated[
        bool, Assumption("tokens are independent; without it, all of a sequence are the same")
    ] = True


def draw_tokens(given: BottleneckConfig, count: int, length: int, rng: torch.Generator) -> Tensor:
    """Sequences of random tokens, (N, n)."""
    drawn = torch.randint(TOKENS, (count, length if given.independent else 1), generator=rng)
    return drawn.expand(count, length)


def encode(tokens: Tensor, units: int, rng: torch.Generator) -> Tensor:
    """The states (N, n, H) of a random recurrent network that forgets slowly."""
    weights = {
        "weight_ih": torch.randn(units, TOKENS, generator=rng) / units**0.5,
        "weight_hh": MEMORY * rotation(units, rng).float(),
    }
    start = (torch.zeros(len(tokens), units),)
    inputs = one_hot(tokens, TOKENS).float()
    return unroll(lambda x, state: elman_step(x, state, weights), inputs, start)[0]


def look_back(states: Tensor) -> Tensor:
    """What attention by place reads for each of n tokens, (N, n, H)."""
    places = sinusoidal_encoding(states.shape[1], 64).to(states)
    return attend(dot_scores(SHARP * places, places), states)


def percent_told(contexts: Tensor, tokens: Tensor) -> float:
    """How many tokens of the second half of sequences linear maps of the first half tell.

    Args:
        contexts: what each token is to be told from, (N, n, H).
        tokens: (N, n).
    """
    contexts = torch.cat([contexts, torch.ones_like(contexts[..., :1])], dim=2).transpose(0, 1)
    wanted = one_hot(tokens, TOKENS).float().transpose(0, 1)  # (n, N, V)
    half = len(tokens) // 2
    maps = torch.linalg.lstsq(contexts[:, :half], wanted[:, :half]).solution
    told = (contexts[:, half:] @ maps).argmax(dim=2)
    return 100 * float((told == tokens[half:].T).float().mean())


def measure_bottleneck(given: BottleneckConfig, seed: int, effort: Effort) -> Verdict:
    """Tell 4 to 24 tokens from the last state, and from what attention reads."""
    rng, count = generator(seed, "context-bottleneck"), SEQUENCES[effort]
    fixed, attending = [], []
    for length in LENGTHS:
        tokens = draw_tokens(given, 2 * count, length, rng)
        states = encode(tokens, given.units if given.fixed_size else 8 * length, rng)
        fixed.append(percent_told(states[:, -1:].expand_as(states), tokens))
        attending.append(percent_told(look_back(states), tokens))
    told = count * LENGTHS[-1]
    return Verdict(
        findings=(
            at_least(
                f"told from the last state, of {LENGTHS[0]} tokens, %",
                TOLD,
                fixed[0],
                n=count * LENGTHS[0],
            ),
            at_most(f"told from the last state, of {LENGTHS[-1]}, %", LOST, fixed[-1], n=told),
            at_least(f"told with attention, of {LENGTHS[-1]}, %", TOLD, attending[-1], n=told),
        ),
        chart=ClaimChart(
            x_label="tokens of the sequence, n",
            y_label="tokens told, %",
            series=(
                predicted("guessing", (LENGTHS[0], LENGTHS[-1]), [100 / TOKENS] * 2),
                measured("from the last state", LENGTHS, fixed),
                measured("with attention", LENGTHS, attending),
            ),
            explanation=f"{given.units} units have room for a few tokens; of more they keep the "
            "latest and a blur of the others. Attention reads each token where it stands."
            if given.fixed_size and given.independent
            else "Here the last state has room for all that there is to know.",
        ),
    )


BOTTLENECK = Claim(
    card=Card(
        sentence="What a context of fixed size can tell of a sequence falls with the length of the"
        " sequence; attention does not have this bottleneck.",
        formula=r"c = h_n \in R^H \quad \text{against} \quad c_i = \sum_j \alpha_{ij} \, h_j",
        symbols={
            "h_j": "state of the encoder after token j, (H)",
            "c": "all that is known of the sequence without attention, (H)",
            "c_i": "what attention reads for token i, (H)",
            r"\alpha_{ij}": "weights of attention, (n, n)",
        },
        source="Bahdanau, Cho and Bengio (2014), arXiv:1409.0473",
    ),
    topic="Attention",
    kind="empirical",
    settings=BottleneckConfig,
    experiment=measure_bottleneck,
)
