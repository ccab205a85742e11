r"""Positions beyond the longest training text: a hypothesis of 2017 that does not hold.

Sines are defined at every place, and it was hoped that a network trained on short texts would read
longer ones. It learns to use the sums of sines that it has seen; beyond them it is far worse, as
much as with a learned table, whose further rows nothing has trained. A bias by distances, in T5's
buckets, meets nothing new there. The task needs no memory: say the token before, at every place.

Shapes: B texts, T places, V tokens.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.5, for the hypothesis; Press,
Smith and Lewis, "Train Short, Test Long" (2021).
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor
from torch.nn.functional import cross_entropy

from netwright.core.card import Card
from netwright.core.config import Config, Doc, parse
from netwright.core.seeding import derive_seed, generator, seeded
from netwright.data.spec import DataSpec
from netwright.inspection.training.claim_chart import ClaimChart, line, measured, predicted
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, at_most, estimate

TOKENS = 8  # V
TRAINED, TESTED = 16, 32  # T
KINDS = ("sinusoidal", "learned", "t5")
NETWORK = {"layers": 1, "heads": 2, "width": 32}
BATCH, LR = 32, 1e-2
STEPS = {"quick": 300, "full": 600}
TRIES = {"quick": 4, "full": 8}
TEXTS = 200  # of the test
KNOWN, LOST, BETTER = 60.0, 40.0, 25.0  # per cent, per cent, points


@dataclass(frozen=True, kw_only=True)
class ExtrapolationConfig(Config):
    """What the networks are trained on."""

    width: Annotated[int, Interval(ge=16, le=256), Doc("features per token; even")] = 32
    short: Annotated[
        bool, Assumption("training texts have 16 tokens; without it, as many as those of the test")
    ] = True


def build(kind: str, width: int, seed: int) -> GPT:
    """A small GPT with room for the test texts."""
    spec = DataSpec(
        inputs="tokens",
        input_shape=(TESTED,),
        target="tokens",
        num_outputs=TOKENS,
        vocab_size=TOKENS,
    )
    with seeded(derive_seed(seed, kind)):
        config = parse(GPTConfig, {**NETWORK, "width": width, "positions": kind})
        return GPT.build(config, spec)


def percent_by_place(kind: str, given: ExtrapolationConfig, seed: int, steps: int) -> Tensor:
    """How often the token before is said after training, at places 1 to 31, (T - 1)."""
    model, rng = build(kind, given.width, seed), generator(seed, "position-extrapolation")
    optimizer = build_optimizer(OPTIMIZERS.load("adam"), model, lr=LR)
    length = TRAINED if given.short else TESTED
    for _ in range(steps):
        texts = torch.randint(TOKENS, (BATCH, length), generator=rng)
        said = model(texts)[:, 1:]
        optimizer.zero_grad()
        torch.autograd.backward(cross_entropy(said.flatten(0, 1), texts[:, :-1].flatten()))
        optimizer.step()
    texts = torch.randint(TOKENS, (TEXTS, TESTED), generator=rng)
    with torch.no_grad():
        right: Tensor = model.eval()(texts)[:, 1:].argmax(dim=2) == texts[:, :-1]
    return 100 * right.double().mean(dim=0)


def measure_extrapolation(given: ExtrapolationConfig, seed: int, effort: Effort) -> Verdict:
    """Train on 16 tokens, test on 32."""
    seeds = [derive_seed(seed, "position-extrapolation", i) for i in range(TRIES[effort])]
    found = {
        kind: torch.stack([percent_by_place(kind, given, one, STEPS[effort]) for one in seeds])
        for kind in KINDS
    }  # (tries, T - 1) each
    within = {kind: each[:, : TRAINED - 1].mean(dim=1) for kind, each in found.items()}
    beyond = {kind: each[:, TRAINED - 1 :].mean(dim=1) for kind, each in found.items()}
    places = range(1, TESTED)
    return Verdict(
        findings=(
            at_least(
                f"sinusoidal, right at the {TRAINED} places of training, %",
                KNOWN,
                **estimate(within["sinusoidal"].tolist()).as_measured(),
            ),
            at_most(
                "sinusoidal, right at the places beyond, %",
                LOST,
                **estimate(beyond["sinusoidal"].tolist()).as_measured(),
            ),
            at_most(
                "learned, right at the places beyond, %",
                LOST,
                **estimate(beyond["learned"].tolist()).as_measured(),
            ),
            at_least(
                "points that distances (T5) are ahead of sines beyond",
                BETTER,
                **estimate((beyond["t5"] - beyond["sinusoidal"]).tolist()).as_measured(),
            ),
        ),
        chart=ClaimChart(
            x_label="place in the text",
            y_label="the token before is said, %",
            series=(
                predicted("guessing", (1, TESTED - 1), [100 / TOKENS] * 2),
                measured("sinusoidal", places, found["sinusoidal"].mean(dim=0)),
                line("learned", places, found["learned"].mean(dim=0)),
                line("distances (T5)", places, found["t5"].mean(dim=0)),
            ),
            explanation=f"Training texts end at place {TRAINED - 1}. Beyond, sums of sines are as "
            "new to the network as untrained rows of a table; distances are not."
            if given.short
            else "Training texts are as long as those of the test: no place is new.",
        ),
    )


EXTRAPOLATION = Claim(
    card=Card(
        sentence="Sinusoidal positions do not carry a transformer beyond the texts that it was "
        "trained on: from 16 to 32 tokens its answers drop towards guessing; biases by distance "
        "drop far less.",
        formula=r"p_{t, 2i} = \sin(t w_i), \; p_{t, 2i+1} = \cos(t w_i), \quad"
        r" t > T_{\text{train}}",
        symbols={
            "t": "a place in the text",
            "w_i": "frequency of pair i",
            r"T_{\text{train}}": "length of the training texts, 16",
        },
        source="Press, Smith and Lewis (2021), arXiv:2108.12409",
        misprint="That sines allow to extrapolate to longer texts was a hypothesis; it is often "
        "passed on as a property.",
    ),
    topic="Attention",
    kind="empirical",
    settings=ExtrapolationConfig,
    experiment=measure_extrapolation,
)
