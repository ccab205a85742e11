"""Misprints about least squares, logistic and softmax regression, and their gradients."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.seeding import generator
from netwright.theory.misprints.entry import Misprint, Telling


def normal_equations() -> Telling:
    """Three features and twenty examples, which are the columns of X."""
    x = torch.randn(3, 20, generator=generator(0, "least squares"), dtype=torch.float64)
    return Telling(
        what="unknowns of the equations, 3 features and 20 examples",
        rule="equals",
        bound=len(x),
        right=len(x @ x.T),
        wrong=len(x.T @ x),
    )


def bias_update() -> Telling:
    """The line y = 2x + 1 by gradient descent."""
    x = torch.linspace(-1, 1, 11, dtype=torch.float64)
    y = 2 * x + 1

    def fit(*, from_weight: bool) -> float:
        w = b = torch.zeros((), dtype=torch.float64)
        for _ in range(200):
            left = w * x + b - y
            w, b = w - 0.5 * (left * x).mean(), (w if from_weight else b) - 0.5 * left.mean()
        return float(b)

    return Telling(
        what="bias learned for y = 2x + 1",
        rule="equals",
        bound=1.0,
        within=1e-6,
        right=fit(from_weight=False),
        wrong=fit(from_weight=True),
    )


def logistic_sign() -> Telling:
    """The gradient by the bias against torch's, for the loss of one example of class 1."""
    w, x, b = 0.7, 1.3, 0.4

    def slope(probability: float) -> float:
        return probability - 1.0

    bias = torch.tensor(b, dtype=torch.float64, requires_grad=True)
    functional.softplus(-(w * x + bias)).backward()  # type: ignore[no-untyped-call]
    wanted = float(bias.grad) if bias.grad is not None else math.nan
    return Telling(
        what="gradient by the bias less the one by autograd",
        rule="equals",
        bound=0.0,
        within=1e-12,
        right=slope(1 / (1 + math.exp(-(w * x + b)))) - wanted,
        wrong=slope(1 / (1 + math.exp(-w * x + b))) - wanted,
    )


def sigmoid_quarter() -> Telling:
    """The largest value of the function and of its slope."""
    z = torch.linspace(-10, 10, 2001, dtype=torch.float64)
    values = z.sigmoid()
    return Telling(
        what="largest value, said to be 1/4",
        rule="equals",
        bound=0.25,
        within=1e-12,
        right=float((values * (1 - values)).max()),
        wrong=float(values.max()),
    )


def log_slope() -> Telling:
    """The loss -log p at p = 1/4."""
    p = torch.tensor(0.25, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(-p.log(), p)
    return Telling(
        what="derivative of -log p at 1/4",
        rule="equals",
        bound=float(slope),
        right=-1 / 0.25,
        wrong=1 / 0.25,
    )


def softmax_gradient() -> Telling:
    """The gradient of the cross-entropy of three logits, by autograd."""
    logits = torch.tensor([1.0, -0.5, 0.2], dtype=torch.float64, requires_grad=True)
    true = 0
    (wanted,) = torch.autograd.grad(-logits.log_softmax(0)[true], logits)
    p = logits.detach().softmax(0)
    one_hot = functional.one_hot(torch.tensor(true), len(p))
    return Telling(
        what="largest difference from autograd",
        rule="at most",
        bound=1e-12,
        right=float((p - one_hot - wanted).abs().max()),
        wrong=float(((p - 1) - wanted).abs().max()),  # the case of the true class, for all
    )


def cross_entropy_sign() -> Telling:
    """Descend on the loss of smoothed targets and read the probability of the true class."""
    targets = torch.tensor([0.9, 0.05, 0.05], dtype=torch.float64)

    def learn(sign: float) -> float:
        logits = torch.zeros(3, dtype=torch.float64)
        for _ in range(500):
            logits = logits - sign * (logits.softmax(0) - targets)
        return float(logits.softmax(0)[0])

    return Telling(
        what="probability of the true class after descent, target 0.9",
        rule="equals",
        bound=0.9,
        within=1e-6,
        right=learn(1.0),
        wrong=learn(-1.0),
    )


def descent_sign() -> Telling:
    """The loss (w - 1)^2 / 2 from 0."""

    def last(sign: float) -> float:
        w = 0.0
        for _ in range(100):
            w += sign * 0.1 * (w - 1)
        return (w - 1) ** 2 / 2

    return Telling(
        what="loss after 100 steps, 1/2 at first",
        rule="at most",
        bound=0.5,
        right=last(-1.0),
        wrong=last(1.0),
    )


def triangular_kernel() -> Telling:
    """Epanechnikov's kernel is the one with the least mean squared error."""
    u = torch.linspace(-1, 1, 20_001, dtype=torch.float64)

    def inefficiency(kernel: Tensor) -> float:
        """sqrt(int u^2 K) int K^2, of which 3 / (5 sqrt 5) is the least there is."""
        return float(
            torch.trapezoid(u.square() * kernel, u).sqrt() * torch.trapezoid(kernel.square(), u)
        )

    return Telling(
        what="roughness times spread of the kernel, over the least possible",
        rule="at most",
        bound=1 + 1e-6,
        right=inefficiency(0.75 * (1 - u.square())) / (3 / (5 * math.sqrt(5))),
        wrong=inefficiency(1 - u.abs()) / (3 / (5 * math.sqrt(5))),
    )


LINEAR_MODELS = (
    Misprint(
        name="normal-equations",
        topic="Linear models",
        right=r"X \in \mathbb{R}^{d \times s}: \quad X X^\top w = X y",
        wrong=r"X \in \mathbb{R}^{d \times s}: \quad X^\top X w = X^\top y",
        difference="With examples as columns the second form has one unknown for each example; it "
        "belongs to examples as rows.",
        experiment=normal_equations,
    ),
    Misprint(
        name="bias-update",
        topic="Linear models",
        right=r"b \leftarrow b - \frac{\eta}{|B|} \sum_{i \in B} (w^\top x_i + b - y_i)",
        wrong=r"b \leftarrow w - \frac{\eta}{|B|} \sum_{i \in B} (w^\top x_i + b - y_i)",
        difference="The bias starts from its own old value, not from the weights.",
        experiment=bias_update,
    ),
    Misprint(
        name="update-sign",
        topic="Linear models",
        right=r"\Delta w = -\eta \nabla L",
        wrong=r"\Delta w = \nabla L",
        difference="Along the gradient the loss grows; descent goes against it, by a small step.",
        experiment=descent_sign,
    ),
    Misprint(
        name="logistic-exponent",
        topic="Linear models",
        right=r"\sigma(w x + b) = \frac{1}{1 + e^{-(w x + b)}}",
        wrong=r"\sigma(w x + b) = \frac{1}{1 + e^{-w x + b}}",
        difference="Without the brackets the bias has the wrong sign, and gradient checks fail.",
        experiment=logistic_sign,
    ),
    Misprint(
        name="sigmoid-quarter",
        topic="Linear models",
        right=r"\max_z \sigma'(z) = \frac{1}{4}",
        wrong=r"\max_z \sigma(z) = \frac{1}{4}",
        difference="A quarter is the largest slope; the function itself goes up to 1.",
        experiment=sigmoid_quarter,
    ),
    Misprint(
        name="log-loss-derivative",
        topic="Linear models",
        right=r"L = -\log p_k, \quad \frac{\partial L}{\partial p_k} = -\frac{1}{p_k}",
        wrong=r"L = -\log p_k, \quad \frac{\partial L}{\partial p_k} = \frac{1}{p_k}",
        difference="The loss falls as the probability of the true class grows.",
        experiment=log_slope,
    ),
    Misprint(
        name="softmax-gradient",
        topic="Linear models",
        right=r"\frac{\partial L}{\partial o_k} = p_k - \mathbb{1}[k = y]",
        wrong=r"\frac{\partial L}{\partial o_k} = p_k - 1",
        difference="Only the true class has the 1 taken off; the others have p itself.",
        experiment=softmax_gradient,
    ),
    Misprint(
        name="softmax-index",
        topic="Linear models",
        right=r"p_i = \frac{e^{o_i}}{\sum_j e^{o_j}}",
        wrong=r"p_i = \frac{e^{o_i}}{\sum_i e^{o_i}}",
        difference="The sum runs over an index of its own; used twice, i has no value left.",
    ),
    Misprint(
        name="cross-entropy-sign",
        topic="Linear models",
        right=r"\min_q \, -\sum_k p_k \log q_k",
        wrong=r"\min_q \, \sum_k p_k \log q_k",
        difference="Without the minus sign the minimum is at probability 0 for the true class.",
        experiment=cross_entropy_sign,
    ),
    Misprint(
        name="epanechnikov-kernel",
        topic="Linear models",
        right=r"K(u) = \frac{3}{4} \max(0, 1 - u^2)",
        wrong=r"K(u) = \max(0, 1 - |u|)",
        difference="The second is the triangular kernel; the parabola is the one that is best.",
        experiment=triangular_kernel,
    ),
    Misprint(
        name="negative-log-likelihood",
        topic="Linear models",
        right=r"-\log P(y \mid X) = \sum_i -\log p(y_i \mid x_i)",
        wrong=r"-\log (y \mid X)",
        difference="The logarithm is of a probability; a target has none by itself.",
    ),
)
