"""What boosted trees share: a constant start, and trees whose values add up stage after stage.

Shapes: B batch, S scores: one for two classes, else the classes C or the reals K; D inputs.
Source: Friedman, "Greedy Function Approximation: A Gradient Boosting Machine" (2001).
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from netwright.core.config import Config, Doc, Positive, Size
from netwright.core.learner import Examples
from netwright.data.spec import DataSpec
from netwright.models.baselines.node_arrays import NodeArrays
from netwright.models.baselines.seen_classes import spread_scores
from netwright.models.baselines.training_rows import fit_estimator, training_loss, training_rows
from netwright.models.baselines.trees import TreeModel


@dataclass(frozen=True, kw_only=True)
class BoostedTreesConfig(Config):
    """Settings of all boosted trees."""

    stages: Annotated[Size, Doc("number of boosting stages, each with one tree per output")] = 100
    learning_rate: Annotated[Positive, Doc("learning rate: the factor of each tree")] = 0.1


class BoostedTrees(TreeModel):
    """Trees that are added up, S of them a stage, grown by scikit-learn some stages at a time."""

    grown: ClassVar[tuple[str, ...]] = ("classes", "start")
    stages_a_step: ClassVar[int]
    stages_setting: ClassVar[str]  # its name in scikit-learn
    config: BoostedTreesConfig
    start: Tensor

    def __init__(self, config: BoostedTreesConfig, spec: DataSpec) -> None:
        is_binary = spec.target == "class" and spec.num_outputs == 2
        scores = 1 if is_binary else spec.num_outputs
        super().__init__(config, spec, NodeArrays(1, num_trees=scores))
        self.register_buffer("start", torch.zeros(scores))

    @classmethod
    def build(cls, config: BoostedTreesConfig, spec: DataSpec) -> Self:
        """Trees for as many outputs as the data has."""
        return cls(config, spec)

    @abstractmethod
    def _estimator(self, seed: int) -> Any:
        """Scikit-learn's, not yet fitted, which goes on where it was when it is fitted again."""

    @abstractmethod
    def _copy(self, boosters: Sequence[Any], row: NDArray[np.float64]) -> None:
        """Take over start, trees, classes and importances; a row (1, D) to try them on."""

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> logits (B, C) or reals (B, K)."""
        by_stage = self.trees(x.flatten(1)).reshape(x.shape[0], -1, len(self.start))
        scores: Tensor = self.start + by_stage.sum(dim=1)
        if self.spec.target == "real":
            return scores
        if scores.shape[1] < len(self.classes):  # two classes: the first has log-odds 0
            scores = F.pad(scores, (1, 0))
        return spread_scores(scores, self.classes, self.spec.num_outputs)

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """Some stages a step, grown by scikit-learn."""
        rows = training_rows(data)
        parts = [rows]
        if rows.targets.ndim == 2:  # scikit-learn boosts one output at a time
            parts = [rows._replace(targets=column) for column in rows.targets.T]
        boosters = [self._estimator(seed % 2**32) for _ in parts]
        stages = 0
        while stages < self.config.stages:
            stages = min(stages + self.stages_a_step, self.config.stages)
            for booster, part in zip(boosters, parts, strict=True):
                fit_estimator(booster.set_params(**{self.stages_setting: stages}), part)
            self._copy(boosters, rows.inputs[:1])
            yield {"loss": training_loss(self, data)}
