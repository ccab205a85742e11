"""Boosting on histograms: inputs are put into at most 255 bins, and splits lie between bins.

A score can be made to rise, or to fall, with a column: no split is taken whose leaves would say
otherwise, and what grows below it stays on its side of their middle.

Shapes: B batch, D inputs, T trees, K outputs.
Source: Ke et al., "LightGBM: A Highly Efficient Gradient Boosting Decision Tree" (2017); Auguste,
Malory and Smirnov, "A Better Method to Enforce Monotonic Constraints in Regression and
Classification Trees" (2020), for the bounds of the leaves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import torch
from annotated_types import Ge
from numpy.typing import NDArray

from netwright.core.card import Card
from netwright.core.checks import nearest
from netwright.core.config import Config, Doc
from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.models.baselines.boosted_trees import BoostedTrees, BoostedTreesConfig
from netwright.models.baselines.trees import MaxDepth, MinSamplesLeaf


@dataclass(frozen=True, kw_only=True)
class HistBoostingConfig(BoostedTreesConfig):
    """Settings of boosting on histograms."""

    max_leaves: Annotated[int, Ge(2), Doc("maximum number of leaves per tree")] = 31
    max_depth: MaxDepth = None
    min_samples_leaf: MinSamplesLeaf = 20
    increasing: Annotated[
        tuple[str, ...],
        Doc("columns with which the prediction never falls; of two classes, that of the second"),
    ] = ()
    decreasing: Annotated[tuple[str, ...], Doc("columns with which it never rises")] = ()

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        for name in self.increasing:
            if name in self.decreasing:
                raise ConfigError(f"increasing and decreasing must not both name {name!r}")


class HistBoosting(BoostedTrees):
    """Trees grown leaf by leaf on binned inputs, by gradients and curvatures."""

    settings: ClassVar[type[Config]] = HistBoostingConfig
    config: HistBoostingConfig
    card: ClassVar[Card] = Card(
        sentence="Gradient boosting on inputs in at most 255 bins: the leaf that gains most is "
        "split next, by sums of gradients and curvatures; fast on many rows.",
        formula=r"\max_{\text{leaf}, j, t} \frac{G_L^2}{H_L} + \frac{G_R^2}{H_R}"
        r" - \frac{(G_L + G_R)^2}{H_L + H_R}, \quad h = -\nu \frac{G}{H}",
        symbols={
            "G_L, G_R": "sum of the loss's first derivatives over the rows left and right",
            "H_L, H_R": "the same of its second derivatives",
            "j, t": "feature and bin of the split",
            "h": "what a leaf adds to the score",
            r"\nu": "the learning rate",
        },
        source="Ke et al. (2017), LightGBM, NeurIPS 30; learned by scikit-learn's "
        "HistGradientBoosting, without its early stopping",
    )
    stages_a_step = 25  # going on bins the inputs anew
    stages_setting = "max_iter"

    def __init__(self, config: HistBoostingConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.directions = _directions(config, spec)

    def _estimator(self, seed: int) -> Any:
        from sklearn import ensemble  # noqa: PLC0415 - slow

        by_target = {
            "class": ensemble.HistGradientBoostingClassifier,
            "real": ensemble.HistGradientBoostingRegressor,
        }
        return by_target[self.spec.target](
            learning_rate=self.config.learning_rate,
            max_leaf_nodes=self.config.max_leaves,
            max_depth=self.config.max_depth,
            min_samples_leaf=self.config.min_samples_leaf,
            monotonic_cst=self.directions,
            early_stopping=False,
            random_state=seed,
            warm_start=True,
        )

    def _copy(self, boosters: Sequence[Any], row: NDArray[np.float64]) -> None:
        """Take over start and trees; a feature counts by what its splits gained."""
        stages = zip(*(booster._predictors for booster in boosters), strict=True)
        grown = [tree.nodes for stage in stages for trees in stage for tree in trees]
        self.trees.plant([_as_arrays(nodes) for nodes in grown], [_values(one) for one in grown])
        start = np.concatenate([booster._baseline_prediction.ravel() for booster in boosters])
        self.start = torch.tensor(start).to(self.start)
        gains = np.zeros(self.spec.num_features)
        for nodes in grown:
            splits = nodes[nodes["is_leaf"] == 0]
            np.add.at(gains, splits["feature_idx"], splits["gain"])
        self._keep(boosters[0], gains / (gains.sum() or 1.0))


def _directions(config: HistBoostingConfig, spec: DataSpec) -> list[int] | None:
    """Of each feature 1 where the score is to rise with it, -1 to fall, else 0; None: all are 0."""
    given = dict.fromkeys(config.increasing, 1) | dict.fromkeys(config.decreasing, -1)
    if not given:
        return None
    if spec.target == "class" and spec.num_outputs > 2:
        raise ConfigError(
            f"increasing and decreasing are for reals and for two classes, got {spec.num_outputs} "
            f"classes"
        )
    for name in given:
        if name not in spec.feature_names:
            if any(feature.startswith(f"{name}=") for feature in spec.feature_names):
                raise ConfigError(
                    f"increasing and decreasing are for numbers, {name!r} has categories or words"
                )
            hint = nearest(name, spec.feature_names)
            raise ConfigError(f"increasing and decreasing name columns: there is no {name!r}{hint}")
    return [given.get(name, 0) for name in spec.feature_names]


class _Nodes(NamedTuple):
    """A tree in the form of scikit-learn's `tree_`; a leaf has children -1."""

    node_count: int
    children_left: NDArray[np.int64]
    children_right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    max_depth: int


def _as_arrays(nodes: NDArray[Any]) -> _Nodes:
    is_leaf = nodes["is_leaf"] == 1
    return _Nodes(
        node_count=len(nodes),
        children_left=np.where(is_leaf, -1, nodes["left"].astype(np.int64)),
        children_right=np.where(is_leaf, -1, nodes["right"].astype(np.int64)),
        feature=nodes["feature_idx"],
        threshold=nodes["num_threshold"],
        max_depth=int(nodes["depth"].max()),
    )


def _values(nodes: NDArray[Any]) -> NDArray[np.float64]:
    """What each node adds to the score (nodes, 1); the learning rate is in it."""
    values: NDArray[np.float64] = nodes["value"][:, None]
    return values
