r"""Teacher forcing learns fast, and leaves a model unused to its own mistakes.

A network whose only memory is its output, y_t = g(y_{t-1}), is trained in two ways:

    teacher forcing    it is fed the true y_{t-1} at every step: steps are independent of each other
    free running       it is fed its own outputs, and the gradient goes back through all of them

After training it must run freely, and each small mistake is then an input that it has not seen. On
a map that pulls neighbours apart also the true map f loses the truth, which is noisy. A mistake is
therefore what a network is away from f where both are fed alike, and a perfect one makes none:

    by itself        (g(g(... y_0)) - f(f(... y_0)))^2
    fed the truth    (g(y_{t-1}) - f(y_{t-1}))^2

Exposure bias: mistakes compound, and soon are larger than those of a network trained on its own
outputs.

Shapes: R tries, B sequences, T steps, H hidden units; values are (B, 1).
Source: Williams and Zipser (1989); Bengio et al., "Scheduled Sampling" (2015).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed, generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.recurrence.recurrent_cells import States, jordan_step
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import (
    ClaimFinding,
    Verdict,
    at_least,
    at_most,
    estimate_ratio,
    estimate_share,
)

UNITS = 16
SEQUENCES, LEARNED = 64, 3  # to learn from, of so many steps
TESTED, HORIZON, FAR = 200, 50, 5
NOISE = 0.01
GOOD = 0.25  # root mean squared error by itself that counts as learned; values spread by 0.5
MOST_UPDATES = 150
TRIES = {"quick": 12, "full": 20}
CHAOTIC, CALM = 1.8, 0.6  # curvatures of the map 1 - a y^2

Weights = dict[str, Tensor]
Run = Callable[[Weights, Tensor], Tensor]


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
        values.append((true_map(curvature, values[-1]) + noise).clamp(-1, 1))
    return torch.stack(values[20:])


def true_map(curvature: float, values: Tensor) -> Tensor:
    """The next values, but for the noise."""
    return 1 - curvature * values.square()


def true_path(curvature: float, truth: Tensor) -> Tensor:
    """Where the true map by itself leads from the first of values (T + 1, B, 1): (T, B, 1)."""
    path = [truth[0]]
    for _ in truth[1:]:
        path.append(true_map(curvature, path[-1]))
    return torch.stack(path[1:])


def new_network(rng: torch.Generator) -> Weights:
    """The weights of a Jordan network without inputs but its last output."""
    shapes = {
        "weight_ih": (UNITS, 1),
        "weight_hh": (UNITS, 1),
        "weight_ho": (1, UNITS),
        "bias_ho": (1,),
    }
    return {name: 0.5 * torch.randn(shape, generator=rng) for name, shape in shapes.items()}


def forced(weights: Weights, truth: Tensor) -> Tensor:
    """Outputs (T, B, 1) where the truth (T + 1, B, 1) is fed at each step: all at once."""
    return jordan_step(torch.ones_like(truth[:-1]), (truth[:-1],), weights)[0]


def free(weights: Weights, truth: Tensor) -> Tensor:
    """Outputs (T, B, 1) where, after the first true value, each output is fed back."""
    state: States = (truth[0],)
    outputs = []
    for _ in truth[1:]:
        state = jordan_step(torch.ones_like(truth[0]), state, weights)
        outputs.append(state[0])
    return torch.stack(outputs)


def train(run: Run, lr: float, starts: Weights, truth: Tensor) -> tuple[Weights, Tensor]:
    """Train the networks of all tries side by side.

    Args:
        run: forced or free.
        lr: learning rate of Adam.
        starts: first weights, (R, ...) each.
        truth: sequences to learn from, (R, T + 1, B, 1).

    Returns:
        the weights after all updates, and after how many each network could run by itself, (R,).
    """
    weights = {name: start.clone().requires_grad_() for name, start in starts.items()}
    adam = torch.optim.Adam(weights.values(), lr=lr)
    learned = torch.full((len(truth),), MOST_UPDATES)
    for update in range(MOST_UPDATES):
        with torch.no_grad():
            good = errors_by_step(torch.vmap(free)(weights, truth), truth[:, 1:]).mean(1) < GOOD**2
        learned = torch.where(good, learned.clamp(max=update), learned)
        adam.zero_grad()
        missed = torch.vmap(run)(weights, truth) - truth[:, 1:]
        torch.autograd.backward(missed.square().mean(dim=(1, 2, 3)).sum())
        adam.step()
    return {name: weight.detach() for name, weight in weights.items()}, learned


def errors_by_step(outputs: Tensor, wanted: Tensor) -> Tensor:
    """Mean squared error after 1, 2, ... steps: (..., T, B, 1) -> (..., T)."""
    return (outputs - wanted).square().mean(dim=(-2, -1))


def growth(mistakes: Tensor) -> Tensor:
    """Mistakes (R, T) after FAR steps over those after one, (R,)."""
    return mistakes[:, FAR - 1] / mistakes[:, 0]


def measure_teacher_forcing(given: TeacherForcingConfig, seed: int, effort: Effort) -> Verdict:
    """Train both ways, then run both networks and the true map by themselves."""
    curvature = CHAOTIC if given.pulls_apart else CALM
    rngs = [
        generator(derive_seed(seed, "teacher-forcing", index), "drawn")
        for index in range(TRIES[effort])
    ]
    truth, new = (
        torch.stack([draw_sequences(curvature, *size, rng) for rng in rngs])
        for size in ((SEQUENCES, LEARNED), (TESTED, HORIZON))
    )
    networks = [new_network(rng) for rng in rngs]
    starts = {name: torch.stack([one[name] for one in networks]) for name in networks[0]}
    taught, updates = train(forced, given.lr, starts, truth)
    loose, others = train(free, given.lr, starts, truth)

    ideal = torch.stack([true_path(curvature, one) for one in new])
    told = torch.vmap(forced)(taught, new)
    alone = torch.vmap(free)(taught, new)
    used_to_it = torch.vmap(free)(loose, new)
    steady = errors_by_step(told, true_map(curvature, new[:, :-1]))
    mistakes = errors_by_step(alone, ideal) if given.own_outputs else steady
    compared = mistakes / errors_by_step(used_to_it, ideal)
    curves = {
        "the true map by itself": ideal,
        "by itself, after teacher forcing": alone,
        "by itself, after free running": used_to_it,
        "fed the truth, after teacher forcing": told,
    }
    return Verdict(
        findings=(
            *_speed_findings(updates, others),
            at_least(
                f"mistake after {FAR} steps over that after one, by itself",
                10,
                **estimate_ratio(growth(mistakes).tolist()).as_measured(),
            ),
            at_most(
                "the same, fed the truth",
                2,
                **estimate_ratio(growth(steady).tolist()).as_measured(),
            ),
            at_least(
                f"that mistake after {FAR} steps over the one after training by free running",
                1,
                **estimate_ratio(compared[:, FAR - 1].tolist()).as_measured(),
            ),
        ),
        chart=_chart(
            {name: errors_by_step(run, new[:, 1:]).mean(dim=0) for name, run in curves.items()}
        ),
    )


def _speed_findings(updates: Tensor, others: Tensor) -> tuple[ClaimFinding, ...]:
    """Updates (R,) until a network runs well by itself, by teacher forcing and by free running."""
    learned = estimate_share(int((others < MOST_UPDATES).sum()), len(others))
    return (
        at_most(
            f"updates by teacher forcing over those by free running, to an error of {GOOD}",
            1,
            **estimate_ratio(((1 + updates) / (1 + others)).tolist()).as_measured(),
        ),
        at_least(
            f"share of free runs that come to it within {MOST_UPDATES} updates",
            0.5,
            **learned.as_measured(),
        ),
    )


def _chart(curves: dict[str, Tensor]) -> ClaimChart:
    """Errors over the horizon; the true map is the best that there is."""
    steps = range(1, HORIZON + 1)
    (best, by_map), *others = curves.items()
    return ClaimChart(
        x_label="steps after the last true value, horizon",
        y_label="mean squared error",
        series=(
            predicted(best, steps, by_map),
            *(measured(name, steps, errors) for name, errors in others),
        ),
        explanation="The truth is noisy, so that also the true map loses it after some ten steps."
        " A network trained by teacher forcing loses it sooner: by itself it lives with its own"
        " mistakes, which it never saw in training.",
        log="xy",
    )


TEACHER_FORCING = Claim(
    card=Card(
        sentence="Teacher forcing learns in fewer updates, but the model it leaves compounds its"
        " own mistakes when it runs by itself, and soon errs more than one trained on its own"
        " outputs.",
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
