r"""Curves that make probabilities honest on some rows: of each class the best one that never falls.

    f_c = argmin over rising f of sum_i w_i (f(p_ic) - [y_i = c])^2,    eps <= f <= 1 - eps
    p'_c = f_c(p_c) / sum_k f_k(p_k)

with straight lines between knots. Of two classes one curve says all, and p'_1 = f(p_1). A curve can
mend what no temperature can, and needs more rows: about a thousand. eps = 1 / (N + 2) is what N
rows that are all right still leave open.

Shapes: N rows, C classes, K knots.
Source: Zadrozny and Elkan, "Transforming Classifier Scores into Accurate Multiclass Probability
Estimates" (2002).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from netwright.core.checks import is_finite_number
from netwright.core.errors import DataError
from netwright.metrics.samples import check_class_samples, check_probabilities


@dataclass(frozen=True)
class RisingCurve:
    """A curve of straight lines between its knots, level beyond them.

    Args:
        knots: probabilities (K,), each above the one before.
        values: what they become (K,), between 0 and 1.
    """

    knots: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse what no rows give: it may come from a file of somebody else."""
        is_plain = all(map(is_finite_number, (*self.knots, *self.values)))
        if not is_plain or not 0 < len(self.knots) == len(self.values):
            raise DataError("a curve of probabilities must have a value for each of its knots")
        rises = all(low < high for low, high in pairwise(self.knots))
        if not rises or not all(0 < value < 1 for value in self.values):
            raise DataError("the knots of a curve of probabilities must rise, to values in (0, 1)")

    def apply(self, probabilities: Tensor) -> Tensor:
        """f(p) for each of (N,): the first value, and of every piece what p has passed of it."""
        if len(self.knots) == 1:  # a product over no pieces is nothing that ONNX knows
            return torch.full_like(probabilities, self.values[0])
        knots, values = (
            torch.tensor(part, dtype=torch.float64, device=probabilities.device)
            for part in (self.knots, self.values)
        )
        widths, slopes = knots.diff(), values.diff() / knots.diff()
        passed = (probabilities.double()[:, None] - knots[:-1]).clamp_min(0).minimum(widths)
        return (values[0] + passed @ slopes).to(probabilities.dtype)


def honest_probabilities(probabilities: Tensor, curves: tuple[RisingCurve, ...]) -> Tensor:
    """P' (N, C) of probabilities (N, C), by one curve for the second of two classes, or C."""
    if len(curves) == 1:
        second = curves[0].apply(probabilities[:, 1])
        return torch.stack([1 - second, second], dim=1)
    parts = [curve.apply(probabilities[:, place]) for place, curve in enumerate(curves)]
    found = torch.stack(parts, dim=1)
    return found / found.sum(dim=1, keepdim=True)


def choose_curves(
    probabilities: Tensor, targets: Tensor, weights: Tensor | None = None
) -> tuple[RisingCurve, ...]:
    """The curves that are best for these rows: of two classes that of the second, else all.

    Args:
        probabilities: (N, C).
        targets: the true classes, int64 (N,).
        weights: how much each row counts, (N,).
    """
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415 - it costs a second

    check_class_samples("probabilities", probabilities, targets, weights)
    check_probabilities(probabilities)
    exact, targets = probabilities.detach().cpu().double(), targets.cpu()
    amounts: Any = None if weights is None else weights.detach().cpu().double().numpy()
    doubt = 1 / (len(targets) + 2)
    num_classes = exact.shape[1]
    curves = []
    for place in [1] if num_classes == 2 else range(num_classes):
        best = IsotonicRegression(y_min=doubt, y_max=1 - doubt, out_of_bounds="clip")
        best.fit(exact[:, place].numpy(), (targets == place).double().numpy(), amounts)
        knots, values = best.X_thresholds_.tolist(), best.y_thresholds_.tolist()
        curves.append(RisingCurve(tuple(knots), tuple(values)))
    return tuple(curves)
