"""Support vector machine: the widest margin, remembered by the rows that touch it.

Shapes: B batch, D inputs, S support vectors, C classes, P pairs of classes, K reals.
Source: Cortes and Vapnik, "Support-Vector Networks" (1995); Drucker et al. (1997) for reals.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive
from netwright.core.learner import Examples, Learner
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.attention.kernels import scaled_distances
from netwright.models.baselines.seen_classes import spread_scores
from netwright.models.baselines.training_rows import (
    TrainingRows,
    fit_estimator,
    training_loss,
    training_rows,
)
from netwright.models.grown_buffers import GrownBuffers
from netwright.models.model import Model

MANY_ROWS = 20_000  # half a minute; three times as many take nine times as long
CACHE = 1_000  # MB of likenesses that are not worked out again, where there are so many


@dataclass(frozen=True, kw_only=True)
class SVMConfig(Config):
    """Settings of the support vector machine."""

    kernel: Annotated[Literal["rbf", "linear"], Doc("the kernel")] = "rbf"
    C: Annotated[Positive, Doc("C, the cost of a margin violation")] = 1.0
    gamma: Annotated[Positive | None, Doc("gamma of the rbf kernel; default: 1 / (D var(x))")] = (
        None
    )


class SVM(GrownBuffers, Model, Learner):
    """Sums of kernels around support vectors, found by scikit-learn.

    Several classes are told apart two at a time: logits are the pairs that a class wins, and a
    part of a pair by how much. Reals are learned in units of their own spread, so that `C` means
    the same whatever they are measured in.
    """

    settings: ClassVar[type[Config]] = SVMConfig
    config: SVMConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "real"})
    grown: ClassVar[tuple[str, ...]] = ("classes", "vectors", "coefficients", "bias")
    card: ClassVar[Card] = Card(
        sentence="The border with the widest margin between two classes, or the flattest function "
        "within a tube around the reals; only the rows at the margin count.",
        formula=r"f(x) = \sum_s a_s k(x, x_s) + b, \quad"
        r" \min \frac{1}{2}\|w\|^2 + C \sum_i \max(0, 1 - y_i f(x_i)), \quad"
        r" k = x^T x' \;\text{or}\; e^{-\gamma \|x - x'\|^2}",
        symbols={
            "x_s": "support vector s, (D)",
            "a_s": "its coefficient, between -C and C",
            "b": "bias",
            "w": "normal of the border, in the space of the kernel",
            "y_i": "+1 or -1, the class of row i within its pair",
            r"\gamma": "how fast likeness falls with distance",
        },
        source="Cortes and Vapnik (1995), Machine Learning 20, 273-297; learned by scikit-learn",
    )
    centre: Tensor
    classes: Tensor
    vectors: Tensor
    coefficients: Tensor
    bias: Tensor
    gamma: Tensor

    def __init__(self, config: SVMConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        count = spec.num_outputs
        sums = count * (count - 1) // 2 if spec.target == "class" else count
        # Rows are seen from their mean: far from 0 the products of `linear` would cancel.
        self.register_buffer("centre", torch.zeros(spec.num_features))  # (D,)
        self.register_buffer("classes", torch.arange(count))
        self.register_buffer("vectors", torch.zeros(1, spec.num_features))  # (S, D)
        self.register_buffer("coefficients", torch.zeros(sums, 1))  # (P or K, S)
        self.register_buffer("bias", torch.zeros(sums))  # (P or K,)
        self.register_buffer("gamma", torch.tensor(1.0))

    @classmethod
    def build(cls, config: SVMConfig, spec: DataSpec) -> Self:
        """A machine with as many inputs and outputs as the data has."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> logits (B, C) or reals (B, K)."""
        sums = F.linear(self._kernel(x.flatten(1) - self.centre), self.coefficients, self.bias)
        if self.spec.target == "real":
            return sums
        scores = F.pad(sums, (1, 0)) if len(self.classes) == 2 else pair_votes(sums)
        return spread_scores(scores, self.classes, self.spec.num_outputs)

    def _kernel(self, x: Tensor) -> Tensor:
        """(B, D) -> (B, S)."""
        if self.config.kernel == "linear":
            return x @ self.vectors.T
        return torch.exp(-self.gamma * scaled_distances(x, self.vectors, 1.0).square())

    def forewarning(self, rows: int) -> str:
        """That many rows take long."""
        if rows <= MANY_ROWS:
            return ""
        return (
            f"svm compares {rows:,} rows with each other, which takes minutes, and four times as "
            f"long for twice the rows; mlp or softmax train on as many in seconds"
        )

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """One step: the solution. The seed has no part in it."""
        rows = training_rows(data)
        spread = _variance(rows) * rows.inputs.shape[1]
        self.centre.copy_(torch.from_numpy(rows.inputs.mean(axis=0)))
        rows = rows._replace(inputs=rows.inputs - self.centre.double().cpu().numpy())
        gamma = self.config.gamma or (1 / spread if spread > 0 else 1.0)
        self.gamma.fill_(gamma)
        settings = {
            "kernel": self.config.kernel,
            "C": self.config.C,
            "gamma": gamma,
            "cache_size": CACHE,
        }
        if self.spec.target == "class":
            self._fit_classes(rows, settings)
        else:
            self._fit_reals(rows, settings)
        yield {"loss": training_loss(self, data), "support_vectors": float(len(self.vectors))}

    def _fit_classes(self, rows: TrainingRows, settings: dict[str, Any]) -> None:
        from sklearn.svm import SVC  # noqa: PLC0415 - slow

        fitted = fit_estimator(SVC(**settings), rows)
        several = len(fitted.classes_) > 2
        coefficients = _of_pairs(fitted) if several else fitted.dual_coef_
        self._keep(fitted.support_vectors_, coefficients, fitted.intercept_)
        self.classes = torch.tensor(fitted.classes_).to(self.classes)

    def _fit_reals(self, rows: TrainingRows, settings: dict[str, Any]) -> None:
        """One machine an output; the support vectors of all stand one below the other."""
        from sklearn.svm import SVR  # noqa: PLC0415 - slow

        columns = rows.targets.reshape(len(rows.targets), -1).astype(np.float64)
        means = np.average(columns, axis=0, weights=rows.weights)
        spreads = np.sqrt(np.average((columns - means) ** 2, axis=0, weights=rows.weights))
        spreads[spreads == 0] = 1.0
        fitted = [
            fit_estimator(SVR(**settings), rows._replace(targets=column))
            for column in ((columns - means) / spreads).T
        ]
        parts = (torch.tensor(by * one.dual_coef_) for by, one in zip(spreads, fitted, strict=True))
        self._keep(
            np.concatenate([one.support_vectors_ for one in fitted]),
            torch.block_diag(*parts).numpy(),  # type: ignore[no-untyped-call]
            means + spreads * np.concatenate([one.intercept_ for one in fitted]),
        )

    def _keep(
        self,
        vectors: NDArray[np.float64],
        coefficients: NDArray[np.float64],
        bias: NDArray[np.float64],
    ) -> None:
        self.vectors = torch.tensor(vectors).to(self.vectors)
        self.coefficients = torch.tensor(coefficients).to(self.coefficients)
        self.bias = torch.tensor(bias).to(self.bias)


def _variance(rows: TrainingRows) -> float:
    """Of all numbers of the inputs together; each counts as its row."""
    mean = np.average(rows.inputs.mean(axis=1), weights=rows.weights)
    apart = np.square(rows.inputs - mean).mean(axis=1)  # (N,)
    return float(np.average(apart, weights=rows.weights))


def pair_votes(sums: Tensor) -> Tensor:
    """Sums of pairs (B, P), above 0 for the first of a pair -> (B, C), votes and a fraction.

    The fraction, below 1/3 of a vote, orders classes of as many votes by how clearly they won.
    """
    num_classes = round((1 + (1 + 8 * sums.shape[1]) ** 0.5) / 2)
    first, second = torch.triu_indices(num_classes, num_classes, 1, device=sums.device)
    ones = torch.eye(num_classes, dtype=sums.dtype, device=sums.device)
    wins = (sums >= 0).to(sums)
    votes = wins @ ones[first] + (1 - wins) @ ones[second]  # (B, C)
    clear = sums @ (ones[first] - ones[second])
    return votes + clear / (3 * (clear.abs() + 1))


def _of_pairs(fitted: Any) -> NDArray[np.float64]:
    """Coefficients (P, S) from the packed (C - 1, S) of scikit-learn.

    Support vectors come class after class. One of class i has its coefficient against class j in
    row j, or j - 1 where j comes after i.
    """
    ends = np.cumsum(fitted.n_support_)
    rows = [slice(end - count, end) for end, count in zip(ends, fitted.n_support_, strict=True)]
    pairs = list(combinations(range(len(rows)), 2))
    coefficients = np.zeros((len(pairs), ends[-1]))
    for pair, (i, j) in zip(coefficients, pairs, strict=True):
        pair[rows[i]] = fitted.dual_coef_[j - 1, rows[i]]
        pair[rows[j]] = fitted.dual_coef_[i, rows[j]]
    return coefficients
