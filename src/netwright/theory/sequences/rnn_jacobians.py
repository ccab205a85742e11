r"""The Jacobian of a recurrent network over many steps: a product, and so it vanishes or explodes.

With h_t = phi(U h_{t-1} + V x_t) the influence of a state on a later one is

    dh_i / dh_t = prod_{j=i}^{t+1} diag(phi'_j) U,    |dh_i / dh_t| <= (alpha sigma_1)^{i - t},

where alpha is the steepest slope of phi (1 for tanh) and sigma_1 the largest singular value of U.
It vanishes if sigma_1 < 1 / alpha; sigma_1 > 1 / alpha is needed to explode, and does not suffice.

Shapes: T steps, H units; a state is a row.
Source: Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks"
(2013).
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor
from torch.func import jacrev, vmap

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.recurrence.recurrent_cells import Weights, elman_step
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, no_violations

Activation = Callable[[Tensor], Tensor]
Units = Annotated[int, Interval(ge=2, le=256), Doc("H, units")]
NETWORKS = {"quick": 10, "full": 100}
MATRICES = {"quick": 2, "full": 20}  # at each of the singular values
STEPS = 50
ROUNDING = 1e-9  # relative
VANISHED = 1e-2
EXPLODING = 1.5  # the largest singular value where it is not below 1
SINGULAR_VALUES = tuple(place / 20 for place in range(16, 27))  # 0.8 to 1.3


def rotation(units: int, rng: torch.Generator) -> Tensor:
    """A matrix (H, H) whose singular values are all 1."""
    q: Tensor = torch.linalg.qr(random_matrix(units, rng)).Q
    return q


def random_matrix(units: int, rng: torch.Generator) -> Tensor:
    """A normal matrix (H, H) whose largest singular value is 1."""
    drawn = torch.randn(units, units, generator=rng, dtype=torch.float64)
    largest: Tensor = torch.linalg.matrix_norm(drawn, 2)
    return drawn / largest


def jacobians(weights: Weights, activation: Activation, inputs: Tensor) -> Tensor:
    """dh_t / dh_0 at h_0 = 0 of each step, (T, H, H), for inputs (T, D)."""

    def step(state: Tensor, x: Tensor) -> Tensor:
        return elman_step(x, (state,), weights, activation)[0]

    start = torch.zeros_like(weights["weight_hh"][0])
    states = torch.stack(list(accumulate(inputs[:-1], step, initial=start)))  # before each step
    one_step = vmap(jacrev(step))(states, inputs)
    return torch.stack(list(accumulate(one_step, lambda before, last: last @ before)))


def jacobian_norms(recurrent: Tensor, activation: Activation, inputs: Tensor) -> Tensor:
    """|dh_t / dh_0| of each step (T,), for inputs (T, H) that go to one unit each."""
    weights = {"weight_ih": torch.eye(len(recurrent)).double(), "weight_hh": recurrent}
    found: Tensor = torch.linalg.matrix_norm(jacobians(weights, activation, inputs), 2)
    return found


@dataclass(frozen=True, kw_only=True)
class JacobianConfig(Config):
    """The networks."""

    units: Units = 32
    singular: Annotated[
        float, Interval(gt=0, le=0.9), Doc("largest singular value of the recurrent weights")
    ] = 0.9
    contracting: Annotated[
        bool, Assumption("the largest singular value is below 1; without it, it is 1.5")
    ] = True
    bounded_slope: Annotated[
        bool, Assumption("no slope is steeper than 1; without it, units compute tanh(2a)")
    ] = True


def measure_jacobian_bound(given: JacobianConfig, seed: int, effort: Effort) -> Verdict:
    """Random tanh networks, and a rotation at rest, for which the bound is tight."""
    rng, units = generator(seed, "rnn-jacobians"), given.units
    singular = given.singular if given.contracting else EXPLODING
    activation: Activation = torch.tanh if given.bounded_slope else lambda a: (2 * a).tanh()
    driven = torch.stack(
        [
            jacobian_norms(
                singular * random_matrix(units, rng),
                activation,
                torch.randn(STEPS, units, generator=rng, dtype=torch.float64),
            )
            for _ in range(NETWORKS[effort])
        ]
    )
    at_rest = jacobian_norms(
        singular * rotation(units, rng), activation, torch.zeros(STEPS, units).double()
    )
    norms = torch.cat([driven, at_rest[None]])  # (networks, T)
    steps = torch.arange(1, STEPS + 1)
    bound = singular ** steps.double()
    above = int((norms > bound * (1 + ROUNDING)).sum())
    return Verdict(
        findings=(
            no_violations("Jacobians above the bound σ₁ᵗ", above, n=norms.numel()),
            at_most(
                f"norm of a Jacobian over {STEPS} steps, the largest",
                VANISHED,
                float(norms[:, -1].max()),
                n=len(norms),
            ),
        ),
        chart=ClaimChart(
            x_label="steps between the two states, i - t",
            y_label="norm of the Jacobian dhᵢ/dhₜ",
            series=(
                predicted(f"bound: σ₁ᵗ, σ₁ = {singular:g}", steps, bound),
                measured("random weights and inputs, largest", steps, driven.amax(dim=0)),
                measured("a rotation without inputs", steps, at_rest),
            ),
            explanation="How much a state still changes one that comes later. Random networks lie "
            "far below the bound; a rotation whose units stay at 0, where tanh is steepest, reaches"
            " it.",
            log="y",
        ),
    )


JACOBIAN_BOUND = Claim(
    card=Card(
        sentence="The influence of a recurrent network's state on a later one is at most"
        " alpha σ₁ to the number of steps, and so it vanishes where σ₁ < 1/alpha.",
        formula=r"\left\| \frac{\partial h_i}{\partial h_t} \right\| ="
        r" \left\| \prod_{j=i}^{t+1} \mathrm{diag}(\phi'_j) \, U \right\|"
        r" \le (\alpha \, \sigma_1(U))^{i-t}",
        symbols={
            "h_t": "the state after step t, (H)",
            "U": "recurrent weights, (H, H)",
            r"\phi'_j": "slopes of the activation at step j, (H)",
            r"\alpha": "the steepest slope: 1 for tanh, 1/4 for the sigmoid",
            r"\sigma_1": "the largest singular value",
        },
        source="Pascanu, Mikolov and Bengio (2013), arXiv:1211.5063",
        misprint="The product is often called one of weights, and is printed in the order of time;"
        " it is one of Jacobians, the last step first.",
    ),
    topic="Sequences",
    kind="theorem",
    settings=JacobianConfig,
    experiment=measure_jacobian_bound,
)


@dataclass(frozen=True, kw_only=True)
class VanishingConfig(Config):
    """The linear networks that refute it."""

    units: Units = 32
    every_direction: Annotated[
        bool,
        Assumption("the weights stretch all directions alike; without it, they are random"),
    ] = True


def measure_vanishing_condition(given: VanishingConfig, seed: int, effort: Effort) -> Verdict:
    """Linear networks of largest singular values from 0.8 to 1.3, where 1 / alpha is 1."""
    rng = generator(seed, "vanishing-condition")
    draw = rotation if given.every_direction else random_matrix
    weights = [draw(given.units, rng) for _ in range(MATRICES[effort])]
    at_rest = torch.zeros(STEPS, given.units).double()
    singular = torch.tensor(SINGULAR_VALUES, dtype=torch.float64)
    norms = torch.stack(
        [
            torch.stack([jacobian_norms(s * one, torch.clone, at_rest)[-1] for one in weights])
            for s in singular
        ]
    )
    said_to_vanish = norms[singular > 1 - ROUNDING]
    kind = "a rotation" if given.every_direction else "random weights"
    return Verdict(
        findings=(
            no_violations(
                f"networks with σ₁ ≥ 1/alpha whose Jacobian over {STEPS} steps is above {VANISHED}",
                int((said_to_vanish > VANISHED).sum()),
                n=said_to_vanish.numel(),
            ),
        ),
        chart=ClaimChart(
            x_label="largest singular value of the weights, σ₁ (1/alpha is 1)",
            y_label=f"norm of the Jacobian over {STEPS} steps",
            series=(
                predicted(f"the bound, σ₁ to the {STEPS}", singular, singular**STEPS),
                measured(kind, singular, norms.mean(dim=1)),
            ),
            explanation="Left of 1 the Jacobian vanishes; right of it, where it is said to vanish, "
            "it explodes."
            if given.every_direction
            else "These weights stretch one direction by σ₁ and shrink most others: the Jacobian "
            "vanishes on both sides of 1: σ₁ > 1/alpha is needed to explode, and not enough.",
            log="y",
        ),
    )


VANISHING_CONDITION = Claim(
    card=Card(
        sentence="The gradient of a recurrent network vanishes where σ₁(U) ≥ 1/alpha.",
        formula=r"\sigma_1(U) \ge \frac{1}{\alpha} \;\Rightarrow\;"
        r" \frac{\partial h_i}{\partial h_t} \to 0",
        symbols={
            "U": "recurrent weights, (H, H)",
            r"\sigma_1": "the largest singular value",
            r"\alpha": "the steepest slope of the activation",
        },
        source="Pascanu, Mikolov and Bengio (2013), arXiv:1211.5063, which has it the right way",
        misprint="It is the other way round: σ₁ < 1/alpha makes the gradient vanish, and"
        " σ₁ > 1/alpha is needed for it to explode, and not enough.",
    ),
    topic="Sequences",
    kind="false",
    settings=VanishingConfig,
    experiment=measure_vanishing_condition,
)
