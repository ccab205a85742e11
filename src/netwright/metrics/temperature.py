r"""The temperature that makes probabilities honest on some rows.

    p_c(T) proportional to p_c^{1/T},    T = argmin_T - sum_i sum_c q_ic log p_ic(T)
    q_ic = (1 - eps) [c = y_i] + eps / C,    eps = 1 / (N + 1)

Above 1 the answers become less sure, below 1 surer; which class is the likeliest stays as it is.
The targets q are Platt's: one more row than there are might have been anything. Without it rows
that are all right would ask for a temperature of 0. The loss is convex in 1/T, so that its slope,
the mean of E_p[log p] - E_q[log p], has one zero, which is found by halving an interval.

Shapes: N rows, C classes.
Source: Guo, Pleiss, Sun and Weinberger, "On Calibration of Modern Neural Networks" (2017); Platt,
"Probabilistic Outputs for Support Vector Machines" (1999), for the targets.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.metrics.samples import check_class_samples, check_probabilities

LOWEST, HIGHEST, HALVINGS = 0.05, 20.0, 60


@dataclass(frozen=True, kw_only=True)
class Temperature:
    """A temperature, and what it does on the rows that it was found on.

    Args:
        value: T.
        loss: the log loss of the true classes at T.
        before: the same at 1.
    """

    value: float
    loss: float
    before: float


def choose_temperature(
    probabilities: Tensor, targets: Tensor, weights: Tensor | None = None
) -> Temperature:
    """The temperature that is best for these rows, between 0.05 and 20.

    Args:
        probabilities: at temperature 1, (N, C).
        targets: the true classes, int64 (N,).
        weights: how much each row counts, (N,).
    """
    check_class_samples("probabilities", probabilities, targets, weights)
    check_probabilities(probabilities)
    exact = probabilities.detach().cpu().double()
    logs, targets = exact.clamp_min(torch.finfo(torch.float64).tiny).log(), targets.cpu()
    amounts = torch.ones(len(targets)) if weights is None else weights.detach().cpu()
    shares = amounts.double() / amounts.double().sum()
    doubt = 1 / (len(targets) + 1)
    wanted = (1 - doubt) * logs.gather(1, targets[:, None])[:, 0] + doubt * logs.mean(dim=1)

    def slope(sharpness: float) -> float:
        expected = ((sharpness * logs).softmax(dim=1) * logs).sum(dim=1)
        return float(shares @ (expected - wanted))

    def loss(sharpness: float) -> float:
        said = (sharpness * logs).log_softmax(dim=1).gather(1, targets[:, None])[:, 0]
        return -float(shares @ said)

    low, high = 1 / HIGHEST, 1 / LOWEST
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    found = (low * high) ** 0.5
    return Temperature(value=1 / found, loss=loss(found), before=loss(1.0))
