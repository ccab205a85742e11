r"""Linear recurrences: they run in parallel, and in exponential form they cannot explode.

Two steps h -> a h + b in a row are one such step, (a, b) then (a', b') is (a' a, a' b + b'). The
rule is associative, so that n steps are joined in ceil(log2 n) rounds of independent work. With

    lambda = exp(-exp(nu) + i exp(theta))

the size of an eigenvalue lies between 0 and 1 whatever nu is, and an impulse fades as |lambda|^t.

Shapes: B sequences, T steps, C channels.
Source: Blelloch, "Prefix Sums and Their Applications" (1990); Orvieto et al., "Resurrecting
Recurrent Neural Networks for Long Sequences" (2023).
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
from netwright.layers.recurrence.linear_recurrent_unit import eigenvalues
from netwright.layers.recurrence.scan import parallel_scan, scan, scan_by_steps
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, no_violations

EXACT = 1e-10
CHANNELS = 8
LENGTHS = {
    "quick": (1, 2, 3, 4, 5, 8, 9, 16, 31, 64, 65, 127, 250, 500, 1000),
    "full": (
        *range(1, 65),
        *(2**power + off for power in range(7, 13) for off in (-1, 0, 1)),
        1000,
    ),
}


@dataclass(frozen=True, kw_only=True)
class ScanConfig(Config):
    """The recurrence."""

    linear: Annotated[
        bool,
        Assumption("a step is linear in the state; without it, h = tanh(a h + b)"),
    ] = True


def by_squashed_steps(a: Tensor, b: Tensor) -> Tensor:
    """h_t = tanh(a_t h_{t-1} + b_t), one step after the other."""
    state, states = torch.zeros_like(b[:, 0]), []
    for a_t, b_t in zip(a.unbind(1), b.unbind(1), strict=True):
        state = (a_t * state + b_t).tanh()
        states.append(state)
    return torch.stack(states, dim=1)


def measure_scan_depth(given: ScanConfig, seed: int, effort: Effort) -> Verdict:
    """Random recurrences of many lengths: by rounds of doubling, by chunks, and by the loop."""
    rng, lengths = generator(seed, "scan-depth"), LENGTHS[effort]
    loop = scan_by_steps if given.linear else by_squashed_steps
    rounds, missed = [], 0.0
    for steps in lengths:
        a = torch.rand(1, steps, CHANNELS, generator=rng, dtype=torch.float64) * 2 - 1
        b = torch.randn(1, steps, CHANNELS, generator=rng, dtype=torch.float64)
        joined, depth = parallel_scan(a, b)
        wanted = loop(a, b)
        rounds.append(depth)
        missed = max(missed, *(float((h - wanted).abs().max()) for h in (joined, scan(a, b))))
    depths = [math.ceil(math.log2(steps)) for steps in lengths]
    wrong = sum(found != depth for found, depth in zip(rounds, depths, strict=True))
    return Verdict(
        findings=(
            at_most(
                "difference from the loop, the largest",
                EXACT,
                missed,
                n=2 * CHANNELS * sum(lengths),
            ),
            no_violations("lengths that do not take ⌈log₂ n⌉ rounds", wrong, n=len(lengths)),
        ),
        chart=ClaimChart(
            x_label="steps of the recurrence, n",
            y_label="what must wait for each other",
            series=(
                predicted("⌈log₂ n⌉", sorted(lengths), sorted(depths)),
                measured("rounds of the parallel scan", lengths, rounds),
                line("steps of the loop", sorted(lengths), sorted(lengths)),
            ),
            explanation="With enough hands the time is the number of rounds: a thousand steps take "
            "ten. The loop must wait for each of its steps.",
            log="xy",
        ),
    )


SCAN_DEPTH = Claim(
    card=Card(
        sentence="A linear recurrence of n steps can be computed in ⌈log₂ n⌉ rounds of parallel"
        " work, with the numbers of the loop.",
        formula=r"h_t = a_t h_{t-1} + b_t, \quad (a, b) \circ (a', b') = (a' a, \; a' b + b')",
        symbols={
            "h_t": "the state after step t, (C)",
            "a_t, b_t": "coefficients of step t, which do not depend on the state, (C)",
            r"\circ": "two steps in a row as one; it is associative",
        },
        source="Blelloch (1990), Prefix Sums and Their Applications, CMU-CS-90-190",
    ),
    topic="Sequences",
    kind="theorem",
    settings=ScanConfig,
    experiment=measure_scan_depth,
)

DRAWN = {"quick": 1000, "full": 100_000}
IMPULSE_STEPS = 200
SHOWN = (0.5, 0.9, 0.99)  # sizes of eigenvalues whose impulse response is drawn


@dataclass(frozen=True, kw_only=True)
class StableConfig(Config):
    """The parameters that are drawn."""

    reach: Annotated[
        float, Interval(gt=0, le=6), Doc("nu is drawn evenly from minus this to this")
    ] = 5.0
    exponential: Annotated[
        bool,
        Assumption("the size is exp(-exp(nu)); without it, exp(-nu), which nothing keeps below 1"),
    ] = True


def impulse_response(values: Tensor) -> Tensor:
    """The states (T, C) after one input of 1, of channels with these eigenvalues (C,)."""
    impulse = torch.zeros(1, IMPULSE_STEPS, len(values), dtype=values.dtype)
    impulse[:, 0] = 1
    return scan(values, impulse)[0]


def measure_lru_stable(given: StableConfig, seed: int, effort: Effort) -> Verdict:
    """Draw parameters at random, and follow an impulse through the channels they give."""
    rng = generator(seed, "lru-stable")
    drawn = 2 * torch.rand(2, DRAWN[effort], generator=rng, dtype=torch.float64) - 1
    nu, theta = given.reach * drawn
    values = eigenvalues(nu, theta) if given.exponential else torch.polar((-nu).exp(), theta.exp())
    sizes = values.abs()
    outside = int(((sizes <= 0) | (sizes >= 1)).sum())
    steps = torch.arange(IMPULSE_STEPS)
    some = values[:100]
    missed = (impulse_response(some).abs() - some.abs() ** steps[:, None]).abs().max()
    radii = torch.tensor(SHOWN, dtype=torch.float64)
    response = impulse_response(eigenvalues((-radii.log()).log(), theta[: len(SHOWN)])).abs()
    return Verdict(
        findings=(
            no_violations("eigenvalues not between 0 and 1 in size", outside, n=len(sizes)),
            at_most(
                "difference of an impulse response from |λ|ᵗ, the largest",
                EXACT,
                float(missed),
                n=len(some) * IMPULSE_STEPS,
            ),
        ),
        chart=ClaimChart(
            x_label="steps after the impulse, t",
            y_label="size of the state",
            series=(
                *(predicted(f"|λ|ᵗ, |λ| = {radius}", steps, radius**steps) for radius in SHOWN),
                *(
                    measured(f"measured, |λ| = {radius}", steps[::10], found[::10])
                    for radius, found in zip(SHOWN, response.T, strict=True)
                ),
            ),
            explanation="What is left of one input of 1. The nearer an eigenvalue lies to the unit "
            "circle, the longer its channel remembers; none lies outside.",
        ),
    )


LRU_STABLE = Claim(
    card=Card(
        sentence="The eigenvalues of a linear recurrent unit lie inside the unit circle for all"
        " real parameters, and so its state cannot explode.",
        formula=r"\lambda = e^{-e^{\nu} + i e^{\theta}}, \quad 0 < |\lambda| = e^{-e^{\nu}} < 1",
        symbols={
            r"\lambda": "eigenvalues, complex, (C)",
            r"\nu": "any real numbers, trained, (C); 32 bits round |lambda| to 1 below -17 and to 0"
            " above 4.7, so they are drawn from -5 to 5 in 64 bits",
            r"\theta": "logarithms of the angles, trained, (C)",
        },
        source="Orvieto et al. (2023), arXiv:2303.06349",
    ),
    topic="Sequences",
    kind="theorem",
    settings=StableConfig,
    experiment=measure_lru_stable,
)
