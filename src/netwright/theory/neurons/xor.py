r"""Exclusive or: what one plane cannot do, two ReLU units can, if they are found.

A line would need c <= 0, w1 + c > 0, w2 + c > 0 and w1 + w2 + c <= 0: the middle two add up to
w1 + w2 + 2c > 0, which with the last gives c > 0.

Shapes: B = 4 rows of the truth table, H hidden units, S networks side by side.
Source: Minsky and Papert, "Perceptrons" (1969), chapter 1; Goodfellow, Bengio and Courville, "Deep
Learning" (2016), section 6.1.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, parse
from netwright.core.seeding import derive_seed, seeded
from netwright.data.dataset import Split
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.models.linear.regression import LeastSquares, LeastSquaresConfig
from netwright.models.neurons.perceptron import Perceptron
from netwright.models.neurons.rosenblatt import Rosenblatt
from netwright.models.neurons.separability import is_separable
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.neurons.xor_networks import (
    CORNERS,
    OR,
    XOR,
    near_solution,
    random_networks,
    spec,
    trained_answers,
    two_unit_network,
)
from netwright.theory.verdict import Verdict, at_least, at_most, equals, estimate_share

ROWS = ("0, 0", "0, 1", "1, 0", "1, 1")
GRID = {"quick": 21, "full": 61}  # values of each weight and of the bias
NETWORKS = {"quick": 40, "full": 400}
SEEDS = {"quick": 100, "full": 400}
FEW = 2  # hidden units that can represent it
WITHOUT = 10  # seeds without the layer, which all fail alike and take the longest
HALF = 0.5
SYMBOLS = {"x": "a row of the truth table, (2)", "y": "1 where the two differ, else 0"}


@dataclass(frozen=True, kw_only=True)
class LinearConfig(Config):
    """The truth table."""

    exclusive: Annotated[bool, Assumption("the table is exclusive or; off: or")] = True


def best_accuracy_on_grid(targets: Tensor, size: int) -> float:
    """The most rows that any line of a grid of weights and biases in [-2, 2] gets right."""
    values = torch.linspace(-2, 2, size, dtype=torch.float64)
    lines = torch.cartesian_prod(values, values, values)  # (lines, 3)
    answers = lines[:, :2] @ CORNERS.T + lines[:, 2:] > 0
    return float((answers == (targets > HALF)).double().mean(dim=1).max())


def measure_linear(given: LinearConfig, seed: int, effort: Effort) -> Verdict:
    """Least squares, a linear program, and every line of a grid."""
    targets = XOR if given.exclusive else OR
    model = LeastSquares.build(LeastSquaresConfig(), spec("real", 1)).double()
    (step,) = model.fit_steps(Split(inputs=CORNERS, targets=targets[:, None]), seed)
    size_of_weights = float(model.affine.weight.detach().abs().max())
    bias = float(model.affine.bias.detach())
    with torch.no_grad():
        answers = model(CORNERS)[:, 0]
    size = GRID[effort]
    return Verdict(
        findings=(
            equals("larger weight of least squares", 0, size_of_weights, within=1e-12, n=4),
            equals("bias of least squares", HALF, bias, within=1e-12, n=4),
            equals("mean squared error", 0.25, step["loss"], within=1e-12, n=4),
            equals(
                "separating lines, by a linear program (1: there is one)",
                0,
                is_separable(CORNERS, 2 * targets - 1),
                n=4,
            ),
            equals(
                "most of the rows that a line gets right, by trying a grid",
                0.75,
                best_accuracy_on_grid(targets, size),
                n=size**3,
            ),
        ),
        chart=ClaimChart(
            x_label="inputs",
            y_label="output",
            series=(
                predicted("truth table", range(4), targets),
                measured("best linear fit", range(4), answers),
            ),
            explanation="The best linear fit says one half everywhere: it has learned nothing."
            if given.exclusive
            else "The best linear fit rises where the table does: a line at one half separates it.",
            categories=ROWS,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class TwoReLUsConfig(Config):
    """The hidden units."""

    relu: Annotated[bool, Assumption("hidden units are ReLUs; off: they are linear")] = True


def measure_two_relus(given: TwoReLUsConfig, seed: int, effort: Effort) -> Verdict:
    """The four rows through the network whose weights are written down."""
    with torch.no_grad():
        answers = two_unit_network("relu" if given.relu else "identity")(CORNERS)[:, 0]
    return Verdict(
        findings=(
            equals("largest error of the four rows", 0, (answers - XOR).abs().max(), n=len(XOR)),
        ),
        chart=ClaimChart(
            x_label="inputs",
            y_label="output",
            series=(
                predicted("exclusive or", range(4), XOR),
                measured("two hidden units", range(4), answers),
            ),
            explanation="One unit answers where both inputs are on, the other where both are off; "
            "each takes the 1 away."
            if given.relu
            else "Units that are not bent only add up to another linear map: it gives the same "
            "answer everywhere.",
            categories=ROWS,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class HardToTrainConfig(Config):
    """A second width, and how both are trained."""

    many: Annotated[
        int, Interval(ge=8, le=100), Doc("hidden units of the wide networks; the narrow have 2")
    ] = 8
    lr: Annotated[float, Interval(ge=0.1, le=2), Doc("step size")] = 0.5
    steps: Annotated[
        int, Interval(ge=500, le=10_000), Doc("of gradient descent on all four rows")
    ] = 1000
    random_start: Annotated[
        bool, Assumption("weights start at random; off: near a solution that is known")
    ] = True


def measure_hard_to_train(given: HardToTrainConfig, seed: int, effort: Effort) -> Verdict:
    """How many networks of each width get all four rows right."""
    shares = []
    for width in (FEW, given.many):
        models = random_networks(width, NETWORKS[effort], seed)
        if not given.random_start:
            models = [near_solution(model) for model in models]
        answers = trained_answers(models, given.lr, given.steps)
        solved = ((answers > 0) == (XOR > HALF)).all(dim=1)
        shares.append(estimate_share(int(solved.sum()), len(solved)))
    few, many = shares
    places = (0, 1)
    return Verdict(
        findings=(
            at_most(
                f"share of networks of {FEW} units that learn XOR",
                HALF,
                few.mean,
                n=few.n,
                interval=few.interval,
            ),
            at_least(
                f"share of networks of {given.many} units that learn XOR",
                0.9,
                many.mean,
                n=many.n,
                interval=many.interval,
            ),
        ),
        chart=ClaimChart(
            x_label="hidden ReLU units",
            y_label="share of networks that learn XOR",
            series=(
                predicted("what is claimed", places, (HALF, 0.9)),
                measured(
                    f"{few.n} random starts each",
                    places,
                    [share.mean for share in shares],
                    [share.interval for share in shares],
                ),
            ),
            explanation="Two units can represent XOR, but descent rarely finds how: units die or "
            "fall together. With more units some pair is nearly always well placed."
            if given.random_start
            else "From next to a solution descent finds it with two units too: it is the random "
            "start that is hard to leave.",
            categories=(str(FEW), str(given.many)),
        ),
    )


@dataclass(frozen=True, kw_only=True)
class RandomLayerConfig(Config):
    """The random layer."""

    units: Annotated[int, Interval(ge=20, le=1000), Doc("random threshold units")] = 20
    passes: Annotated[
        int, Interval(ge=20, le=1000), Doc("of the perceptron behind them, at most")
    ] = 50
    hidden_layer: Annotated[
        bool, Assumption("a random hidden layer comes first; off: the perceptron sees the inputs")
    ] = True


def solves_xor(model: Perceptron, seed: int) -> bool:
    """Whether the model gets all four rows right after learning from them."""
    data = Split(inputs=CORNERS.float(), targets=XOR.long())
    for _ in model.fit_steps(data, seed):
        pass
    with torch.no_grad():
        return bool((model(data.inputs).argmax(dim=1) == data.targets).all())


def measure_random_layer(given: RandomLayerConfig, seed: int, effort: Effort) -> Verdict:
    """How many random layers let a perceptron learn XOR, and how often it does without one."""
    seeds = [derive_seed(seed, "random layer", index) for index in range(SEEDS[effort])]

    def learns(own: int, *, layer: bool) -> bool:
        kind = Rosenblatt if layer else Perceptron
        config = {"epochs": given.passes, **({"units": given.units} if layer else {})}
        with seeded(own):
            model = kind.build(parse(kind.settings, config), spec("class", 2))
        return solves_xor(model, own)

    tried = seeds if given.hidden_layer else seeds[:WITHOUT]
    behind = estimate_share(sum(learns(own, layer=given.hidden_layer) for own in tried), len(tried))
    without = estimate_share(sum(learns(own, layer=False) for own in seeds[:WITHOUT]), WITHOUT)
    return Verdict(
        findings=(
            at_least(
                f"share of seeds that learn XOR behind {given.units} random units",
                0.9,
                behind.mean,
                n=behind.n,
                interval=behind.interval,
            ),
            equals("share of seeds that learn XOR without them", 0, without.mean, n=without.n),
        ),
        chart=ClaimChart(
            x_label="random threshold units",
            y_label="share of seeds that learn XOR",
            series=(
                predicted("what is claimed", (0, 1), (0, 0.9)),
                measured(
                    f"{without.n} and {behind.n} seeds",
                    (0, 1),
                    (without.mean, behind.mean),
                    (without.interval, behind.interval),
                ),
            ),
            explanation="A layer that never learns is enough: among many random units some cut "
            "the square so that a plane behind them can finish the work."
            if given.hidden_layer
            else "Without the layer the perceptron sees the inputs alone, and never learns XOR.",
            categories=("0", str(given.units) if given.hidden_layer else "0, layer switched off"),
        ),
    )


LINEAR = Claim(
    card=Card(
        sentence="No line fits exclusive or: the best linear fit is w = 0, b = 1/2.",
        formula=r"\arg\min_{w, b} \sum_x (w^T x + b - y)^2 = (0, \tfrac{1}{2}), \quad"
        r" V(S) = \emptyset",
        symbols={**SYMBOLS, "V(S)": "all lines that separate the table"},
        source="Minsky and Papert (1969), Perceptrons, chapter 1",
    ),
    topic="Neurons",
    kind="theorem",
    settings=LinearConfig,
    experiment=measure_linear,
)
TWO_RELUS = Claim(
    card=Card(
        sentence="Two ReLU units represent exclusive or exactly.",
        formula=r"y = 1 - 2 \max(0, x_1 + x_2 - \tfrac{3}{2})"
        r" - 2 \max(0, \tfrac{1}{2} - x_1 - x_2)",
        symbols=SYMBOLS,
        source="Goodfellow, Bengio and Courville (2016), Deep Learning, section 6.1",
    ),
    topic="Neurons",
    kind="theorem",
    settings=TwoReLUsConfig,
    experiment=measure_two_relus,
)
HARD_TO_TRAIN = Claim(
    card=Card(
        sentence="Two hidden ReLU units can represent exclusive or, but are hard to train to it.",
        formula=r"P(\text{learned} \mid H = 2) \le \tfrac{1}{2}, \quad"
        r" P(\text{learned} \mid H = 8) \ge 0.9",
        symbols={**SYMBOLS, "H": "hidden ReLU units"},
        source="Measured here; the two units: Goodfellow, Bengio and Courville (2016), Deep "
        "Learning, section 6.1",
    ),
    topic="Neurons",
    kind="empirical",
    settings=HardToTrainConfig,
    experiment=measure_hard_to_train,
)
RANDOM_LAYER = Claim(
    card=Card(
        sentence="A perceptron behind a fixed random layer of 20 threshold units solves XOR.",
        formula=r"f(x) = \operatorname{sgn}(w^T \Theta(A x + a) + b), \quad"
        r" A_{ij}, a_i \sim N(0, 1)",
        symbols={
            **SYMBOLS,
            "A, a": "random, never learned, (20, 2) and (20)",
            r"\Theta": "the step: 1 above zero, else 0",
            "w, b": "learned by the perceptron rule, (20)",
        },
        source="Rosenblatt (1962), Principles of Neurodynamics, chapter 5",
    ),
    topic="Neurons",
    kind="empirical",
    settings=RandomLayerConfig,
    experiment=measure_random_layer,
)
