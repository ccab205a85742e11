"""Misprints about threshold neurons, perceptrons, dichotomies and associative memories."""

import math
from itertools import product

import torch

from netwright.core.seeding import generator
from netwright.theory.misprints.entry import Misprint, Telling


def threshold_sign() -> Telling:
    """A neuron that should count to two: sum of inputs against a threshold of 2."""
    threshold = 2.0
    inputs = torch.tensor(list(product((0.0, 1.0), repeat=3)))
    wanted = inputs.sum(dim=1) >= threshold
    return Telling(
        what="inputs on which the neuron is not on from the threshold 2 upwards",
        rule="equals",
        bound=0,
        right=int(((inputs.sum(dim=1) - threshold >= 0) != wanted).sum()),
        wrong=int(((inputs.sum(dim=1) + threshold >= 0) != wanted).sum()),
    )


def perceptron_bound() -> Telling:
    """One example (3, 4) of class 1: its margin is its own length, and one update is needed."""
    x = torch.tensor([3.0, 4.0], dtype=torch.float64)
    updates, w = 0, torch.zeros_like(x)
    while w @ x <= 0:
        w, updates = w + x, updates + 1
    radius, margin = x.norm(), w @ x / w.norm()  # w is along x: no plane is farther from it
    bound = math.floor(radius.square() / margin.square() + 1e-9)
    return Telling(
        what="updates that are allowed less those needed, on one example",
        rule="at least",
        bound=0,
        right=bound - updates,
        wrong=bound - 1 - updates,  # the largest whole number below the bound
    )


def exclusive_or() -> Telling:
    """Both inputs on."""
    inputs = list(product((False, True), repeat=2))
    exclusive = [a != b for a, b in inputs]
    return Telling(
        what="pairs of inputs on which exactly one is on, and the symbol says otherwise",
        rule="equals",
        bound=0,
        right=sum((a ^ b) != one for (a, b), one in zip(inputs, exclusive, strict=True)),
        wrong=sum((a or b) != one for (a, b), one in zip(inputs, exclusive, strict=True)),
    )


def dichotomies(examples: int, inputs: int) -> int:
    """Cover's number C(s, n) of linearly separable labelings of s points."""
    return 2 * sum(math.comb(examples - 1, i) for i in range(inputs))


def cover_fraction() -> Telling:
    """25 inputs, twice and four times as many points."""
    inputs = 25
    twice, four = (dichotomies(times * inputs, inputs) for times in (2, 4))
    return Telling(
        what="what is left from s = 2n to s = 4n, n = 25",
        rule="at most",
        bound=1e-3,
        right=(four / 2 ** (4 * inputs)) / (twice / 2 ** (2 * inputs)),
        wrong=four / twice,
    )


def hebbian_diagonal() -> Telling:
    """A memory of 100 bits with far too many patterns: it should know no random state."""
    rng, bits = generator(0, "hebb"), 100
    stored = torch.randint(0, 2, (1000, bits), generator=rng, dtype=torch.float64) * 2 - 1
    states = torch.randint(0, 2, (200, bits), generator=rng, dtype=torch.float64) * 2 - 1
    weights = stored.T @ stored / bits

    def at_rest(matrix: torch.Tensor) -> float:
        return float(((states @ matrix) * states > 0).all(dim=1).double().mean())

    return Telling(
        what="share of random states in which no bit changes, 1000 patterns of 100 bits",
        rule="at most",
        bound=0.01,
        right=at_rest(weights - weights.diag().diag()),
        wrong=at_rest(weights),
    )


def capacity_logarithm() -> Telling:
    """Where a bit is wrong by chance: half erfc(sqrt(n / 2s)), for a million bits."""
    bits = 1e6
    edge = 1 / math.sqrt(4 * math.pi * math.log(bits))  # the largest that still goes to 0 with n

    def wrong_bits(patterns: float) -> float:
        return bits * math.erfc(math.sqrt(bits / (2 * patterns))) / 2

    return Telling(
        what="wrong bits in a pattern over the most that still vanish with n, a million bits",
        rule="equals",
        bound=1.0,
        within=0.1,
        right=wrong_bits(bits / (2 * math.log(bits))) / edge,
        wrong=wrong_bits(bits / (2 * math.log2(bits))) / edge,
    )


NEURONS_AND_MEMORIES = (
    Misprint(
        name="threshold-and-bias",
        topic="Neurons and memories",
        right=r"f(x) = \Theta(w \cdot x + b), \quad \text{threshold} = -b",
        wrong=r"f(x) = \Theta(w \cdot x + b), \quad \text{threshold} = b",
        difference="The neuron is on where the sum reaches minus the bias.",
        experiment=threshold_sign,
    ),
    Misprint(
        name="perceptron-bound",
        topic="Neurons and memories",
        right=r"\text{updates} \leq \left\lfloor \frac{R^2}{\gamma^2} \right\rfloor",
        wrong=r"\text{updates} < \left\lfloor \frac{R^2}{\gamma^2} \right\rfloor",
        difference="The bound can be reached: a single example, with R as large as the margin, "
        "needs one update.",
        experiment=perceptron_bound,
    ),
    Misprint(
        name="exclusive-or",
        topic="Neurons and memories",
        right=r"x_1 \oplus x_2",
        wrong=r"x_1 \vee x_2",
        difference="The plain sign is the inclusive or, which a single neuron can do.",
        experiment=exclusive_or,
    ),
    Misprint(
        name="cover-fraction",
        topic="Neurons and memories",
        right=r"\frac{C(s, n)}{2^s} \rightarrow 0 \; \text{ beyond } s = 2n",
        wrong=r"C(s, n) \rightarrow 0 \; \text{ beyond } s = 2n",
        difference="The number of separable labelings keeps growing; their share vanishes.",
        experiment=cover_fraction,
    ),
    Misprint(
        name="hebbian-diagonal",
        topic="Neurons and memories",
        right=r"w_{ij} = \frac{1}{n} \sum_{k=1}^{s} x_i^k x_j^k \;\; (i \neq j),"
        r" \quad w_{ii} = 0",
        wrong=r"W = \frac{1}{n} \sum_{k=1}^{s} x^k (x^k)^\top",
        difference="The sum of outer products has s/n on its diagonal: every bit votes for itself "
        "and any state becomes stable.",
        experiment=hebbian_diagonal,
    ),
    Misprint(
        name="hopfield-capacity",
        topic="Neurons and memories",
        right=r"s_{\max} = \frac{n}{2 \ln n}",
        wrong=r"s_{\max} = \frac{n}{2 \log_2 n}",
        difference="The logarithm is the natural one; with base 2 the capacity is 1.44 times too "
        "small.",
        experiment=capacity_logarithm,
    ),
)
