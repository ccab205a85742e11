"""Least squares in closed form, with or without an L2 penalty on the weights.

Shapes: N examples, D inputs, K outputs.
Source: Hoerl and Kennard, "Ridge Regression: Biased Estimation for Nonorthogonal Problems" (1970).
"""

import torch
from torch import Tensor

from netwright.core.checks import check_shape


def solve_least_squares(
    inputs: Tensor, targets: Tensor, *, l2: float = 0.0, weights: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Weights W (K, D) and bias b (K) that minimise the penalised squared error.

        1/(2n) sum_i s_i |y_i - W x_i - b|^2 + l2/2 |W|^2,    n = sum_i s_i

    The bias is not penalised: means are taken out first. The penalty enters as sqrt(n l2) I below
    the inputs, which never forms X^T X and so keeps all digits. Where columns depend on each other
    the solution of least norm is given.

    Args:
        inputs: (N, D).
        targets: (N, K).
        l2: the penalty; scikit-learn's `alpha` is n times it.
        weights: s, how much each example counts (N,).
    """
    check_shape("inputs", inputs, "N", "D")
    check_shape("targets", targets, len(inputs), "K")  # (N,) would broadcast to (N, N)
    x, y = inputs.double(), targets.double()
    share = torch.ones(len(x), dtype=torch.float64) if weights is None else weights.double()
    total = share.sum()
    x_mean, y_mean = share @ x / total, share @ y / total
    root = share.sqrt().unsqueeze(1)
    left, right = root * (x - x_mean), root * (y - y_mean)
    if l2:
        penalty = (total * l2).sqrt() * torch.eye(x.shape[1], dtype=torch.float64)
        left = torch.cat((left, penalty))
        right = torch.cat((right, torch.zeros(x.shape[1], y.shape[1], dtype=torch.float64)))
    slope = torch.linalg.lstsq(left, right, driver="gelsd").solution.T  # (K, D)
    return slope, y_mean - slope @ x_mean
