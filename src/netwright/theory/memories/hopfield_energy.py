r"""The energies of Hopfield networks: one that never rises, and one whose descent is attention.

    H(x) = -1/2 sum_ij w_ij x_i x_j + sum_i b_i x_i,    x_i <- sgn(H_i),  H_i = sum_j w_ij x_j - b_i

An update of one unit changes the energy by -(x_i' - x_i) H_i <= 0 where w_ij = w_ji and w_ii = 0.

Shapes: n units, B states or queries, S stored patterns, D features.
Source: Hopfield (1982), PNAS 79, 2554-2558; Ramsauer et al. (2020), arXiv:2008.02217.
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
from netwright.inspection.training.claim_chart import ClaimChart, line, measured, predicted
from netwright.layers.attention.hopfield import hopfield_energy, hopfield_retrieval
from netwright.models.memory.hopfield_dynamics import asynchronous_sweep, energy, synchronous_update
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, no_violations

ROUNDING = 1e-12
STATES = {"quick": 10, "full": 1000}
QUERIES = {"quick": 100, "full": 10_000}
DRAWN = 3  # states whose energy is drawn
MOST_DOTS = 300
MOST_SWEEPS = 100


@dataclass(frozen=True, kw_only=True)
class EnergyConfig(Config):
    """A network of random weights, and what its weights and updates are like."""

    units: Annotated[int, Interval(ge=1, le=1000), Doc("n, units of the network")] = 100
    updates: Annotated[
        int, Interval(ge=1, le=10_000), Doc("updates of a random unit, from each starting state")
    ] = 1000
    symmetric: Annotated[bool, Assumption("two units pull each other alike: w_ij = w_ji")] = True
    zero_diagonal: Annotated[bool, Assumption("no unit pushes itself away: w_ii = 0")] = True
    one_at_a_time: Annotated[bool, Assumption("one unit moves at a time, not all at once")] = True


def random_weights(given: EnergyConfig, numbers: torch.Generator) -> Tensor:
    """Normal weights, (n, n), so large that fields are about 1."""
    weights = torch.randn(given.units, given.units, generator=numbers, dtype=torch.float64)
    weights /= math.sqrt(given.units)
    if given.symmetric:
        weights = (weights + weights.T) / math.sqrt(2)
    return weights.fill_diagonal_(0.0 if given.zero_diagonal else -2.0)


def measure_energy(given: EnergyConfig, seed: int, effort: Effort) -> Verdict:
    """Follow the energy of many states through random updates, then on until nothing moves."""
    numbers = generator(seed, "hopfield energy")
    weights = random_weights(given, numbers)
    bias = 0.5 * torch.randn(given.units, generator=numbers, dtype=torch.float64)
    shape = (STATES[effort], given.units)
    states = 2.0 * torch.randint(2, shape, generator=numbers, dtype=torch.float64) - 1
    energies = [energy(states, weights, bias)]
    for unit in torch.randint(given.units, (given.updates, 1), generator=numbers):
        if given.one_at_a_time:
            states = asynchronous_sweep(states, weights, bias, unit)
        else:
            states = synchronous_update(states, weights, bias)
        energies.append(energy(states, weights, bias))
    path = torch.stack(energies)  # (updates + 1, B)
    changes = path.diff(dim=0)
    for _ in range(MOST_SWEEPS):
        before, states = states, asynchronous_sweep(states, weights, bias)
        if torch.equal(before, states):
            break
    restless = int((asynchronous_sweep(states, weights, bias) != states).any(dim=1).sum())
    return Verdict(
        findings=(
            at_most(
                "change of the energy at an update, the largest",
                ROUNDING * given.units,  # the energy is a sum over all units
                float(changes.max()),
                n=changes.numel(),
            ),
            no_violations(
                f"states that still move after {MOST_SWEEPS:,} sweeps", restless, n=len(states)
            ),
        ),
        chart=ClaimChart(
            x_label="updates of a random unit" if given.one_at_a_time else "updates of all units",
            y_label="energy",
            series=(
                *(
                    line(f"from random state {index + 1}", range(len(path)), path[:, index])
                    for index in range(DRAWN)
                ),
                predicted(
                    "at most: the lowest so far of state 1",
                    range(len(path)),
                    path[:, 0].cummin(dim=0).values,
                ),
            ),
            explanation="Each update lowers the energy or leaves it: there are finitely many "
            "states, so that the network comes to rest."
            if given.symmetric and given.zero_diagonal and given.one_at_a_time
            else "The energy rises at some updates: a line that goes up has left a lower energy "
            "behind, and the network need not come to rest.",
        ),
    )


ENERGY = Claim(
    card=Card(
        sentence="The energy of a Hopfield network never rises when one unit is updated at a time,"
        " so that the network comes to rest.",
        formula=r"H(x) = -\frac{1}{2} \sum_{ij} w_{ij} x_i x_j + \sum_i b_i x_i, \quad"
        r" x_i' = \mathrm{sgn}(H_i) \;\Rightarrow\; H(x') - H(x) = -(x_i' - x_i) H_i \le 0",
        symbols={
            "x": "the state, -1 or +1, (n)",
            "w_{ij}": "weights, symmetric, with w_{ii} = 0, (n, n)",
            "b": "thresholds, (n)",
            "H_i": "the field of unit i, sum_j w_ij x_j - b_i",
        },
        source="Hopfield (1982), PNAS 79, 2554-2558",
    ),
    topic="Memories",
    kind="theorem",
    settings=EnergyConfig,
    experiment=measure_energy,
)


@dataclass(frozen=True, kw_only=True)
class AttentionConfig(Config):
    """Random patterns and queries."""

    patterns: Annotated[
        int, Interval(ge=2, le=1000), Doc("S, stored patterns: the keys and values")
    ] = 50
    features: Annotated[
        int, Interval(ge=2, le=1000), Doc("D, features of a pattern and of a query")
    ] = 64
    scaled: Annotated[bool, Assumption("beta is 1/sqrt(D), the scale of attention; else 1")] = True


def measure_attention(given: AttentionConfig, seed: int, effort: Effort) -> Verdict:
    """One update beside torch's attention, and the energy before and after it."""
    numbers = generator(seed, "hopfield attention")
    rows = (given.patterns, QUERIES[effort])
    everything = torch.randn(sum(rows), given.features, generator=numbers, dtype=torch.float64)
    patterns, queries = everything.split_with_sizes(rows)
    beta = 1 / math.sqrt(given.features) if given.scaled else 1.0
    updated = hopfield_retrieval(queries, patterns, beta)
    attended = F.scaled_dot_product_attention(queries, patterns, patterns)
    changes = hopfield_energy(updated, patterns, beta) - hopfield_energy(queries, patterns, beta)
    x, y = (numbers.flatten()[:MOST_DOTS].tolist() for numbers in (attended, updated))
    ends = (min(x), max(x))
    return Verdict(
        findings=(
            at_most(
                "difference to attention, the largest",
                ROUNDING,
                float((updated - attended).abs().max()),
                n=updated.numel(),
            ),
            at_most(
                "change of the energy, the largest", ROUNDING, float(changes.max()), n=len(changes)
            ),
        ),
        chart=ClaimChart(
            x_label="attention(Q = ξ, K = V = X)",
            y_label="Hopfield update of ξ",
            series=(predicted("they are equal", ends, ends), measured("components", x, y)),
            explanation="Each dot is one component of one query. The update of the memory and the "
            "attention of a transformer are computed by different code, and agree."
            if given.scaled
            else "Each dot is one component of one query. With another β than the scale of "
            "attention the memory weighs its patterns differently: the dots leave the line.",
        ),
    )


ATTENTION = Claim(
    card=Card(
        sentence="One update of a modern Hopfield network is softmax attention to the stored"
        " patterns, and it lowers an energy.",
        formula=r"\xi' = X^T \mathrm{softmax}(\beta X \xi), \quad \beta = \frac{1}{\sqrt{D}}, \quad"
        r" E(\xi) = -\frac{1}{\beta} \log \sum_i e^{\beta x_i^T \xi} + \frac{1}{2} |\xi|^2",
        symbols={
            r"\xi": "the state, a query, (D)",
            "X": "stored patterns as rows, keys and values, (S, D)",
            r"\beta": "how sharply the nearest pattern wins",
        },
        source="Ramsauer et al. (2020), arXiv:2008.02217",
    ),
    topic="Memories",
    kind="theorem",
    settings=AttentionConfig,
    experiment=measure_attention,
)
