"""Misprints in what everything else is written with: norms, maps, derivatives, distributions."""

import math
from itertools import product

import torch
from torch import Tensor
from torch.autograd.functional import jacobian

from netwright.theory.misprints.entry import Misprint, Telling


def triangle() -> Telling:
    """The two unit vectors (1, 0) and (0, 1): by how much they break either statement."""
    x, y = torch.eye(2, dtype=torch.float64)
    excess = float((x + y).norm() - x.norm() - y.norm())
    return Telling(
        what="how far the lengths of (1, 0), (0, 1) and their sum are from what is stated",
        rule="at most",
        bound=1e-12,
        right=max(0.0, excess),
        wrong=abs(excess),
    )


def norm(x: Tensor, p: float) -> float:
    """The p-th norm (sum |x_i|^p)^(1/p)."""
    return float(x.abs().pow(p).sum().pow(1 / p))


def lp_norm() -> Telling:
    """The vector (-1, 0), whose cubes add up to -1."""
    x, p = torch.tensor([-1.0, 0.0], dtype=torch.float64), 3
    return Telling(
        what="third norm of (-1, 0)",
        rule="equals",
        bound=1.0,
        right=norm(x, p),
        wrong=float(x.pow(p).sum().pow(1 / p)),  # the root of a negative number
    )


def map_shape() -> Telling:
    """A map from R^3 to R^2 as the matrix that torch's linear layer holds."""
    layer = torch.nn.Linear(3, 2)
    outputs = layer(torch.zeros(3))
    return Telling(
        what="entries of the output less the rows, or the columns, of the matrix, from R^3 to R^2",
        rule="equals",
        bound=0,
        right=len(outputs) - layer.weight.shape[0],
        wrong=len(outputs) - layer.weight.shape[1],
    )


def jacobian_shape() -> Telling:
    """A function from R^3 to R^2, differentiated by torch."""

    def function(x: Tensor) -> Tensor:
        return torch.stack([x.sum(), x.prod()])

    x = torch.ones(3)
    matrix = jacobian(function, x)  # type: ignore[no-untyped-call]
    return Telling(
        what="rows of the Jacobian less outputs, or inputs, of a function from R^3 to R^2",
        rule="equals",
        bound=0,
        right=len(matrix) - len(function(x)),
        wrong=len(matrix) - len(x),
    )


def second_derivative() -> Telling:
    """x^4 at 0: the second derivative is 0, and on both sides the function bends upwards."""
    x = torch.arange(-1000, 1001, dtype=torch.float64) / 10_000
    curvature = 12 * x**2
    changes = int((curvature[:-1] * curvature[1:] < 0).sum())
    said = int((curvature == 0).sum())  # the misprint sees an inflection at each of them
    return Telling(
        what="inflections of x^4",
        rule="equals",
        bound=0,
        right=changes,
        wrong=said,
    )


def taylor_point() -> Telling:
    """The exponential from 0 to 1: a point between makes it exact, the start does not."""
    between = math.log(2 * (math.e - 2))  # where exp'' / 2 is the remainder e - 2
    remainder = math.e - 1 - 1
    return Telling(
        what="remainder minus half the second derivative, of exp from 0 to 1",
        rule="equals",
        bound=0.0,
        within=1e-12,
        right=remainder - math.exp(between) / 2 if 0 < between < 1 else math.nan,
        wrong=remainder - math.exp(0) / 2,
    )


def chain_rule() -> Telling:
    """f(u, v) = u v with u = x^2 and v = sin x, at x = 1: two paths lead from x to f."""
    x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(x**2 * x.sin(), x)
    by_u, by_v = math.sin(1) * 2, 1 * math.cos(1)
    return Telling(
        what="derivative of x² sin x at 1",
        rule="equals",
        bound=float(slope),
        within=1e-12,
        right=by_u + by_v,
        wrong=by_u,
    )


def gaussian_area() -> Telling:
    """The area under the curve with and without the factor in front, for the deviation 0.3."""
    deviation = 0.3
    x = torch.linspace(-5, 5, 100_001, dtype=torch.float64)
    curve = (-x.square() / (2 * deviation**2)).exp()
    area = float(torch.trapezoid(curve, x))
    return Telling(
        what="area under the density",
        rule="equals",
        bound=1.0,
        within=1e-9,
        right=area / math.sqrt(2 * math.pi * deviation**2),
        wrong=area,
    )


def permutation_matrix() -> Telling:
    """All 512 matrices of zeros and ones; some of them copy one entry and lose another."""
    every = torch.tensor(list(product((0.0, 1.0), repeat=9)), dtype=torch.float64).view(-1, 3, 3)
    rows = (every.sum(dim=2) == 1).all(dim=1)
    columns = (every.sum(dim=1) == 1).all(dim=1)
    ranks = torch.linalg.matrix_rank(every)
    return Telling(
        what="rank of a 3 x 3 matrix of zeros and ones that keeps to the rule, the lowest of all",
        rule="equals",
        bound=3,
        right=int(ranks[rows & columns].min()),
        wrong=int(ranks[rows].min()),
    )


ALGEBRA_AND_CALCULUS = (
    Misprint(
        name="triangle-inequality",
        topic="Algebra and calculus",
        right=r"\|x + y\| \leq \|x\| + \|y\|",
        wrong=r"\|x + y\| = \|x\| + \|y\|",
        difference="Lengths add up only where the vectors point the same way.",
        experiment=triangle,
    ),
    Misprint(
        name="lp-norm",
        topic="Algebra and calculus",
        right=r"\|x\|_p = \left( \sum_i |x_i|^p \right)^{1/p}",
        wrong=r"\|x\|_p = \left( \sum_i x_i^p \right)^{1/p}",
        difference="Without the absolute value an odd p gives a negative sum, which has no root.",
        experiment=lp_norm,
    ),
    Misprint(
        name="matrix-of-a-map",
        topic="Algebra and calculus",
        right=r"A: \mathbb{R}^n \rightarrow \mathbb{R}^m \quad A \in \mathbb{R}^{m \times n}",
        wrong=r"A: \mathbb{R}^n \rightarrow \mathbb{R}^m \quad A \in \mathbb{R}^{n \times m}",
        difference="A matrix has one row for each output.",
        experiment=map_shape,
    ),
    Misprint(
        name="jacobian-shape",
        topic="Algebra and calculus",
        right=r"f: \mathbb{R}^m \rightarrow \mathbb{R}^n \quad J_{ij} ="
        r" \frac{\partial f_i}{\partial x_j}, \quad J \in \mathbb{R}^{n \times m}",
        wrong=r"J_{ij} = \frac{\partial f}{\partial x_j}, \quad J \in \mathbb{R}^{m \times n}",
        difference="A Jacobian has one row for each output and one column for each input.",
        experiment=jacobian_shape,
    ),
    Misprint(
        name="second-derivative-zero",
        topic="Algebra and calculus",
        right=r"f''(x) = 0 \; \text{ decides nothing}",
        wrong=r"f''(x) = 0 \;\Rightarrow\; \text{inflection at } x",
        difference="At an inflection the second derivative changes its sign; that of x⁴ does not.",
        experiment=second_derivative,
    ),
    Misprint(
        name="taylor-remainder",
        topic="Algebra and calculus",
        right=r"f(b) = f(a) + f'(a)(b-a) + \frac{1}{2} f''(\xi)(b-a)^2,"
        r" \quad \xi \text{ between } a \text{ and } b",
        wrong=r"f(b) = f(a) + f'(a)(b-a) + \frac{1}{2} f''(a)(b-a)^2",
        difference="With the second derivative at a it is an approximation, not an equation.",
        experiment=taylor_point,
    ),
    Misprint(
        name="chain-rule-of-several",
        topic="Algebra and calculus",
        right=r"\frac{d f}{d x} = \sum_k \frac{\partial f}{\partial u_k} \frac{d u_k}{d x}",
        wrong=r"\frac{d f}{d x} = \frac{d f}{d u} \frac{d u}{d x}",
        difference="Where several variables lie between, every path from x to f counts.",
        experiment=chain_rule,
    ),
    Misprint(
        name="gaussian-density",
        topic="Algebra and calculus",
        right=r"p(x) = \frac{1}{\sqrt{2 \pi \sigma^2}} \exp\left(-\frac{x^2}{2 \sigma^2}\right)",
        wrong=r"p(x) = \exp\left(-\frac{x^2}{2 \sigma^2}\right)",
        difference="Without the factor in front the area is not 1, so that it gives no "
        "probabilities.",
        experiment=gaussian_area,
    ),
    Misprint(
        name="permutation-matrix",
        topic="Algebra and calculus",
        right=r"\sum_i P_{ij} = 1, \quad \sum_j P_{ij} = 1, \quad P_{ij} \in \{0, 1\}",
        wrong=r"\sum_j P_{ij} = 1, \quad \sum_j P_{ij} = 1",
        difference="With the sums of the rows alone, one entry may be copied and another lost.",
        experiment=permutation_matrix,
    ),
    Misprint(
        name="probability-vector",
        topic="Algebra and calculus",
        right=r"x_i \geq 0, \quad \sum_i x_i = 1",
        wrong=r"x_i > 0, \quad \sum_i x_i = 1",
        difference="A certain event leaves probability 0 for the others: one-hot targets are "
        "probability vectors too.",
    ),
)
