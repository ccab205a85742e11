r"""What a recurrent cell keeps, and what it costs: the LSTM's memory, the GRU's blocks, the IRNN.

    LSTM   c_t = f c_{t-1} + i g            f = 1 and i = 0 keep the cell exactly
    GRU    three blocks of weights          the LSTM has four
    IRNN   h_t = max(0, U h_{t-1} + W x_t)  U = 1 keeps a state that is not negative

Shapes: B rows, T steps, D inputs, H units.
Source: Hochreiter and Schmidhuber (1997); Gers, Schmidhuber and Cummins (2000); Cho et al. (2014);
Le, Jaitly and Hinton (2015).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor
from torch.func import jacrev

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed, generator, seeded
from netwright.inspection.training.claim_chart import ClaimChart, line, measured, predicted
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import (
    ELMAN,
    GRU,
    LSTM,
    Cell,
    States,
    Weights,
    elman_step,
    lstm_step,
)
from netwright.layers.recurrence.recurrent_initializers import start_as_identity
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, equals, no_violations

STEPS = 1000
ROUNDING = 1e-12
ROWS = {"quick": 20, "full": 1000}
SLOW_LEAK, LEAK, TRICKLE = 0.999, 0.99, 0.01
Units = Annotated[int, Interval(ge=2, le=128), Doc("H, units")]


@dataclass(frozen=True, kw_only=True)
class CellKeptConfig(Config):
    """The cell, and how its gates stand."""

    units: Units = 16
    forget_open: Annotated[
        bool, Assumption("the forget gate is 1: all is kept; without it, it is 0.999")
    ] = True
    input_closed: Annotated[
        bool, Assumption("the input gate is 0: nothing is added; without it, it is 0.01")
    ] = True


def gated_weights(units: int, forget: float, write: float, rng: torch.Generator) -> Weights:
    """Of an LSTM whose forget and input gates always stand so, and whose others are random."""
    shape = (4, units, units)
    weight_ih, weight_hh = torch.randn(2, *shape, generator=rng, dtype=torch.float64)
    bias = torch.zeros(4, units, dtype=torch.float64)
    for block, gate in enumerate((write, forget)):  # the blocks are i, f, g, o
        weight_ih[block] = weight_hh[block] = 0
        bias[block] = torch.tensor(gate, dtype=torch.float64).logit()
    return {
        "weight_ih": weight_ih.flatten(0, 1),
        "weight_hh": weight_hh.flatten(0, 1),
        "bias_ih": bias.flatten(),
    }


def cells_over_time(weights: Weights, first: Tensor, rng: torch.Generator) -> Tensor:
    """The cells after 0, 1, 2, ... steps of random inputs, (T + 1, B, H)."""
    state: States = (torch.zeros_like(first), first)
    cells = [first]
    for _ in range(STEPS):
        x = torch.randn(first.shape, generator=rng, dtype=torch.float64)
        state = lstm_step(x, state, weights)
        cells.append(state[1])
    return torch.stack(cells)


def share_kept(cells: Tensor) -> Tensor:
    """How much of the first cells is left in those of each step, (T + 1,)."""
    return (cells * cells[0]).sum(dim=(1, 2)) / cells[0].square().sum()


def measure_cell_kept(given: CellKeptConfig, seed: int, effort: Effort) -> Verdict:
    """A thousand steps of random inputs past an open forget gate, and past two that leak."""
    rng, steps = generator(seed, "lstm-cell-kept"), torch.arange(STEPS + 1)
    forget = 1.0 if given.forget_open else SLOW_LEAK
    write = 0.0 if given.input_closed else TRICKLE
    first = torch.randn(ROWS[effort], given.units, generator=rng, dtype=torch.float64)
    cells = cells_over_time(gated_weights(given.units, forget, write, rng), first, rng)
    leaking = {
        gate: cells_over_time(gated_weights(given.units, gate, 0.0, rng), first[:1], rng)
        for gate in (SLOW_LEAK, LEAK)
    }
    missed = max(
        float((found - gate ** steps[:, None, None].double() * first[:1]).abs().max())
        for gate, found in leaking.items()
    )
    kept = {**leaking, forget: cells}
    return Verdict(
        findings=(
            no_violations(
                f"cells that differ after {STEPS} steps",
                int((cells[-1] != first).sum()),
                n=first.numel(),
            ),
            at_most(
                "difference from fᵗ c₀ of forget gates f < 1, the largest",
                ROUNDING,
                missed,
                n=sum(found.numel() for found in leaking.values()),
            ),
        ),
        chart=ClaimChart(
            x_label="steps",
            y_label="share of the first cell that is left",
            series=(
                *(predicted(f"fᵗ, f = {gate:g}", steps, gate ** steps.double()) for gate in kept),
                *(
                    measured(f"measured, f = {gate:g}", steps[::50], share_kept(found)[::50])
                    for gate, found in kept.items()
                ),
            ),
            explanation="The cell of an LSTM past random inputs. A forget gate of 1 keeps it as it "
            "is, however long; one of 0.99 has lost most of it after a few hundred steps.",
        ),
    )


CELL_KEPT = Claim(
    card=Card(
        sentence="An LSTM with its forget gate at 1 and its input gate at 0 keeps its cell exactly,"
        " whatever comes in.",
        formula=r"c_t = f \odot c_{t-1} + i \odot g, \quad f = 1, \; i = 0"
        r" \;\Rightarrow\; c_t = c_0",
        symbols={
            "c_t": "the cell after step t, (H)",
            "f, i": "forget gate and input gate, between 0 and 1, (H)",
            "g": "the candidate, (H)",
        },
        source="Gers, Schmidhuber and Cummins (2000), Neural Computation 12, 2451-2471",
        misprint="The input gate is sometimes called a forget vector: it lets the new in, the"
        " forget gate lets the old stay.",
    ),
    topic="Sequences",
    kind="theorem",
    settings=CellKeptConfig,
    experiment=measure_cell_kept,
)

BLOCKS: dict[str, tuple[Cell, int]] = {"Elman": (ELMAN, 1), "GRU": (GRU, 3), "LSTM": (LSTM, 4)}
SIZES = {"quick": 7, "full": 10}  # units are powers of 2


@dataclass(frozen=True, kw_only=True)
class GruBlocksConfig(Config):
    """The layers that are compared."""

    inputs: Annotated[int, Interval(ge=1, le=512), Doc("D, inputs of a step")] = 10
    equal_units: Annotated[
        bool, Assumption("both have as many units; without it, the GRU has a third more")
    ] = True


def count_weights(cell: Cell, inputs: int, units: int) -> int:
    """The numbers that a layer of such cells learns."""
    with torch.device("meta"):
        return sum(weight.numel() for weight in RecurrentStack(cell, inputs, units).parameters())


def measure_gru_blocks(given: GruBlocksConfig, seed: int, effort: Effort) -> Verdict:
    """Count the weights of layers of many sizes."""
    units = [2**power for power in range(SIZES[effort])]
    counts = {
        name: [count_weights(cell, given.inputs, size) for size in units]
        for name, (cell, _) in BLOCKS.items()
    }
    if not given.equal_units:
        larger = [math.ceil(4 * size / 3) for size in units]
        counts["GRU"] = [count_weights(GRU, given.inputs, size) for size in larger]
    block = [size * (given.inputs + size) + 2 * size for size in units]  # torch has two biases
    wrong = sum(
        count != blocks * one
        for name, (_, blocks) in BLOCKS.items()
        for count, one in zip(counts[name], block, strict=True)
    )
    return Verdict(
        findings=(
            no_violations("layers that do not have 1, 3 or 4 blocks", wrong, n=3 * len(units)),
            equals(
                "weights of the GRUs over those of the LSTMs",
                3 / 4,
                sum(counts["GRU"]) / sum(counts["LSTM"]),
                n=len(units),
            ),
        ),
        chart=ClaimChart(
            x_label="units, H",
            y_label="weights",
            series=(
                *(
                    predicted(f"{blocks} (H (D + H) + 2 H)", units, [blocks * one for one in block])
                    for _, blocks in BLOCKS.values()
                ),
                *(measured(name, units, found) for name, found in counts.items()),
            ),
            explanation=f"Layers that read {given.inputs} inputs a step. Every gate and every "
            "candidate is one block of weights on the inputs and on the last state.",
            log="xy",
        ),
    )


GRU_BLOCKS = Claim(
    card=Card(
        sentence="A GRU has three quarters of the weights of an LSTM: three blocks, where the LSTM"
        " has four.",
        formula=r"n_{GRU} = 3 \, (H (D + H) + 2 H), \quad n_{LSTM} = 4 \, (H (D + H) + 2 H)",
        symbols={
            "H": "units",
            "D": "inputs of a step",
            "2 H": "the biases of a block; torch keeps two, one is enough",
        },
        source="Cho et al. (2014), arXiv:1406.1078",
        misprint="Where five matrices of an LSTM are counted, one between cell and output has been"
        " added, which the LSTM does not have.",
    ),
    topic="Sequences",
    kind="theorem",
    settings=GruBlocksConfig,
    experiment=measure_gru_blocks,
)


@dataclass(frozen=True, kw_only=True)
class IdentityConfig(Config):
    """The network and its first state."""

    units: Units = 16
    identity: Annotated[
        bool, Assumption("the recurrent weights are the identity, the biases 0; else random")
    ] = True
    rectified: Annotated[bool, Assumption("the units are rectified; without it, tanh")] = True
    not_negative: Annotated[
        bool, Assumption("the first state is not negative, as all after it; else of any sign")
    ] = True


def recurrent_weights(units: int, seed: int, *, identity: bool) -> Weights:
    """Of a layer as the library starts it, in double precision."""
    with seeded(derive_seed(seed, "identity-rnn")):
        stack = RecurrentStack(ELMAN, units, units).double()
    if identity:
        start_as_identity(stack)
    return {name: weight.detach() for name, weight in stack.weights(0).items()}


def states_over_time(
    weights: Weights, activation: Callable[[Tensor], Tensor], first: Tensor
) -> Tensor:
    """The states after 0, 1, 2, ... steps without input, (T + 1, ...)."""
    states, x = [first], torch.zeros_like(first)
    for _ in range(STEPS):
        states += elman_step(x, (states[-1],), weights, activation)
    return torch.stack(states)


def measure_identity_rnn(given: IdentityConfig, seed: int, effort: Effort) -> Verdict:
    """A thousand steps without input: the states, and the Jacobian of the last by the first."""
    rng = generator(seed, "identity-rnn")
    first = torch.randn(ROWS[effort], given.units, generator=rng, dtype=torch.float64)
    first = first.abs() if given.not_negative else first
    weights = recurrent_weights(given.units, seed, identity=given.identity)
    activation = torch.relu if given.rectified else torch.tanh
    states = states_over_time(weights, activation, first)
    jacobian: Tensor = jacrev(lambda h: states_over_time(weights, activation, h)[-1])(first[0])
    return Verdict(
        findings=(
            no_violations(
                f"states that differ after {STEPS} steps",
                int((states[-1] != first).sum()),
                n=first.numel(),
            ),
            at_most(
                "entries of dh_T/dh_0 less the identity, the largest",
                0,
                float((jacobian - torch.eye(given.units)).abs().max()),
                n=jacobian.numel(),
            ),
        ),
        chart=_identity_chart(states, seed),
    )


def change(states: Tensor) -> Tensor:
    """How far the states after 1, 2, ... steps lie from the first, over its length: (T,)."""
    lengths: Tensor = (states - states[0]).norm(dim=(1, 2))[1:]
    return lengths.div(states[0].norm())


def _identity_chart(states: Tensor, seed: int) -> ClaimChart:
    """How the states change, beside those of tanh units."""
    steps, first = torch.arange(1, STEPS + 1), states[0, :1]
    some = torch.unique((10 ** torch.linspace(0, 3, 25)).round().long()) - 1
    lines = []
    for name, identity in (("tanh, from the identity", True), ("tanh, random weights", False)):
        weights = recurrent_weights(first.shape[1], seed, identity=identity)
        lines.append(line(name, steps, change(states_over_time(weights, torch.tanh, first))))
    return ClaimChart(
        x_label="steps without input",
        y_label="change of the state, over its length",
        series=(
            predicted("no change", (1, STEPS), (0, 0)),
            measured("this network", steps[some], change(states)[some]),
            *lines,
        ),
        explanation="The state of a recurrent network that is left to itself. ReLU units whose "
        "weights start as the identity hand it on; tanh squashes it a little at each step, and "
        "random weights forget it at once.",
        log="x",
    )


IDENTITY_RNN = Claim(
    card=Card(
        sentence="Rectified recurrent units that start from the identity keep their state, and the"
        " gradient through it, for as long as nothing comes in.",
        formula=r"h_t = \max(0, U h_{t-1}), \quad U = I, \; h_0 \ge 0 \;\Rightarrow\;"
        r" h_T = h_0, \quad \frac{\partial h_T}{\partial h_0} = I",
        symbols={
            "h_t": "the state after step t, (H)",
            "U": "recurrent weights, (H, H)",
        },
        source="Le, Jaitly and Hinton (2015), arXiv:1504.00941",
    ),
    topic="Sequences",
    kind="theorem",
    settings=IdentityConfig,
    experiment=measure_identity_rnn,
)
