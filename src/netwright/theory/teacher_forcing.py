r"""Teacher forcing learns fast, and leaves a model unused to its own mistakes.

A network whose only memory is its output, y_t = g(y_{t-1}), is trained in two ways:

    teacher forcing    it is fed the true y_{t-1} at every step: steps are independent of each other
    free running       it is fed its own outputs, and the gradient goes back through all of them

After training it must run freely. Each small mistake is then an input that it has not seen, and on
a map that pulls neighbours apart the mistakes compound: exposure bias.

Shapes: B sequences, T steps, H hidden units; values are (B, 1).
Source: Williams and Zipser (1989); Bengio et al., "Scheduled Sampling" (2015).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed, generator
from netwright.inspection.claim_chart import ClaimChart, line, measured
from netwright.layers.recurrent_cells import States, jordan_step
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, at_most, estimate_ratio

UNITS = 16
SEQUENCES, LEARNED = 32, 8  # to learn from, of so many steps
TESTED, HORIZON, FAR = 200, 50, 10
NOISE = 0.01
GOOD = 0.15  # root mean squared error of one step that counts as learned; values spread by 0.5
MOST_UPDATES = 100
TRIES = {"quick": 2, "full": 20}
CHAOTIC, CALM = 1.8, 0.6  # curvatures of the map 1 - a y^2


@dataclass(frozen=True, kw_only=True)
class TeacherForcingConfig(Config):
    """The map, and what the model is fed after training."""

    lr: Annotated[float, Interval(gt=0, le=0.1), Doc("learning rate of Adam")] = 0.05
    own_outputs: Annotated[
        bool, Assumption("the trained model is fed its own outputs; without it, the truth")
    ] = True
    pulls_apart: Annotated[
        bool, Assumption("the map pulls neighbours apart; without it, it draws them together")
    ] = True


def draw_sequences(curvature: float, sequences: int, steps: int, rng: torch.Generator) -> Tensor:
    """y_t = 1 - a y_{t-1}^2 and noise, cut to [-1, 1], after 20 steps: (T + 1, B, 1)."""
    values = [2 * torch.rand(sequences, 1, generator=rng) - 1]
    for _ in range(20 + steps):
        noise = NOISE * torch.randn(sequences, 1, generator=rng)
        values.append((1 - curvature * values[-1].square() + noise).clamp(-1, 1))
    return torch.stack(values[20:])


def new_network(rng: torch.Generator) -> dict[str, Tensor]:
    """The weights of a Jordan network without inputs but its last output."""
    shapes = {
        "weight_ih": (UNITS, 1),
        "weight_hh": (UNITS, 1),
        "weight_ho": (1, UNITS),
        "bias_ho": (1,),
    }
    return {
        name: torch.randn(shape, generator=rng).mul(0.5).requires_grad_()
        for name, shape in shapes.items()
    }


def forced(weights: dict[str, Tensor], truth: Tensor) -> Tensor:
    """Outputs (T, B, 1) where the truth (T + 1, B, 1) is fed at each step: all at once."""
    return jordan_step(torch.ones_like(truth[:-1]), (truth[:-1],), weights)[0]


def free(weights: dict[str, Tensor], truth: Tensor) -> Tensor:
    """Outputs (T, B, 1) where, after the first true value, each output is fed back."""
    state: States = (truth[0],)
    outputs = []
    for _ in truth[1:]:
        state = jordan_step(torch.ones_like(truth[0]), state, weights)
        outputs.append(state[0])
    return torch.stack(outputs)


def train(
    run: Callable[[dict[str, Tensor], Tensor], Tensor],
    given: TeacherForcingConfig,
    truth: Tensor,
    rng: torch.Generator,
) -> tuple[dict[str, Tensor], int]:
    """The weights after all updates, and after how many one step was learned."""
    weights = new_network(rng)
    adam, learned = torch.optim.Adam(weights.values(), lr=given.lr), MOST_UPDATES
    for update in range(MOST_UPDATES):
        if learned == MOST_UPDATES and error(forced(weights, truth), truth) < GOOD:
            learned = update
        adam.zero_grad()
        nn.functional.mse_loss(run(weights, truth), truth[1:]).backward()  # type: ignore[no-untyped-call]
        adam.step()
    return weights, learned


@torch.no_grad()
def error(outputs: Tensor, truth: Tensor) -> float:
    """Root mean squared error of outputs (T, B, 1)."""
    return float((outputs - truth[1:]).square().mean().sqrt())


@torch.no_grad()
def errors_by_step(outputs: Tensor, truth: Tensor) -> Tensor:
    """Mean squared error after 1, 2, ... steps, (T,)."""
    return (outputs - truth[1:]).square().mean(dim=(1, 2))


def measure_teacher_forcing(given: TeacherForcingConfig, seed: int, effort: Effort) -> Verdict:
    """Train both ways, then run the teacher-forced network by itself."""
    curvature = CHAOTIC if given.pulls_apart else CALM
    sooner, grown, kept, curves = [], [], [], []
    for index in range(TRIES[effort]):
        own = derive_seed(seed, "teacher-forcing", index)
        rng = generator(own, "sequences")
        truth = draw_sequences(curvature, SEQUENCES, LEARNED, rng)
        weights, updates = train(forced, given, truth, generator(own, "weights"))
        _, others = train(free, given, truth, generator(own, "weights"))
        new = draw_sequences(curvature, TESTED, HORIZON, rng)
        told = errors_by_step(forced(weights, new), new)
        alone = errors_by_step(free(weights, new), new) if given.own_outputs else told
        sooner.append((1 + updates) / (1 + others))
        grown.append(float(alone[FAR - 1] / alone[0]))
        kept.append(float(told[FAR - 1] / told[0]))
        curves.append(torch.stack([told, alone]))
    told, alone = torch.stack(curves).mean(dim=0)
    return Verdict(
        findings=(
            at_most(
                "updates by teacher forcing over those by free running, until one step is learned",
                0.8,
                **estimate_ratio(sooner).as_measured(),
            ),
            at_least(
                f"error after {FAR} steps over that after one, running freely",
                10,
                **estimate_ratio(grown).as_measured(),
            ),
            at_most(
                f"error at step {FAR} over that at the first, fed the truth",
                2,
                **estimate_ratio(kept).as_measured(),
            ),
        ),
        chart=_chart(told, alone),
    )


def _chart(told: Tensor, alone: Tensor) -> ClaimChart:
    """Errors over the horizon, fed the truth and running freely."""
    steps = range(1, HORIZON + 1)
    return ClaimChart(
        x_label="steps after the last true value, horizon",
        y_label="mean squared error",
        series=(
            line("fed the truth at each step", steps, told),
            measured("fed its own outputs", steps, alone),
        ),
        explanation="A network trained by teacher forcing. Fed the truth it is as good at any step;"
        " by itself it must live with its own mistakes, which compound until nothing is left of"
        " what it knew.",
        log="y",
    )


TEACHER_FORCING = Claim(
    card=Card(
        sentence="Teacher forcing learns in fewer updates, but leaves a model whose errors grow"
        " with the horizon when it runs by itself.",
        formula=r"\hat y_t = g(y_{t-1}) \;\text{ in training}, \qquad"
        r" \hat y_t = g(\hat y_{t-1}) \;\text{ after it}",
        symbols={
            "y_t": "the true value of step t",
            r"\hat y_t": "what the model says",
            "g": "the network",
        },
        source="Bengio et al. (2015), arXiv:1506.03099",
        misprint="Teacher forcing makes the steps independent only where the output is all that is"
        " handed on; with a hidden state the gradient still goes back through time.",
    ),
    topic="Sequences",
    kind="empirical",
    settings=TeacherForcingConfig,
    experiment=measure_teacher_forcing,
)
