"""Least squares in closed form, with or without an L2 penalty on the weights.

All is worked out from one matrix: inputs and targets side by side, their means taken out.

Shapes: N examples, D inputs, K outputs, M = D + K.
Source: Hoerl and Kennard, "Ridge Regression: Biased Estimation for Nonorthogonal Problems" (1970);
Golub (1965) for the orthogonal solution.
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.errors import DataError

Solver = Literal["svd", "qr"]
# X^T X + n l2 I of this condition number still gives half of a double's digits.
TAME = 1e8


class Centred(NamedTuple):
    """Inputs and targets side by side, without their means, each row by the root of its weight."""

    rows: Tensor  # (N, M)
    mean: Tensor  # (M)
    total: float  # n, the sum of the weights


def centred(inputs: Tensor, targets: Tensor, weights: Tensor | None = None) -> Centred:
    """The data of a linear fit, in double on the CPU: without means the bias drops out.

    Args:
        inputs: (N, D).
        targets: (N, K).
        weights: s, how much each example counts (N,).
    """
    check_shape("inputs", inputs, "N", "D")
    check_shape("targets", targets, len(inputs), "K")  # (N,) would broadcast to (N, N)
    rows = torch.cat((inputs.cpu().double(), targets.cpu().double()), dim=1)
    share = torch.ones(len(rows)) if weights is None else weights.cpu()
    share = share.double()
    total = float(share.sum())
    mean = share @ rows / total
    rows -= mean
    if weights is not None:
        rows *= share.sqrt()[:, None]
    return Centred(rows, mean, total)


def gram(rows: Tensor) -> Tensor:
    """All inner products of the columns, (N, M) -> (M, M)."""
    columns = rows.numpy()
    return torch.from_numpy(columns.T @ columns)  # NumPy sees the symmetry: two thirds of the time


def solve_least_squares(
    inputs: Tensor,
    targets: Tensor,
    *,
    l2: float = 0.0,
    weights: Tensor | None = None,
    solver: Solver = "svd",
) -> tuple[Tensor, Tensor]:
    """Weights W (K, D) and bias b (K) that minimise the penalised squared error.

        1/(2n) sum_i s_i |y_i - W x_i - b|^2 + l2/2 |W|^2,    n = sum_i s_i

    The bias is not penalised. Orthogonal transformations keep all digits, where X^T X would square
    the condition number; it is formed only where the penalty bounds that number.

    Args:
        inputs: (N, D).
        targets: (N, K).
        l2: the penalty; scikit-learn's `alpha` is n times it.
        weights: s, how much each example counts (N,).
        solver: "svd" gives the solution of least norm where columns depend on each other, "qr"
            refuses such columns.
    """
    rows, mean, total = centred(inputs, targets, weights)
    columns = inputs.shape[1]
    slope = _penalised(rows, columns, total * l2) if l2 else None
    if slope is None:
        slope = _orthogonal(rows, columns, total * l2, solver)
    return slope.T, mean[columns:] - mean[:columns] @ slope


def _penalised(rows: Tensor, columns: int, penalty: float) -> Tensor | None:
    """W^T = (X^T X + n l2 I)^{-1} X^T Y, (D, K); None where that would cost too many digits.

    Of fewer rows than columns it is X^T (X X^T + n l2 I)^{-1} Y: the same, by a smaller matrix.
    """
    wide = len(rows) < columns
    if wide:
        left, right = gram(rows[:, :columns].T), rows[:, columns:]
    else:
        products = gram(rows)
        left, right = products[:columns, :columns], products[:columns, columns:]
    if left.trace() > TAME * penalty:
        return None
    left.diagonal().add_(penalty)
    solution = torch.cholesky_solve(right, torch.linalg.cholesky(left))
    return rows[:, :columns].T @ solution if wide else solution


def _orthogonal(rows: Tensor, columns: int, penalty: float, solver: Solver) -> Tensor:
    """W^T (D, K) from the triangle R of (X, Y) = Q R, whose first columns are those of X."""
    triangle = torch.linalg.qr(rows, mode="r").R[:columns]
    left, right = triangle[:, :columns], triangle[:, columns:]
    rounding = torch.finfo(torch.float64).eps * max(len(rows), columns)
    if solver == "qr":
        sizes = left.diagonal().abs()
        if len(left) < columns or sizes.min() <= rounding * sizes.max():
            raise DataError(
                f"solver 'qr' needs {columns} linearly independent columns, got dependent ones; "
                f"use solver 'svd'"
            )
        slope: Tensor = torch.linalg.solve_triangular(left, right, upper=True)
        return slope
    if penalty:
        left = torch.cat((left, penalty**0.5 * torch.eye(columns, dtype=torch.float64)))
        right = torch.cat((right, right.new_zeros(columns, right.shape[1])))
    least: Tensor = torch.linalg.lstsq(left, right, rcond=rounding, driver="gelsd").solution
    return least
