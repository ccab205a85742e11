r"""Gated cells remember what a plain recurrent network forgets.

The plain state goes through a matrix and a squashing function at each step, and its gradient
vanishes. The LSTM's cell and the GRU's state are handed on times a gate that may stay near 1. It
must begin there: from the usual start, where gates are half open, as few steps of training teach
no network to remember.

    recall    the first of T tokens is asked for after the noise that follows it
    adding    two of T numbers are marked; their sum is asked for. Guessing 1 errs by 1/6 in square

Shapes: T steps.
Source: Hochreiter and Schmidhuber, "Long Short-Term Memory" (1997); Cho et al. (2014).
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import torch
from annotated_types import Interval

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed
from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.models.model import Model
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.trained_measures import build_named, trained_measures
from netwright.theory.verdict import ClaimFinding, Verdict, at_least, at_most, estimate

CELLS = {"lstm": "LSTM", "gru": "GRU", "elman": "plain (Elman)"}
SYMBOLS = 4  # first tokens to recall
GUESSED = 100 / SYMBOLS  # per cent
RECALLED, FORGOTTEN = 70.0, 60.0  # per cent, at least and at most
SHORT = 3
OPEN = 6.0  # bias of a gate that keeps 99.8 % a step
TRIES = {"quick": 1, "full": 5}
ADDING_TRIES = 3  # in full alone
SEQUENCES, TESTED = 1000, 200  # of which so many are for the test
TRAINING = {"lr": 3e-2, "batch_size": 32, "clip_norm": 1.0, "max_steps": 50, "epochs": 50}
ADDING = {"length": 100, "n": 30_000}
ADDING_TRAINING = {"lr": 2e-2, "batch_size": 50, "clip_norm": 1.0, "max_steps": 400}
ADDED, GUESSED_SUM = 0.02, 1 / 6  # squared errors
UNADDED = 0.75 * GUESSED_SUM


@dataclass(frozen=True, kw_only=True)
class GatedMemoryConfig(Config):
    """What is to be remembered, and how the gates begin."""

    length: Annotated[int, Interval(ge=20, le=200), Doc("T, tokens over which to recall")] = 40
    long_gap: Annotated[bool, Assumption("many steps lie between; without it, two")] = True
    open_gates: Annotated[
        bool, Assumption("gates begin open, so that the state is kept; without it, as usual")
    ] = True


@torch.no_grad()
def open_gates(stack: RecurrentStack, name: str) -> None:
    """Start the gates that keep a state near 1, and the LSTM's that lets in near 0."""
    gates = stack.weights(0)["bias_ih"].view(-1, stack.hidden)
    if name in {"lstm", "gru"}:
        gates[1] = OPEN  # the LSTM's forget gate, the GRU's update gate
    if name == "lstm":
        gates[0] = -OPEN / 2  # else what comes in all the time fills the cell


def build_memory(
    name: str, data: Data, given: GatedMemoryConfig, seed: int, **settings: Any
) -> Model:
    """A recurrent network of one layer."""
    model = build_named(name, data, seed=seed, dropout=0.0, **settings)
    if given.open_gates:
        open_gates(model.backbone, name)  # type: ignore[arg-type]
    return model


def recalled(given: GatedMemoryConfig, seed: int) -> dict[str, float]:
    """How many first tokens each network recalls after training, in per cent."""
    data = load(
        "recall",
        length=given.length if given.long_gap else SHORT,
        symbols=SYMBOLS,
        n=SEQUENCES,
        val_size=0,
        test_size=TESTED / SEQUENCES,
        seed=seed,
    )
    data = replace(data, spec=replace(data.spec, padding=None))  # all are equally long: quicker
    models = {name: build_memory(name, data, given, seed, hidden=16, embedding=8) for name in CELLS}
    return {
        name: 100 * trained_measures(model, data, seed=seed, train=TRAINING)["accuracy"]
        for name, model in models.items()
    }


def added(given: GatedMemoryConfig, seed: int) -> dict[str, float]:
    """The squared error of each network on the adding problem."""
    data = load("adding", **ADDING, val_size=0, test_size=0.1, seed=seed)
    return {
        name: trained_measures(
            build_memory(name, data, given, seed, hidden=32),
            data,
            seed=seed,
            train={**ADDING_TRAINING, "epochs": 100},
        )["rmse"]
        ** 2
        for name in CELLS
    }


def measure_gated_memory(given: GatedMemoryConfig, seed: int, effort: Effort) -> Verdict:
    """Train the three to recall; in full also to add."""
    seeds = [derive_seed(seed, "gated-memory", index) for index in range(TRIES[effort])]
    tried = [recalled(given, own) for own in seeds]
    dots = [(place, found[name]) for place, name in enumerate(CELLS) for found in tried]
    return Verdict(
        findings=(
            *_recall_findings(tried),
            *(() if effort == "quick" else _adding_findings(given, seeds[:ADDING_TRIES])),
        ),
        chart=ClaimChart(
            x_label="",
            y_label="first tokens recalled, %",
            series=(
                predicted("guessing", range(len(CELLS)), [GUESSED] * len(CELLS)),
                measured("a trained network", *zip(*dots, strict=True)),
            ),
            explanation=f"Networks of 16 units, after {TRAINING['max_steps']} steps of training on "
            f"sequences of {given.length if given.long_gap else SHORT} tokens, say which of "
            f"{SYMBOLS} tokens came first. Gates begin "
            f"{'open' if given.open_gates else 'as usual'}; the plain network has none, and given "
            "many more steps it sometimes learns it too.",
            categories=tuple(CELLS.values()),
        ),
    )


def _recall_findings(tried: list[dict[str, float]]) -> tuple[ClaimFinding, ...]:
    found = _by_cell(tried)
    return (
        at_least("first tokens that the LSTM recalls, %", RECALLED, **found["lstm"]),
        at_least("first tokens that the GRU recalls, %", RECALLED, **found["gru"]),
        at_most("first tokens that the plain one recalls, %", FORGOTTEN, **found["elman"]),
    )


def _adding_findings(given: GatedMemoryConfig, seeds: list[int]) -> tuple[ClaimFinding, ...]:
    found = _by_cell([added(given, seed) for seed in seeds])
    return (
        at_most("squared error of the LSTM's sums", ADDED, **found["lstm"]),
        at_most("squared error of the GRU's sums", ADDED, **found["gru"]),
        at_least("squared error of the plain one's", UNADDED, **found["elman"]),
    )


def _by_cell(tried: list[dict[str, float]]) -> dict[str, dict[str, Any]]:
    """What each cell came to: the mean of several networks with its interval, or the only one."""
    values = {name: [found[name] for found in tried] for name in CELLS}
    return {
        name: {"measured": found[0], "n": 1} if len(found) == 1 else estimate(found).as_measured()
        for name, found in values.items()
    }


GATED_MEMORY = Claim(
    card=Card(
        sentence="LSTM and GRU whose gates begin open remember over many steps, where a plain"
        " recurrent network forgets.",
        formula=r"\frac{\partial c_T}{\partial c_0} \approx \prod_t f_t \quad \text{against} \quad"
        r" \frac{\partial h_T}{\partial h_0} = \prod_t \mathrm{diag}(\phi'_t) \, U",
        symbols={
            "c_t": "cell of an LSTM, (H)",
            "f_t": "its forget gate, which may stay near 1, (H)",
            "h_t": "state of the plain network, (H)",
            "U": "its recurrent weights, (H, H)",
        },
        source="Hochreiter and Schmidhuber (1997), Neural Computation 9, 1735-1780",
    ),
    topic="Sequences",
    kind="empirical",
    settings=GatedMemoryConfig,
    experiment=measure_gated_memory,
)
