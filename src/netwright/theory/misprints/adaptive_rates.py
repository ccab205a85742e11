"""Misprints about optimizers with a rate for each weight, against torch's own."""

import math
from typing import Any

import torch

from netwright.optimizers.catalog import OPTIMIZERS
from netwright.theory.misprints.entry import Misprint, Telling

GRADIENTS = (1.0, -0.5, 0.25, 2.0, -1.0)
STEADY = (1.0,) * 200
FIRST, SECOND, EPSILON, RATE = 0.9, 0.999, 1e-8, 0.1


def torch_steps(
    name: str, gradients: tuple[float, ...] = GRADIENTS, start: float = 0.0, **settings: Any
) -> float:
    """Where torch's optimizer of this name takes a weight."""
    weight = torch.tensor([start], dtype=torch.float64, requires_grad=True)
    optimizer = OPTIMIZERS.load(name).make([weight], **settings)
    for gradient in gradients:
        weight.grad = torch.tensor([gradient], dtype=torch.float64)
        optimizer.step()
    return float(weight.detach())


def adam_steps(*, mean: bool = True, corrected: bool = True) -> float:
    """Where Adam takes a weight from 0, with a part of it left out."""
    w = m = v = 0.0
    for t, gradient in enumerate(GRADIENTS, start=1):
        m = FIRST * m + (1 - FIRST) * gradient
        v = SECOND * v + (1 - SECOND) * gradient**2
        direction = m / (1 - FIRST**t) if corrected else m
        scale = v / (1 - SECOND**t) if corrected else v
        w -= RATE * (direction if mean else gradient) / (math.sqrt(scale) + EPSILON)
    return w


def adam_moment() -> Telling:
    """Five steps, against torch."""
    wanted = torch_steps("adam", lr=RATE)
    return Telling(
        what="weight after five steps less the one by torch",
        rule="equals",
        bound=0.0,
        within=1e-9,
        right=adam_steps() - wanted,
        wrong=adam_steps(mean=False) - wanted,
    )


def adam_correction() -> Telling:
    """The very first step, from the running means that torch's Adam holds after a gradient of 1."""
    weight = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    rule: Any = OPTIMIZERS.load("adam")
    optimizer = rule.make([weight], lr=1.0)
    weight.grad = torch.ones(1, dtype=torch.float64)
    optimizer.step()
    m, v = (float(optimizer.state[weight][name]) for name in ("exp_avg", "exp_avg_sq"))
    return Telling(
        what="length of the first step over the learning rate",
        rule="equals",
        bound=abs(float(weight.detach())),
        within=1e-6,
        right=m / (1 - FIRST) / math.sqrt(v / (1 - SECOND)),
        wrong=m / math.sqrt(v),
    )


def adadelta_steps(*, remembers: bool) -> float:
    """Where Adadelta takes a weight from 0; without its memory of steps it never gains speed."""
    w, squares, moves = 0.0, 0.0, 0.0
    decay, epsilon = 0.9, 1e-6
    for gradient in STEADY:
        squares = decay * squares + (1 - decay) * gradient**2
        step = -math.sqrt(moves + epsilon) / math.sqrt(squares + epsilon) * gradient
        if remembers:
            moves = decay * moves + (1 - decay) * step**2
        w += step
    return w


def adadelta_memory() -> Telling:
    """Two hundred steps, against torch."""
    wanted = torch_steps("adadelta", STEADY, lr=1.0, rho=0.9, eps=1e-6)
    return Telling(
        what="weight after 200 gradients of 1 over the one by torch",
        rule="equals",
        bound=1.0,
        within=1e-9,
        right=adadelta_steps(remembers=True) / wanted,
        wrong=adadelta_steps(remembers=False) / wanted,
    )


def nadam_steps(*, ahead: bool) -> float:
    """Where NAdam takes a weight from 0, if the momentum is corrected for the step to come."""
    w = m = v = 0.0
    for t, gradient in enumerate(GRADIENTS, start=1):
        m = FIRST * m + (1 - FIRST) * gradient
        v = SECOND * v + (1 - SECOND) * gradient**2
        momentum = FIRST * m / (1 - FIRST ** (t + 1 if ahead else t))
        direction = momentum + (1 - FIRST) * gradient / (1 - FIRST**t)
        w -= RATE * direction / (math.sqrt(v / (1 - SECOND**t)) + EPSILON)
    return w


def nadam_correction() -> Telling:
    """Five steps, against torch with a momentum that stays the same."""
    # torch lets the momentum rise towards its value; this fast, it is there from the start.
    wanted = torch_steps("nadam", lr=RATE, momentum_decay=1e6)
    return Telling(
        what="weight after five steps less the one by torch",
        rule="equals",
        bound=0.0,
        within=1e-6,
        right=nadam_steps(ahead=True) - wanted,
        wrong=nadam_steps(ahead=False) - wanted,
    )


def adagrad_rate() -> Telling:
    """The rate after 100 gradients of 1."""
    total = 100.0
    before, after = (torch_steps("adagrad", (1.0,) * count, lr=1.0) for count in (99, 100))
    return Telling(
        what="rate of the weight after 100 gradients of 1",
        rule="equals",
        bound=before - after,
        within=1e-6,
        right=1 / math.sqrt(total),
        wrong=total,
    )


ADAPTIVE_RATES = (
    Misprint(
        name="adagrad-sum",
        topic="Optimizers",
        right=r"G_{ii} = \sum_t g_{t,i}^2, \quad"
        r" \text{rate} = \frac{\eta}{\sqrt{G_{ii} + \epsilon}}",
        wrong=r"\text{rate} = G_{ii}",
        difference="G is the sum of squared gradients; the rate is η over its root, and shrinks.",
        experiment=adagrad_rate,
    ),
    Misprint(
        name="adadelta-memory",
        topic="Optimizers",
        right=r"\Delta w = -\frac{\mathrm{RMS}[\Delta w]}{\mathrm{RMS}[g]} g, \quad"
        r" E[\Delta w^2] \leftarrow \rho E[\Delta w^2] + (1-\rho) \Delta w^2",
        wrong=r"\Delta w = -\frac{\mathrm{RMS}[\Delta w]}{\mathrm{RMS}[g]} g",
        difference="Without the second line the mean of squared steps stays 0, and the steps tiny.",
        experiment=adadelta_memory,
    ),
    Misprint(
        name="adam-first-moment",
        topic="Optimizers",
        right=r"w \leftarrow w - \eta \frac{\hat m}{\sqrt{\hat v} + \epsilon}",
        wrong=r"w \leftarrow w - \eta \frac{g}{\sqrt{\hat v} + \epsilon}",
        difference="Adam steps along the running mean; with the gradient itself it is RMSProp.",
        experiment=adam_moment,
    ),
    Misprint(
        name="adam-bias-correction",
        topic="Optimizers",
        right=r"\hat m = \frac{m}{1-\beta_1^t}, \quad \hat v = \frac{v}{1-\beta_2^t}, \quad"
        r" w \leftarrow w - \eta \frac{\hat m}{\sqrt{\hat v} + \epsilon}",
        wrong=r"w \leftarrow w - \eta \frac{m}{\sqrt{v} + \epsilon}",
        difference="Both means start at 0; uncorrected, the first step is 3.16 times too long.",
        experiment=adam_correction,
    ),
    Misprint(
        name="nadam-correction",
        topic="Optimizers",
        right=r"\frac{\beta_1 m_t}{1-\beta_1^{t+1}} + \frac{(1-\beta_1) g_t}{1-\beta_1^t}",
        wrong=r"\frac{\beta_1 m_t}{1-\beta_1^t} + \frac{(1-\beta_1) g_t}{1-\beta_1^t}",
        difference="The momentum is that of the next step, and is corrected as such.",
        experiment=nadam_correction,
    ),
)
