"""Lasso: least squares with a penalty on absolute weights, which makes many exactly 0.

Shapes: N examples, D inputs, K outputs, L penalties of the path.
Source: Tibshirani, "Regression Shrinkage and Selection via the Lasso" (1996).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, NotNegative, Positive
from netwright.core.learner import Examples, Learner
from netwright.data.spec import DataSpec
from netwright.inspection.attribution.weight_path import measure_weight_path
from netwright.inspection.drawing.view import View
from netwright.models.linear.coordinate_descent import CoordinateDescent
from netwright.models.linear.least_squares import centred, gram
from netwright.models.linear.regression import SYMBOLS, LinearRegression

PATH = 30  # penalties, from the one that leaves no weight to the one that is asked for
SWEEPS = 10  # a step, before the weights that are left are solved together
MOST_STEPS = 500


@dataclass(frozen=True, kw_only=True)
class LassoConfig(Config):
    """Settings of the lasso."""

    l1: Annotated[
        Positive | None,
        Doc(
            "L1 penalty, scikit-learn's alpha; default: a hundredth of the smallest one for which "
            "all weights are 0"
        ),
    ] = None
    l2: Annotated[NotNegative, Doc("additional L2 penalty: the elastic net")] = 0.0
    tol: Annotated[Positive, Doc("stop when the duality gap is at most this fraction of y^2")] = (
        1e-8
    )


class Lasso(LinearRegression, Learner):
    """Coordinate descent on all outputs, and on a path of larger penalties beside them."""

    settings: ClassVar[type[Config]] = LassoConfig
    card: ClassVar[Card] = Card(
        sentence="Least squares with an L1 penalty: the weights of inputs that add little are 0.",
        formula=r"\min_{W,b} \frac{1}{2n}\sum_i \|y_i - W x_i - b\|^2 + \lambda \sum_{kj} |W_{kj}|,"
        r"\quad w_j \leftarrow \frac{S(\rho_j, \lambda)}{\|x_j\|^2 / n}",
        symbols={
            **SYMBOLS,
            r"\lambda": "the penalty, `l1`",
            "S": "the soft threshold sign(v) max(|v| - t, 0)",
            r"\rho_j": "inner product over n of input j and what the other inputs leave of y",
        },
        source="Tibshirani (1996), Journal of the Royal Statistical Society B 58, 267-288",
    )
    path_penalties: Tensor
    path_weights: Tensor
    gap_left: Tensor

    def __init__(self, config: LassoConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.l1, self.l2, self.tol = config.l1, config.l2, config.tol
        outputs = spec.num_outputs
        # How far a loss may be above the least, where the steps ended before that; else 0.
        self.register_buffer("gap_left", torch.zeros(outputs))
        self.register_buffer("path_penalties", torch.zeros(PATH, outputs))
        self.register_buffer("path_weights", torch.zeros(PATH, outputs, spec.num_features))

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """Ten sweeps over all weights an item, until the duality gap of the model is closed."""
        inputs = data.inputs.flatten(1)
        rows, mean, total = centred(inputs, data.targets, data.weights)
        descent = self._descent((gram(rows) / total).numpy(), inputs.shape[1])
        outputs = self.spec.num_outputs
        for _ in range(MOST_STEPS):
            for _ in range(SWEEPS):
                descent.sweep()
            descent.settle()
            gap = descent.gap()[-outputs:]
            closed = gap <= self.tol * descent.power[-outputs:]
            self._keep(descent, mean)
            self.gap_left.copy_(torch.from_numpy(np.where(closed, 0.0, gap)))
            yield {
                "loss": float(descent.mean_squares(self.l2)[-outputs:].mean()),
                "gap": float(gap.max()),
                "weights": float(np.count_nonzero(descent.weights[-outputs:])),
            }
            if closed.all():
                return

    def _descent(self, products: np.ndarray, columns: int) -> CoordinateDescent:
        """The problems: outputs within penalties, so that those asked for come last."""
        left, right = products[:columns, :columns], products[:columns, columns:]
        least = np.abs(right).max(axis=0)  # (K,), the least penalty that leaves no weight
        wanted = 0.01 * least if self.l1 is None else np.full_like(least, self.l1)
        # A target that never changes asks for nothing; its penalty is any positive number.
        wanted = np.where(wanted > 0, wanted, 1.0)
        penalties = np.geomspace(np.maximum(least, wanted), wanted, PATH)  # (L, K)
        self.path_penalties.copy_(torch.from_numpy(penalties))
        return CoordinateDescent(
            gram=left + self.l2 * np.eye(columns),
            alignment=np.tile(right.T, (PATH, 1)),
            power=np.tile(products.diagonal()[columns:], PATH),
            l1=penalties.flatten(),
        )

    def _keep(self, descent: CoordinateDescent, mean: Tensor) -> None:
        weights = torch.from_numpy(descent.weights)
        self.path_weights.copy_(weights.view_as(self.path_weights))
        slope, columns = weights[-self.spec.num_outputs :], weights.shape[1]
        with torch.no_grad():
            self.affine.weight.copy_(slope)
            self.affine.bias.copy_(mean[columns:] - slope @ mean[:columns])

    def own_views(self, examples: Examples) -> Mapping[str, View]:
        """How the weights of the first output came in as the penalty fell."""
        names = self.spec.feature_names or tuple(
            f"input {place}" for place in range(self.spec.num_features)
        )
        target = self.spec.target_names[0] if self.spec.target_names else "target"
        return {
            "weight-path": measure_weight_path(
                self.path_penalties[:, 0],
                self.path_weights[:, 0],
                names,
                target,
                float(self.gap_left[0]),
            )
        }
