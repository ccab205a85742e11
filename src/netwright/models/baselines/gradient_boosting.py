"""Gradient boosting as Friedman wrote it: every split is the best of all thresholds.

Shapes: B batch, D inputs, K outputs.
Source: Friedman, "Greedy Function Approximation: A Gradient Boosting Machine" (2001).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.models.baselines.boosted_trees import BoostedTrees, BoostedTreesConfig
from netwright.models.baselines.trees import MaxDepth, MinSamplesLeaf

A_MINUTE = 2e9  # numbers that a tree sorts, on one core: all inputs of all rows at every depth
DEEP = 20  # of a tree without a limit


@dataclass(frozen=True, kw_only=True)
class GradientBoostingConfig(BoostedTreesConfig):
    """Settings of gradient boosting."""

    max_depth: MaxDepth = 3
    min_samples_leaf: MinSamplesLeaf = 1


class GradientBoosting(BoostedTrees):
    """Small trees, each fitted to what those before it still miss."""

    settings: ClassVar[type[Config]] = GradientBoostingConfig
    config: GradientBoostingConfig
    card: ClassVar[Card] = Card(
        sentence="Add small trees one after the other, each fitted to the negative gradient of the "
        "loss: the residuals of what there is so far.",
        formula=r"F_m = F_{m-1} + \nu h_m, \quad"
        r" h_m \approx -\frac{\partial \ell(y, F_{m-1})}{\partial F_{m-1}}",
        symbols={
            "F_m": "logits or reals after m stages; F_0 is constant",
            "h_m": "tree of stage m, one an output",
            r"\nu": "the learning rate",
            r"\ell": "cross-entropy, or half the squared error",
        },
        source="Friedman (2001), Annals of Statistics 29, 1189-1232; learned by scikit-learn",
    )
    stages_a_step = 10  # going on costs a pass over the rows: one a stage would double it
    stages_setting = "n_estimators"

    def forewarning(self, rows: int) -> str:
        """That many trees on many numbers take long."""
        trees = self.config.stages * len(self.start)
        features, depth = self.spec.num_features, self.config.max_depth or DEEP
        minutes = rows * features * trees * depth / A_MINUTE
        if minutes < 2:
            return ""
        return (
            f"gradient-boosting sorts {rows:,} rows by {features:,} inputs at every depth of "
            f"{trees:,} trees: about {minutes:,.0f} minutes; use hist-boosting or fewer stages, "
            f"or limit it with max_time"
        )

    def _estimator(self, seed: int) -> Any:
        from sklearn import ensemble  # noqa: PLC0415 - slow

        by_target = {
            "class": ensemble.GradientBoostingClassifier,
            "real": ensemble.GradientBoostingRegressor,
        }
        return by_target[self.spec.target](
            learning_rate=self.config.learning_rate,
            max_depth=self.config.max_depth,
            min_samples_leaf=self.config.min_samples_leaf,
            random_state=seed,
            warm_start=True,
        )

    def _copy(self, boosters: Sequence[Any], row: NDArray[np.float64]) -> None:
        """Take over the trees; what they do not add to the score of a row is the start."""
        rate = self.config.learning_rate
        members = np.concatenate([booster.estimators_ for booster in boosters], axis=1)
        trees = [member.tree_ for member in members.flat]  # stage after stage
        self.trees.plant(trees, [rate * tree.value[:, 0] for tree in trees])
        added = rate * np.array([tree.predict(row.astype(np.float32)).item() for tree in trees])
        is_class = self.spec.target == "class"
        scores = [(one.decision_function if is_class else one.predict)(row) for one in boosters]
        start = np.ravel(scores) - added.reshape(members.shape).sum(axis=0)
        self.start = torch.tensor(start).to(self.start)
        shares = [booster.feature_importances_ for booster in boosters]
        self._keep(boosters[0], np.mean(shares, axis=0))
