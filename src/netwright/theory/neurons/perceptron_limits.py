r"""What a perceptron cannot do, and what does not matter to it.

Without a separating plane it never halts: every pass has a mistake, and the weights wander in a
bounded region. Started at zero, its learning rate is only a scale: w is eta times the w of rate 1,
and the sign of w^T x + b does not change with it.

Shapes: N points, D features.
Source: Minsky and Papert, "Perceptrons" (1969), chapter 11 for the cycling theorem.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, line, measured, predicted
from netwright.models.neurons.mistake_driven import perceptron_pass
from netwright.models.neurons.separability import with_ones
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.neurons.xor_networks import CORNERS, OR, XOR
from netwright.theory.verdict import Verdict, at_least, at_most, no_violations

PASSES = {"quick": 2_000, "full": 10_000}
SHOWN = 50  # passes in the picture
SETS = {"quick": 20, "full": 200}
RATES = (1 / 128, 1.0, 128.0)  # powers of two: they scale without rounding


@dataclass(frozen=True, kw_only=True)
class CyclesConfig(Config):
    """The truth table that is learned."""

    inseparable: Annotated[
        bool, Assumption("no plane separates the data: it is XOR; off: it is OR")
    ] = True


@dataclass(frozen=True, kw_only=True)
class LearningRateConfig(Config):
    """The random sets of points."""

    dimension: Annotated[int, Interval(ge=1, le=1000), Doc("D, features of a point")] = 5
    points: Annotated[int, Interval(ge=2, le=1000), Doc("N, points a set")] = 50
    passes: Annotated[int, Interval(ge=2, le=1000), Doc("over each set")] = 10
    start_at_zero: Annotated[
        bool, Assumption("all weights are zero at the start; off: they are random")
    ] = True


def longest_reachable(signs: Tensor) -> float:
    """The longest (w, b) that mistakes on the corners can lead to from zero, in any order.

    All weights are whole numbers, so that a bounded walk has finitely many places: all are visited.
    """
    turned = (signs[:, None] * with_ones(CORNERS)).tolist()
    new = {(0.0, 0.0, 0.0)}
    seen = set(new)
    while new:
        after = {
            tuple(part + change for part, change in zip(place, z, strict=True))
            for place in new
            for z in turned
            if sum(part * change for part, change in zip(place, z, strict=True)) <= 0
        }
        new = after - seen
        seen |= new
    return max(math.hypot(*place) for place in seen)


def measure_cycles(given: CyclesConfig, seed: int, effort: Effort) -> Verdict:
    """Pass over the truth table again and again; look at mistakes and at the weights."""
    signs = 2 * (XOR if given.inseparable else OR) - 1
    weight, bias = torch.zeros(1, 2, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    random = generator(seed, "cycles")
    mistakes, lengths = [], []
    for _ in range(PASSES[effort]):
        order = torch.randperm(4, generator=random)
        mistakes.append(int(perceptron_pass(weight, bias, CORNERS, signs[:, None], order).sum()))
        lengths.append(float(torch.cat((weight[0], bias)).norm()))
    passes, shown, most = len(mistakes), range(1, SHOWN + 1), longest_reachable(signs)
    return Verdict(
        findings=(
            no_violations("passes without a mistake", mistakes.count(0), n=passes),
            at_most("longest weights; predicted: of any order", most, max(lengths), n=passes),
        ),
        chart=ClaimChart(
            x_label=f"pass (the first {SHOWN} of {passes:,})",
            y_label="count, or length",
            series=(
                predicted("mistakes, at least", (1, SHOWN), (1, 1)),
                predicted("length, at most", (1, SHOWN), (most, most)),
                measured("mistakes in the pass", shown, mistakes[:SHOWN]),
                line("length of (w, b) after it", shown, lengths[:SHOWN]),
            ),
            explanation="No pass is free of mistakes, and the weights come back to where they "
            "were: they stay bounded for ever."
            if given.inseparable
            else "After a few passes no mistake is left, and the weights rest: a plane separates "
            "this table.",
        ),
    )


def answers(
    points: Tensor, signs: Tensor, rate: float, start: Tensor, passes: int, seed: int
) -> Tensor:
    """Whether each visit was a mistake, (passes N,), with this rate and these first weights."""
    weight, bias = start[None, :-1].clone(), start[-1:].clone()
    seen = []
    for count in range(passes):
        order = torch.randperm(len(points), generator=generator(seed, "pass", count))
        seen.append(perceptron_pass(weight, bias, points, rate * signs[:, None], order)[:, 0])
    return torch.cat(seen)


def measure_learning_rate(given: LearningRateConfig, seed: int, effort: Effort) -> Verdict:
    """Compare the answers at every visit for rates far larger and smaller than 1."""
    random = generator(seed, "learning rate")
    different, visits = dict.fromkeys(RATES, 0), 0
    for index in range(SETS[effort]):
        points = torch.randn(given.points, given.dimension, generator=random, dtype=torch.float64)
        signs = torch.randn(given.points, generator=random, dtype=torch.float64).sign()
        start = torch.randn(given.dimension + 1, generator=random, dtype=torch.float64)
        start *= not given.start_at_zero
        by_rate = {
            rate: answers(points, signs, rate, start, given.passes, seed + index) for rate in RATES
        }
        for rate in RATES:
            different[rate] += int((by_rate[rate] != by_rate[1.0]).sum())
        visits += given.points * given.passes
    others = [rate for rate in RATES if rate != 1.0]
    return Verdict(
        findings=tuple(
            at_least(
                f"visits whose answer differs from that of rate 1, rate {rate:g}",
                1,
                different[rate],
                n=visits,
            )
            for rate in others
        ),
        chart=ClaimChart(
            x_label="learning rate",
            y_label="visits with another answer than rate 1",
            series=(
                predicted("at least, if the rate mattered", (RATES[0], RATES[-1]), (1, 1)),
                measured(f"of {visits:,} visits", RATES, [different[rate] for rate in RATES]),
            ),
            explanation="From weights of zero every rate gives the same answers, example after "
            "example: the weights are multiples of each other."
            if given.start_at_zero
            else "From random weights the rate matters: it decides how soon the start is "
            "forgotten.",
            log="x",
        ),
    )


CYCLES = Claim(
    card=Card(
        sentence="On data that no plane separates a perceptron never halts, yet stays bounded.",
        formula=r"V(S) = \emptyset \;\Rightarrow\; \text{every pass has a mistake},"
        r" \quad \sup_t \|w_t\| < \infty",
        symbols={
            "V(S)": "the version space: all planes that separate the data S",
            "w_t": "weights after t updates, (D)",
        },
        source="Minsky and Papert (1969), Perceptrons, chapter 11",
        misprint="It is put down to gradient descent; the rule is driven by mistakes alone.",
    ),
    topic="Neurons",
    kind="theorem",
    settings=CyclesConfig,
    experiment=measure_cycles,
)
LEARNING_RATE = Claim(
    card=Card(
        sentence="From weights of zero, the learning rate affects how a perceptron converges.",
        formula=r"\exists\, x, t: \quad \operatorname{sgn}(w_t(\eta)^T x)"
        r" \ne \operatorname{sgn}(w_t(1)^T x)",
        symbols={
            r"\eta": "learning rate",
            r"w_t(\eta)": "weights after t visits with this rate, (D + 1)",
            "x": "the example of a visit, and a 1 for the bias, (D + 1)",
        },
        source="Rosenblatt (1962), Principles of Neurodynamics, chapter 5",
        misprint="It does not: the weights of rate eta are eta times those of rate 1, so that "
        "every sign of w x + b, and with it every mistake, is the same.",
    ),
    topic="Neurons",
    kind="false",
    settings=LearningRateConfig,
    experiment=measure_learning_rate,
)
