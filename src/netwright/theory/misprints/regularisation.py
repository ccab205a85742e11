"""Misprints about weight decay, noise and dropout."""

import torch

from netwright.core.seeding import generator
from netwright.theory.misprints.adaptive_rates import torch_steps
from netwright.theory.misprints.entry import Misprint, Telling


def decay_update() -> Telling:
    """Least squares on one example (1, 1) with weight decay 1: the best weight is 1/2."""

    def fit(*, decays: bool) -> float:
        w, rate, decay = 0.0, 0.1, 1.0
        for _ in range(500):
            w = ((1 - rate * decay) if decays else 1.0) * w - rate * (w - 1)
        return w

    return Telling(
        what="weight learned, with decay 1 on one example (1, 1)",
        rule="equals",
        bound=0.5,
        within=1e-9,
        right=fit(decays=True),
        wrong=fit(decays=False),
    )


def decoupled_decay() -> Telling:
    """One step from 1 with a gradient of 0.01 and decay 0.1: what Adam makes of the penalty."""
    rate, decay, gradient = 0.1, 0.1, 0.01

    def one_step(name: str) -> float:
        return torch_steps(name, (gradient,), start=1.0, lr=rate, weight_decay=decay)

    # Both take the same step of one learning rate; what is left is the decay.
    return Telling(
        what="shrinking of the weight beside Adam's step, over learning rate times decay",
        rule="equals",
        bound=1.0,
        within=1e-4,
        right=(1 - rate - one_step("adamw")) / (rate * decay),
        wrong=(1 - rate - one_step("adam")) / (rate * decay),
    )


def dropout_probability() -> Telling:
    """Dropout of torch at p = 0.2, on a vector of ones."""
    dropout, p = torch.nn.Dropout(0.2), 0.2
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        kept = float((dropout(torch.ones(100_000)) > 0).double().mean())
    return Telling(
        what="share of units that torch keeps at p = 0.2",
        rule="equals",
        bound=kept,
        within=0.01,
        right=1 - p,
        wrong=p,
    )


def input_noise() -> Telling:
    """A linear unit with weights (3, 4) and noise of deviation 0.1 on its inputs."""
    rng, deviation = generator(0, "noise"), 0.1
    weights = torch.tensor([3.0, 4.0], dtype=torch.float64)
    noise = deviation * torch.randn(200_000, 2, generator=rng, dtype=torch.float64)
    added = float((noise @ weights).square().mean())  # the squared error where it was 0
    return Telling(
        what="squared error that noise on the inputs adds, over the formula's",
        rule="equals",
        bound=1.0,
        within=0.02,
        right=added / (deviation**2 * float(weights.square().sum())),
        wrong=added / deviation**2,  # as for noise on the output: a constant
    )


REGULARISATION = (
    Misprint(
        name="weight-decay-update",
        topic="Regularisation",
        right=r"w \leftarrow (1 - \eta \lambda) w - \frac{\eta}{|B|} \sum_{i \in B} x_i"
        r" (w^\top x_i + b - y_i)",
        wrong=r"w \leftarrow w - \frac{\eta}{|B|} \sum_{i \in B} x_i (w^\top x_i + b - y_i)",
        difference="Without the factor there is no decay, and the fit is the one without penalty.",
        experiment=decay_update,
    ),
    Misprint(
        name="decay-is-not-l2",
        topic="Regularisation",
        right=r"w \leftarrow (1 - \eta \lambda) w - \eta \frac{\hat m}{\sqrt{\hat v} + \epsilon}",
        wrong=r"g \leftarrow g + \lambda w \; \text{ in Adam}",
        difference="For plain descent the two agree; Adam divides the penalty away with the "
        "gradient.",
        experiment=decoupled_decay,
    ),
    Misprint(
        name="dropout-probability",
        topic="Regularisation",
        right=r"P(\text{kept}) = 1 - p \; \text{ for Dropout}(p)",
        wrong=r"P(\text{kept}) = p \; \text{ for Dropout}(p)",
        difference="The argument of the layer is the share that is dropped.",
        experiment=dropout_probability,
    ),
    Misprint(
        name="input-noise",
        topic="Regularisation",
        right=r"\mathbb{E}(w^\top (x + \epsilon) - y)^2 = (w^\top x - y)^2 + \sigma^2 \|w\|^2",
        wrong=r"\mathbb{E}(w^\top (x + \epsilon) - y)^2 = (w^\top x - y)^2 + \sigma^2",
        difference="Noise on the inputs is a penalty on the weights; noise on the outputs adds a "
        "constant and changes nothing.",
        experiment=input_noise,
    ),
)
