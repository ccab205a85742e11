r"""The structure of attention: it does not see order, it is wide, and everything is one step away.

    A(P X) = P A(X)                        equivariant: outputs are permuted along with the inputs
    attention  ~ n^2 d,  one step          between any two positions (scores and reading alone)
    recurrence ~ n d^2,  n steps           from the first to the last

Shapes: B sequences, n positions, d features, w positions of a block.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 4 and table 1.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor
from torch.autograd.graph import Node

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed, generator, seeded
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.attention.attention import attend
from netwright.layers.attention.attention_scores import scaled_dot_scores
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.recurrence.recurrent_cells import elman_step
from netwright.layers.recurrence.unrolled import unroll
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.misprints.attention import counted_flops
from netwright.theory.verdict import ClaimFinding, Verdict, at_most, equals, no_violations

ROUNDING = 1e-12
SEQUENCES = {"quick": 20, "full": 1000}
MOST_DOTS = 150


@dataclass(frozen=True, kw_only=True)
class PermutationConfig(Config):
    """The layer and its inputs."""

    positions: Annotated[int, Interval(ge=2, le=100), Doc("n, positions")] = 12
    heads: Annotated[int, Interval(ge=1, le=16), Doc("heads, of 8 features each")] = 2
    apart: Annotated[
        bool,
        Assumption("each position has an output of its own; without it, their mean is taken"),
    ] = True


@torch.no_grad()
def measure_permutation(given: PermutationConfig, seed: int, effort: Effort) -> Verdict:
    """Put the positions of random sequences into another order, and look at the outputs."""
    rng, width = generator(seed, "attention-invariant"), 8 * given.heads
    with seeded(derive_seed(seed, "attention-invariant")):
        layer = MultiHeadAttention(width, given.heads).double()
    shape = (SEQUENCES[effort], given.positions, width)
    x = torch.randn(shape, generator=rng, dtype=torch.float64)
    order = torch.randperm(given.positions - 1, generator=rng) + 1
    order = torch.cat([order, torch.zeros(1, dtype=torch.long)])  # position 0 is moved, for sure
    before, after = layer(x), layer(x[:, order])
    along = before[:, order]
    if not given.apart:
        before, along, after = (out.mean(dim=1) for out in (before, along, after))
    moved, followed = (float((after - out).abs().max()) for out in (before, along))
    y, same, partner = (out.flatten()[:MOST_DOTS].tolist() for out in (after, before, along))
    ends = (min(y), max(y))
    return Verdict(
        findings=(
            at_most(
                "change of an output when the inputs are reordered, the largest",
                ROUNDING,
                moved,
                n=after.numel(),
            ),
            at_most(
                "change when the outputs are reordered along, the largest",
                ROUNDING,
                followed,
                n=after.numel(),
            ),
        ),
        chart=ClaimChart(
            x_label="output before",
            y_label="output after the inputs were reordered",
            series=(
                predicted("the same", ends, ends),
                measured("at the same place", same, y),
                measured("of the same input", partner, y),
            ),
            explanation="Each dot is one number. Self-attention gives each input the output that it"
            " had, wherever it is put: the outputs move along with the inputs.",
        ),
    )


PERMUTATION = Claim(
    card=Card(
        sentence="Self-attention is invariant to the order of its inputs: reordered inputs give the"
        " same outputs.",
        formula=r"A(P X) = A(X)",
        symbols={"X": "inputs, (n, d)", "P": "a permutation, (n, n)", "A": "self-attention"},
        source="Lee et al. (2019), arXiv:1810.00825, which has it the right way",
        misprint="It is equivariant, A(P X) = P A(X): outputs are reordered along with the inputs."
        " Only what is pooled over positions, as their mean, is invariant.",
    ),
    topic="Attention",
    kind="false",
    settings=PermutationConfig,
    experiment=measure_permutation,
)

Layer = Callable[[Tensor], Tensor]  # (n, d) -> (n, d)
Costs = Mapping[tuple[int, int], int]  # by n and d
FEATURES = (16, 32, 64)
POSITIONS = {"quick": (8, 16, 32, 64), "full": (8, 16, 32, 64, 128, 256, 512)}
SHOWN = 32  # features whose costs are drawn
BLOCK = 8
DISTANCES = {"quick": (1, 2, 4, 8, 16), "full": (1, 2, 4, 8, 16, 32, 64, 128)}


@dataclass(frozen=True, kw_only=True)
class CostConfig(Config):
    """Who attends to whom. The maps that make queries, keys, values and outputs are left out."""

    dense: Annotated[
        bool,
        Assumption("every position attends to all; without it, only to the 8 of its block"),
    ] = True


def self_attention(x: Tensor, *, dense: bool = True) -> Tensor:
    """What positions (n, d) read from all, or from those of their block, (n, d)."""
    blocks = x[None] if dense else x.view(-1, BLOCK, x.shape[1])
    return attend(scaled_dot_scores(blocks, blocks), blocks).flatten(0, 1)


def recurrence(x: Tensor) -> Tensor:
    """The states of as many units as there are features, (n, d)."""
    size = x.shape[1]
    weights = {"weight_ih": torch.eye(size), "weight_hh": torch.eye(size)}
    start = (torch.zeros(1, size),)
    return unroll(partial(elman_step, weights=weights), x[None], start)[0][0]


def operations(layer: Layer, positions: int, features: int) -> int:
    """Of the products of matrices of a layer on a sequence of this size."""
    return counted_flops(lambda: layer(torch.zeros(positions, features)))


def path_length(layer: Layer, distance: int) -> float:
    """Operations on the shortest way from an input to the output so many positions on."""
    blocks = distance // BLOCK + 1
    inputs = [torch.ones(4, requires_grad=True) for _ in range(blocks * BLOCK)]
    output = layer(torch.stack(inputs))[distance]
    front: set[Node | None] = {output.grad_fn}
    seen, length = {None, *front}, 0
    while front:
        if any(getattr(node, "variable", None) is inputs[0] for node in front):
            return length
        front = {before for node in front if node for before, _ in node.next_functions} - seen
        seen |= front
        length += 1
    return math.inf


def measure_cost(given: CostConfig, seed: int, effort: Effort) -> Verdict:
    """Count the operations of both, and the steps from the first input to a later output."""
    attention = partial(self_attention, dense=given.dense)
    sizes = [(n, d) for d in FEATURES for n in POSITIONS[effort]]
    wide = {size: operations(attention, *size) for size in sizes}
    deep = {size: operations(recurrence, *size) for size in sizes}
    return Verdict(
        findings=(*_cost_findings(wide, deep), *_path_findings(attention, DISTANCES[effort])),
        chart=_cost_chart(wide, deep),
    )


def _cost_findings(wide: Costs, deep: Costs) -> tuple[ClaimFinding, ...]:
    wrong = sum(wide[n, d] != 4 * n * n * d or deep[n, d] != 4 * n * d * d for n, d in wide)
    misjudged = sum((wide[n, d] < deep[n, d]) != (n < d) for n, d in wide)
    doubled = [wide[2 * n, d] / cost for (n, d), cost in wide.items() if (2 * n, d) in wide]
    return (
        no_violations("sizes that do not cost 4 n² d and 4 n d²", wrong, n=len(wide)),
        no_violations(
            "sizes at which attention without its maps is cheaper although n ≥ d, or the reverse",
            misjudged,
            n=len(wide),
        ),
        equals(
            "cost of attention over that of half as many positions",
            4,
            sum(doubled) / len(doubled),
            n=len(doubled),
        ),
    )


def _path_findings(attention: Layer, distances: tuple[int, ...]) -> tuple[ClaimFinding, ...]:
    across = [path_length(attention, distance) for distance in distances]
    along = [path_length(recurrence, distance) for distance in distances]
    a_step = along[1] - along[0]
    wanted = [along[0] + (distance - 1) * a_step for distance in distances]
    return (
        no_violations(
            "distances over which attention takes a longer way than to the neighbour",
            sum(length != across[0] for length in across),
            n=len(distances),
        ),
        no_violations(
            "distances over which recurrence does not take a step a position",
            sum(length != steps for length, steps in zip(along, wanted, strict=True)),
            n=len(distances),
        ),
    )


def _cost_chart(wide: Costs, deep: Costs) -> ClaimChart:
    drawn = [n for n, d in wide if d == SHOWN]
    return ClaimChart(
        x_label=f"positions, n (d = {SHOWN} features)",
        y_label="operations",
        series=(
            predicted("4 n² d", drawn, [4 * n * n * SHOWN for n in drawn]),
            predicted("4 n d²", drawn, [4 * n * SHOWN * SHOWN for n in drawn]),
            measured("attention, without its maps", drawn, [wide[n, SHOWN] for n in drawn]),
            measured("recurrence", drawn, [deep[n, SHOWN] for n in drawn]),
        ),
        explanation="Products of matrices, counted by torch: of attention the scores and the "
        "reading, of the recurrence W x and U h. The maps that make q, k, v and the output cost "
        "8 n d² beside; with them attention is dearer at every length. In return any two "
        "positions are one step apart.",
        log="xy",
    )


COST = Claim(
    card=Card(
        sentence="The scores and the reading of attention cost n² d operations where recurrence"
        " costs n d², and join any two positions in one step where recurrence takes as many as they"
        " are apart.",
        formula=r"n^2 d < n d^2 \;\Leftrightarrow\; n < d",
        symbols={"n": "positions", "d": "features"},
        source="Vaswani et al. (2017), arXiv:1706.03762, table 1",
        misprint="Attention is often said to be cheaper. Its scores and reading are, for n < d; the"
        " maps of a whole layer cost 8 n d² more, and with them it is dearer at every length.",
    ),
    topic="Attention",
    kind="theorem",
    settings=CostConfig,
    experiment=measure_cost,
)
