r"""A context of fixed size cannot hold a sequence of any length; attention need not hold it.

A recurrent encoder reads n tokens. Without attention all of them must be told from its last state,
H numbers, however many they are; with attention token i is told from the state that attention reads
at place i. Both are told by the best linear map, fitted by least squares, so that nothing but the
context differs. In full size the encoder-decoder is also trained, once, to say strings of 2 to 12
letters backwards.

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
from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.data.spec import IGNORED
from netwright.data.text.tokenizer import BOS, EOS, PAD
from netwright.decoding.source_decoder import say_greedily
from netwright.inspection.training.claim_chart import ClaimChart, Series, line, measured, predicted
from netwright.layers.attention.attention import attend
from netwright.layers.attention.attention_scores import dot_scores
from netwright.layers.attention.position_encoding import sinusoidal_encoding
from netwright.layers.recurrence.recurrent_cells import elman_step
from netwright.layers.recurrence.unrolled import unroll
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.sequences.rnn_jacobians import rotation
from netwright.theory.trained_measures import build_named, trained_measures
from netwright.theory.verdict import ClaimFinding, Estimate, Verdict, at_least, at_most, estimate

LENGTHS = (4, 8, 12, 16, 20, 24)
TOKENS = 4
SEQUENCES = {"quick": 500, "full": 5000}  # as many again for the test
ENCODERS = {"quick": 3, "full": 5}  # drawn anew
MEMORY = 0.99  # singular values of the recurrent weights
SHARP = 10.0  # how much better a place fits its own query than others
TOLD, LOST = 95.0, 75.0  # per cent, at least and at most
REVERSED = {"length": 12, "min_length": 2, "symbols": 8, "n": 20_000}
SHORT = 4  # letters that also the state without attention has room for
TRAINING = {
    "lr": 1e-2,
    "schedule": "cosine",
    "clip_norm": 1.0,
    "batch_size": 64,
    "epochs": 2,
    "max_steps": 500,
}


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


def source_lengths(data: Data) -> Tensor:
    """Letters of the test strings, (N,)."""
    sources: Tensor = data.split("test").inputs[:, : data.spec.source_length]
    return (sources != PAD).sum(dim=1)


@torch.no_grad()
def percent_reversed(data: Data, attention: str, seed: int) -> dict[int, float]:
    """How many strings a trained encoder-decoder says backwards without a fault, by length."""
    model = build_named(
        "encoder-decoder", data, seed=seed, attention=attention, hidden=64, embedding=32
    )
    with torch.enable_grad():
        trained_measures(model, data, seed=seed, train=TRAINING)
    test, source_length = data.split("test"), data.spec.source_length
    sources = test.inputs[:, :source_length]
    said = say_greedily(model.eval(), sources, test.targets.shape[1], begin=BOS, end=EOS)  # type: ignore[arg-type]
    right = ((said == test.targets) | (test.targets == IGNORED)).all(dim=1)
    lengths = source_lengths(data)
    return {
        length: 100 * float(right[lengths == length].float().mean())
        for length in range(SHORT, source_length + 1, 2)
    }


def measure_bottleneck(given: BottleneckConfig, seed: int, effort: Effort) -> Verdict:
    """Tell 4 to 24 tokens from the last state, and from what attention reads."""
    rng = generator(seed, "context-bottleneck")
    fixed, attending = [], []
    for length in LENGTHS:
        pairs = [
            told_without_and_with(given, length, SEQUENCES[effort], rng)
            for _ in range(ENCODERS[effort])
        ]
        plain, with_attention = zip(*pairs, strict=True)
        fixed.append(estimate(plain))
        attending.append(estimate(with_attention))
    trained, findings = _trained(seed) if effort == "full" else ((), ())
    return Verdict(
        findings=(
            at_least(
                f"told from the last state, of {LENGTHS[0]} tokens, %",
                TOLD,
                **fixed[0].as_measured(),
            ),
            at_most(
                f"told from the last state, of {LENGTHS[-1]}, %", LOST, **fixed[-1].as_measured()
            ),
            at_least(
                f"told with attention, of {LENGTHS[-1]}, %", TOLD, **attending[-1].as_measured()
            ),
            *findings,
        ),
        chart=ClaimChart(
            x_label="tokens of the sequence, n",
            y_label="tokens told, % (lines: strings reversed)" if trained else "tokens told, %",
            series=(
                predicted("guessing", (LENGTHS[0], LENGTHS[-1]), [100 / TOKENS] * 2),
                _dots("from the last state", fixed),
                _dots("with attention", attending),
                *trained,
            ),
            explanation=f"{given.units} units have room for a few tokens; of more they keep the "
            "latest and a blur of the others. Attention reads each token where it stands."
            if given.fixed_size and given.independent
            else "Here the last state has room for all that there is to know.",
        ),
    )


def told_without_and_with(
    given: BottleneckConfig, length: int, count: int, rng: torch.Generator
) -> tuple[float, float]:
    """What one encoder's last state tells of its tokens, and what attention does, in per cent."""
    tokens = draw_tokens(given, 2 * count, length, rng)
    states = encode(tokens, given.units if given.fixed_size else 8 * length, rng)
    last = states[:, -1:].expand_as(states)
    return percent_told(last, tokens), percent_told(look_back(states), tokens)


def _dots(name: str, found: list[Estimate]) -> Series:
    """Means over encoders, with their intervals, by length."""
    return measured(name, LENGTHS, [one.mean for one in found], [one.interval for one in found])


def _trained(seed: int) -> tuple[tuple[Series, ...], tuple[ClaimFinding, ...]]:
    """The encoder-decoder without and with attention, on strings to be said backwards."""
    data = load("reverse", **REVERSED, val_size=0, test_size=0.1, seed=seed)
    plain = percent_reversed(data, "none", seed)
    attending = percent_reversed(data, "luong-general", seed)
    longest = max(plain)
    lengths = source_lengths(data)
    short, tested = (int((lengths == length).sum()) for length in (SHORT, longest))
    return (
        (
            line("trained: whole strings reversed", plain.keys(), plain.values()),
            line("the same, with attention", attending.keys(), attending.values()),
        ),
        (
            at_least(
                f"reversed without attention, of {SHORT} letters, %", LOST, plain[SHORT], n=short
            ),
            at_most(f"reversed without attention, of {longest}, %", LOST, plain[longest], n=tested),
            at_least(
                f"reversed with attention, of {longest}, %", TOLD, attending[longest], n=tested
            ),
        ),
    )


BOTTLENECK = Claim(
    card=Card(
        sentence="What a context of fixed size can tell of a sequence falls with the length of the"
        " sequence, of 4 to 24 tokens; attention does not have this bottleneck.",
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
