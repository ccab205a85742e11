"""The perceptron rule, a pass at a time: where the answer is wrong, add the example to the weights.

    if y_i (w^T x_i + b) <= 0:   w <- w + y_i x_i,   b <- b + y_i

Exactly the rule, example after example, though scores are computed by blocks: while one block is
visited, an update with example j changes the score of example i by y_j (x_i^T x_j + 1), a number of
the block's Gram matrix.

Shapes: N examples, D features, R rows of weights (one a class, or one for two classes).
Source: Rosenblatt, "The Perceptron" (1958).
"""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

BLOCK = 64  # longer: more multiplications for a block's matrix; shorter: more calls a pass

Array = npt.NDArray[np.float64]


def perceptron_pass(
    weight: Tensor, bias: Tensor, inputs: Tensor, pulls: Tensor, order: Tensor
) -> Tensor:
    """Visit every example once; `weight` and `bias` are changed in place.

    Args:
        weight: float64, (R, D).
        bias: float64, (R,).
        inputs: (N, D).
        pulls: float64, (N, R): the sign is the class of the example for a row (+ or -), the size
            is the step of an update with it (1 in the plain rule).
        order: in which the examples are visited, (N,).

    Returns:
        Which visits were mistakes, and so updates, in the order of the visits: bool, (N, R).
    """
    # On arrays of this size a call of NumPy takes a third of the time of torch's.
    w, b, all_inputs, all_pulls = weight.numpy(), bias.numpy(), inputs.numpy(), pulls.numpy()
    visits, mistakes = order.numpy(), np.zeros(pulls.shape, dtype=bool)
    for start in range(0, len(visits), BLOCK):
        rows = visits[start : start + BLOCK]
        x, pull = all_inputs[rows].astype(np.float64, copy=False), all_pulls[rows]
        wrong = mistakes[start : start + BLOCK]
        _visit_block(x, pull, pull * (x @ w.T + b), wrong)
        if wrong.any():
            updates = pull * wrong  # (block, R)
            w += updates.T @ x
            b += updates.sum(axis=0)
    return torch.from_numpy(mistakes)


def _visit_block(x: Array, pull: Array, margins: Array, wrong: npt.NDArray[np.bool_]) -> None:
    """Mark the mistakes, row by row: rows without one at the block's start make none in it."""
    touched = np.flatnonzero((margins <= 0).any(axis=0))
    if len(touched) == 0:
        return
    gram = x @ x.T + 1  # (block, block)
    for row in touched:
        side, margin = pull[:, row], margins[:, row].copy()
        changes = gram * side * side[:, None]  # by an update with example i (row) to all others
        for i in range(len(margin)):
            if margin[i] <= 0:
                wrong[i, row] = True
                margin += changes[i]
