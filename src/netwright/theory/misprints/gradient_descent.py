"""Misprints about gradient descent, its guarantees, momentum and clipping."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from netwright.core.seeding import generator
from netwright.theory.misprints.entry import Misprint, Telling

CURVATURES = torch.tensor([1.0, 100.0], dtype=torch.float64)
RATE, FRICTION, STEPS = 0.01, 0.9, 200

Step = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]  # place, velocity -> the next ones


def bowl_gradient(x: Tensor) -> Tensor:
    """Of 1/2 x_1^2 + 50 x_2^2: a narrow valley."""
    return CURVATURES * x


def last_loss(step: Step) -> float:
    """The loss in the valley after 200 steps from (1, 1); infinite where it ran away."""
    place, velocity = torch.ones(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    for _ in range(STEPS):
        place, velocity = step(place, velocity)
    loss = float(CURVATURES @ place.square() / 2)
    return loss if math.isfinite(loss) else math.inf


def heavy_ball_step(place: Tensor, velocity: Tensor) -> tuple[Tensor, Tensor]:
    """Momentum: v <- gamma v + eta g, x <- x - v."""
    velocity = FRICTION * velocity + RATE * bowl_gradient(place)
    return place - velocity, velocity


def plain_step(place: Tensor, velocity: Tensor) -> tuple[Tensor, Tensor]:
    """Descent: x <- x - eta g."""
    return place - RATE * bowl_gradient(place), velocity


def nesterov_step(place: Tensor, velocity: Tensor, sign: float = -1.0) -> tuple[Tensor, Tensor]:
    """Look ahead: v <- gamma v + eta g(x - gamma v), x <- x - v."""
    ahead = place + sign * FRICTION * velocity
    velocity = FRICTION * velocity + RATE * bowl_gradient(ahead)
    return place - velocity, velocity


def momentum() -> Telling:
    """The valley with curvatures 1 and 100."""
    return Telling(
        what="loss after 200 steps, curvatures 1 and 100",
        rule="at most",
        bound=1e-6,
        right=last_loss(heavy_ball_step),
        wrong=last_loss(plain_step),
    )


def nesterov_sign() -> Telling:
    """The look ahead to where the velocity leads, and to where it comes from."""
    return Telling(
        what="loss after 200 steps, curvatures 1 and 100",
        rule="at most",
        bound=1e-6,
        right=last_loss(nesterov_step),
        wrong=last_loss(lambda place, velocity: nesterov_step(place, velocity, sign=1.0)),
    )


def nesterov_memory() -> Telling:
    """A velocity that is made new at each step and never carried on."""

    def forgetful(place: Tensor, velocity: Tensor) -> tuple[Tensor, Tensor]:
        velocity = RATE * bowl_gradient(place - FRICTION * velocity)
        return place - velocity, velocity

    return Telling(
        what="loss after 200 steps, curvatures 1 and 100",
        rule="at most",
        bound=1e-6,
        right=last_loss(nesterov_step),
        wrong=last_loss(forgetful),
    )


def heavy_ball_limit() -> Telling:
    """A constant gradient of 1, with friction 0.9: 300 terms of the sum of powers."""
    moved = 0.0
    for _ in range(300):
        moved = FRICTION * moved + 1.0
    return Telling(
        what="step in units of the learning rate, from the sum",
        rule="equals",
        bound=moved,
        within=1e-9,
        right=sum(FRICTION**age for age in range(300)),
        wrong=sum(FRICTION**age for age in range(1, 300)),
    )


def clipped(gradient: Tensor, limit: float, *, always: bool = False) -> Tensor:
    """The gradient, shortened to the limit where it is longer."""
    length = gradient.norm()
    return gradient * limit / length if always or length > limit else gradient


def clipping() -> Telling:
    """The short gradient (0.3, 0.4), with limit 1."""
    gradient = torch.tensor([0.3, 0.4], dtype=torch.float64)
    return Telling(
        what="length of (0.3, 0.4) after clipping at 1",
        rule="equals",
        bound=0.5,
        within=1e-12,
        right=float(clipped(gradient, 1.0).norm()),
        wrong=float(clipped(gradient, 1.0, always=True).norm()),
    )


def logistic_loss(place: Tensor) -> tuple[float, Tensor]:
    """Mean loss of a logistic regression on ten examples, and its gradient."""
    x = torch.randn(10, 2, generator=generator(0, "logistic"), dtype=torch.float64)
    place = place.detach().requires_grad_()
    loss = torch.nn.functional.softplus(-x @ place).mean() + place.square().sum() / 20
    (gradient,) = torch.autograd.grad(loss, place)
    return float(loss.detach()), gradient


def sufficient_decrease() -> Telling:
    """One step of 1/L from (3, -2): how far the loss falls, over what is promised."""
    smoothness = 4.0  # above the largest curvature of this loss
    place = torch.tensor([3.0, -2.0], dtype=torch.float64)
    loss, gradient = logistic_loss(place)
    after, _ = logistic_loss(place - gradient / smoothness)
    return Telling(
        what="decrease in a step of 1/L over the promised one",
        rule="at least",
        bound=1.0,
        right=(loss - after) / (float(gradient.square().sum()) / (2 * smoothness)),
        wrong=(loss - after) / (loss**2 / (2 * smoothness)),
    )


def descent_lemma() -> Telling:
    """The same step: the quadratic upper bound is above the loss, and not equal to it."""
    smoothness = 4.0
    place = torch.tensor([3.0, -2.0], dtype=torch.float64)
    loss, gradient = logistic_loss(place)
    step = -gradient / smoothness
    after, _ = logistic_loss(place + step)
    bound = loss + float(gradient @ step) + smoothness / 2 * float(step.square().sum())
    return Telling(
        what="distance of the loss from what the line allows it to be",
        rule="equals",
        bound=0.0,
        within=1e-9,
        right=max(0.0, after - bound),
        wrong=abs(after - bound),
    )


def previous_iterate() -> Telling:
    """One step of 1/L in the valley: the loss after it over what the rate allows."""
    smallest, largest = float(CURVATURES.min()), float(CURVATURES.max())
    place = torch.ones(2, dtype=torch.float64)
    after = place - bowl_gradient(place) / largest
    before_loss, after_loss = (float(CURVATURES @ x.square() / 2) for x in (place, after))
    return Telling(
        what="loss after a step over (1 - mu/L) times the loss",
        rule="at most",
        bound=1.0,
        right=after_loss / ((1 - smallest / largest) * before_loss),
        wrong=after_loss / ((1 - smallest / largest) * after_loss),
    )


GRADIENT_DESCENT = (
    Misprint(
        name="descent-lemma",
        topic="Gradient descent",
        right=r"f(y) \leq f(x) + \nabla f(x)^\top (y - x) + \frac{L}{2} \|y - x\|^2",
        wrong=r"f(y) = f(x) + \nabla f(x)^\top (y - x) + \frac{L}{2} \|y - x\|^2",
        difference="L bounds the curvature from above; equal is the loss only where it is L all "
        "along the way.",
        experiment=descent_lemma,
    ),
    Misprint(
        name="sufficient-decrease",
        topic="Gradient descent",
        right=r"f(x) - f\left(x - \frac{1}{L} \nabla f(x)\right) \geq"
        r" \frac{1}{2L} \|\nabla f(x)\|^2",
        wrong=r"f(x) - f\left(x - \frac{1}{L} \nabla f(x)\right) \geq \frac{1}{2L} \|f(x)\|^2",
        difference="The fall is promised by the length of the gradient, not by the loss.",
        experiment=sufficient_decrease,
    ),
    Misprint(
        name="previous-iterate",
        topic="Gradient descent",
        right=r"f(x_T) - f^* \leq \left(1 - \frac{\mu}{L}\right) (f(x_{T-1}) - f^*)",
        wrong=r"f(x_T) - f^* \leq \left(1 - \frac{\mu}{L}\right) (f(x_T) - f^*)",
        difference="The loss shrinks from one step to the next; nothing is smaller than itself.",
        experiment=previous_iterate,
    ),
    Misprint(
        name="momentum-update",
        topic="Gradient descent",
        right=r"v \leftarrow \beta v + \nabla L(w), \quad w \leftarrow w - \eta v",
        wrong=r"w \leftarrow w - \eta \nabla L(w)",
        difference="Without the velocity it is plain gradient descent, slow in narrow valleys.",
        experiment=momentum,
    ),
    Misprint(
        name="heavy-ball-sum",
        topic="Gradient descent",
        right=r"\eta \sum_{\tau=0}^{\infty} \beta^\tau = \frac{\eta}{1-\beta}",
        wrong=r"\eta \sum_{\tau=1}^{\infty} \beta^\tau",
        difference="The newest gradient counts in full; without it the limit is 9 and not 10 "
        "times the step, with a momentum of 0.9.",
        experiment=heavy_ball_limit,
    ),
    Misprint(
        name="nesterov-look-ahead",
        topic="Gradient descent",
        right=r"v \leftarrow \gamma v + \eta \nabla L(w - \gamma v), \quad w \leftarrow w - v",
        wrong=r"v \leftarrow \gamma v + \eta \nabla L(w + \gamma v), \quad w \leftarrow w - v",
        difference="The velocity is subtracted, so the look ahead subtracts it too; with the plus "
        "sign the steps run away.",
        experiment=nesterov_sign,
    ),
    Misprint(
        name="nesterov-update",
        topic="Gradient descent",
        right=r"v \leftarrow \gamma v + \eta \nabla L(w - \gamma v)",
        wrong=r"v \leftarrow \eta \nabla L(w - \gamma v)",
        difference="A velocity that is not carried on is no momentum.",
        experiment=nesterov_memory,
    ),
    Misprint(
        name="gradient-clipping",
        topic="Gradient descent",
        right=r"g \leftarrow g \, \min\left(1, \frac{c}{\|g\|}\right)",
        wrong=r"g \leftarrow g \, \frac{c}{\|g\|}",
        difference="Only long gradients are shortened; without the condition short ones are made "
        "longer, and descent never comes to rest.",
        experiment=clipping,
    ),
    Misprint(
        name="stochastic-update",
        topic="Gradient descent",
        right=r"w \leftarrow w - \frac{\eta}{|B|} \sum_{i \in B} \nabla L_i(w)",
        wrong=r"g = \frac{1}{|B|} \sum_{i=1}^{|B|} \nabla L_i(w)",
        difference="The sum is over the examples that were drawn, and the weights have to move.",
    ),
)
