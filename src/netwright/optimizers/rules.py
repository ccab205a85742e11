r"""The update rules, each a pure function of one weight tensor: the readable reference.

    weight, state = rule.step(weight, gradient, state, lr=0.1)

`rule.start(weight)` gives the state before the first step. A step changes nothing in place, and
its settings have torch's names and defaults. The optimizers that train (torch's, and ours on
lists of tensors) agree with these to rounding.

Symbols: w weight, g gradient, t the number of the step, from 1.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

Betas = tuple[float, float]


class Velocity(NamedTuple):
    """A running sum of gradients."""

    velocity: Tensor


class Before(NamedTuple):
    """Where the weight was one step ago."""

    weight: Tensor


class Squares(NamedTuple):
    """A sum, or a running mean, of squared gradients."""

    squares: Tensor


class SquaresAndMoves(NamedTuple):
    """Running means of squared gradients and of squared steps."""

    squares: Tensor
    moves: Tensor


class Mean(NamedTuple):
    """A running mean of gradients."""

    mean: Tensor


class Moments(NamedTuple):
    """Running means of gradients and of their squares, and the steps that they have seen."""

    mean: Tensor
    square: Tensor
    step: int


class NesterovMoments(NamedTuple):
    """The moments, and the product of all momenta so far, which corrects the first of them."""

    mean: Tensor
    square: Tensor
    step: int
    momenta: float


def gradient_descent(
    weight: Tensor, gradient: Tensor, state: None = None, *, lr: float
) -> tuple[Tensor, None]:
    """Step against the gradient, over all rows or over a batch of them: w <- w - lr g.

    Source: Cauchy (1847); Robbins and Monro (1951).
    """
    return weight - lr * gradient, state


def momentum(
    weight: Tensor, gradient: Tensor, state: Velocity, *, lr: float, momentum: float = 0.9
) -> tuple[Tensor, Velocity]:
    """A steady gradient gains speed, up to 1 / (1 - mu): v <- mu v + g, w <- w - lr v.

    Source: Polyak (1964); Sutskever et al. (2013), with the rate outside the sum as torch has it.
    """
    velocity = momentum * state.velocity + gradient
    return weight - lr * velocity, Velocity(velocity)


def heavy_ball(
    weight: Tensor, gradient: Tensor, state: Before, *, lr: float, momentum: float = 0.9
) -> tuple[Tensor, Before]:
    """Momentum without a velocity, while lr stays: w <- w - lr g + mu (w - w_before).

    Source: Polyak (1964), equation 9.
    """
    return weight - lr * gradient + momentum * (weight - state.weight), Before(weight)


def nesterov(
    weight: Tensor, gradient: Tensor, state: Velocity, *, lr: float, momentum: float = 0.9
) -> tuple[Tensor, Velocity]:
    """Momentum that looks ahead, w being the place ahead: v <- mu v + g, w <- w - lr (g + mu v).

    Source: Nesterov (1983); Sutskever et al. (2013), shifted to the look-ahead as torch has it.
    """
    velocity = momentum * state.velocity + gradient
    return weight - lr * (gradient + momentum * velocity), Velocity(velocity)


def adagrad(
    weight: Tensor, gradient: Tensor, state: Squares, *, lr: float, eps: float = 1e-10
) -> tuple[Tensor, Squares]:
    """Slow down where gradients have been: s <- s + g^2, w <- w - lr g / (sqrt(s) + eps).

    Source: Duchi, Hazan and Singer (2011).
    """
    squares = state.squares + gradient**2
    return weight - lr * gradient / (squares.sqrt() + eps), Squares(squares)


def rmsprop(
    weight: Tensor,
    gradient: Tensor,
    state: Squares,
    *,
    lr: float,
    alpha: float = 0.99,
    eps: float = 1e-8,
) -> tuple[Tensor, Squares]:
    """AdaGrad that forgets: s <- alpha s + (1 - alpha) g^2, w <- w - lr g / (sqrt(s) + eps).

    Source: Tieleman and Hinton (2012), lecture 6.5.
    """
    squares = alpha * state.squares + (1 - alpha) * gradient**2
    return weight - lr * gradient / (squares.sqrt() + eps), Squares(squares)


def adadelta(
    weight: Tensor,
    gradient: Tensor,
    state: SquaresAndMoves,
    *,
    lr: float = 1.0,
    rho: float = 0.9,
    eps: float = 1e-6,
) -> tuple[Tensor, SquaresAndMoves]:
    """Step in the units of the weight: d = g sqrt(u + eps) / sqrt(s + eps), w <- w - lr d.

    s <- rho s + (1 - rho) g^2 before the step, u <- rho u + (1 - rho) d^2 after it.

    Source: Zeiler (2012), algorithm 1.
    """
    squares = rho * state.squares + (1 - rho) * gradient**2
    move = gradient * (state.moves + eps).sqrt() / (squares + eps).sqrt()
    moves = rho * state.moves + (1 - rho) * move**2
    return weight - lr * move, SquaresAndMoves(squares, moves)


def adam(
    weight: Tensor,
    gradient: Tensor,
    state: Moments,
    *,
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    bias_correction: bool = True,
) -> tuple[Tensor, Moments]:
    """Momentum over a root mean square: w <- w - lr m^ / (sqrt(v^) + eps).

    m <- b1 m + (1 - b1) g and v <- b2 v + (1 - b2) g^2 are corrected for starting at 0:
    m^ = m / (1 - b1^t), v^ = v / (1 - b2^t). Without `bias_correction` they are m and v, and the
    first step is 3.16 times too long.

    Source: Kingma and Ba (2015), algorithm 1.
    """
    mean, square, step = state = _moments(gradient, state, betas)
    if bias_correction:
        mean, square = mean / (1 - betas[0] ** step), square / (1 - betas[1] ** step)
    return weight - lr * mean / (square.sqrt() + eps), state


def adamw(
    weight: Tensor,
    gradient: Tensor,
    state: Moments,
    *,
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> tuple[Tensor, Moments]:
    """Decay apart from the moments: w <- (1 - lr lambda) w, and then Adam's step.

    Source: Loshchilov and Hutter (2019), algorithm 2.
    """
    return adam((1 - lr * weight_decay) * weight, gradient, state, lr=lr, betas=betas, eps=eps)


def nadam(
    weight: Tensor,
    gradient: Tensor,
    state: NesterovMoments,
    *,
    lr: float,
    betas: Betas = (0.9, 0.999),
    eps: float = 1e-8,
    momentum_decay: float = 4e-3,
) -> tuple[Tensor, NesterovMoments]:
    """Adam that looks ahead: its m^ is mu' m / (1 - P mu') + (1 - mu) g / (1 - P).

    mu = b1 (1 - 0.96^(t momentum_decay) / 2) is the momentum of this step and rises toward b1, mu'
    is that of the next, and P the product of all up to this one.

    Source: Dozat (2016), algorithm 2.
    """
    mean, square, step = _moments(gradient, Moments(*state[:3]), betas)
    now, coming = (
        betas[0] * (1 - 0.5 * 0.96 ** (time * momentum_decay)) for time in (step, step + 1)
    )
    momenta = state.momenta * now
    ahead = coming * mean / (1 - momenta * coming) + (1 - now) * gradient / (1 - momenta)
    scale = (square / (1 - betas[1] ** step)).sqrt() + eps
    return weight - lr * ahead / scale, NesterovMoments(mean, square, step, momenta)


def lion(
    weight: Tensor,
    gradient: Tensor,
    state: Mean,
    *,
    lr: float,
    betas: Betas = (0.9, 0.99),
    weight_decay: float = 0.0,
) -> tuple[Tensor, Mean]:
    """Step by signs: w <- w - lr (sign(b1 m + (1 - b1) g) + lambda w), m <- b2 m + (1 - b2) g.

    Source: Chen et al. (2023), arXiv 2302.06675, algorithm 2.
    """
    direction = (betas[0] * state.mean + (1 - betas[0]) * gradient).sign()
    mean = betas[1] * state.mean + (1 - betas[1]) * gradient
    return weight - lr * (direction + weight_decay * weight), Mean(mean)


def _moments(gradient: Tensor, state: Moments, betas: Betas) -> Moments:
    """The running means of g and g^2, one step on."""
    return Moments(
        mean=betas[0] * state.mean + (1 - betas[0]) * gradient,
        square=betas[1] * state.square + (1 - betas[1]) * gradient**2,
        step=state.step + 1,
    )


class Rule(NamedTuple):
    """An update rule and the state from which it starts.

    Args:
        start: a weight -> the state before its first step.
        step: (weight, gradient, state, **settings) -> the next weight and state.
    """

    start: Callable[[Tensor], Any]
    step: Callable[..., tuple[Tensor, Any]]


def _nothing(weight: Tensor) -> None:
    return None


def _zeros(kind: Callable[..., Any], count: int, *rest: float) -> Callable[[Tensor], Any]:
    """A state of so many tensors of zeros and, after them, plain numbers."""
    return lambda weight: kind(*(torch.zeros_like(weight) for _ in range(count)), *rest)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "gradient-descent": Rule(_nothing, gradient_descent),
        "sgd": Rule(_nothing, gradient_descent),
        "momentum": Rule(_zeros(Velocity, 1), momentum),
        "heavy-ball": Rule(Before, heavy_ball),
        "nesterov": Rule(_zeros(Velocity, 1), nesterov),
        "adagrad": Rule(_zeros(Squares, 1), adagrad),
        "rmsprop": Rule(_zeros(Squares, 1), rmsprop),
        "adadelta": Rule(_zeros(SquaresAndMoves, 2), adadelta),
        "adam": Rule(_zeros(Moments, 2, 0), adam),
        "adamw": Rule(_zeros(Moments, 2, 0), adamw),
        "nadam": Rule(_zeros(NesterovMoments, 2, 0, 1.0), nadam),
        "lion": Rule(_zeros(Mean, 1), lion),
    }
)
