"""Decision tree and random forest: scikit-learn grows, torch walks.

Shapes: B batch, D inputs, T trees, S classes seen, C classes, K outputs.
Source: Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees" (1984); Breiman,
"Random Forests" (2001).
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import torch
from annotated_types import Interval
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.core.learner import Examples, Learner
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.inspection.attribution.feature_importance import measure_feature_importance
from netwright.inspection.drawing.view import View
from netwright.models.baselines.node_arrays import NodeArrays
from netwright.models.baselines.seen_classes import log_probability, spread_scores
from netwright.models.baselines.training_rows import fit_estimator, training_loss, training_rows
from netwright.models.grown_buffers import GrownBuffers
from netwright.models.model import Model

MaxDepth = Annotated[Size | None, Doc("maximum depth; default: no limit")]
ROWS_A_STEP = 1_000_000  # of all trees of a step: some seconds, then learning can be ended
MinSamplesLeaf = Annotated[Size, Doc("minimum training rows in a leaf")]


class TreeModel(GrownBuffers, Model, Learner):
    """What a tree, a forest and boosting share: their nodes, and how much each feature counts."""

    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features", "image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "real"})
    grown: ClassVar[tuple[str, ...]] = ("classes",)
    classes: Tensor
    importances: Tensor

    def __init__(self, config: Config, spec: DataSpec, trees: NodeArrays) -> None:
        super().__init__(config, spec)
        self.trees = trees
        self.register_buffer("classes", torch.arange(spec.num_outputs))
        self.register_buffer("importances", torch.zeros(spec.num_features))

    def own_views(self, examples: Examples) -> Mapping[str, View]:
        """How much each feature, or pixel, took part in the splits."""
        return {"feature-importance": measure_feature_importance(self.importances, self.spec)}

    def _keep(self, fitted: Any, importances: NDArray[np.float64]) -> None:
        """The classes that were there, and the importance of each feature (D,)."""
        if self.spec.target == "class":
            self.classes = torch.tensor(fitted.classes_).to(self.classes)
        self.importances.copy_(torch.tensor(importances))


class AveragedTrees(TreeModel):
    """Trees that each answer for themselves; the answer is their mean."""

    def __init__(self, config: Config, spec: DataSpec) -> None:
        super().__init__(config, spec, NodeArrays(spec.num_outputs))

    @classmethod
    def build(cls, config: Config, spec: DataSpec) -> Self:
        """Trees with as many outputs as the data has."""
        return cls(config, spec)

    @abstractmethod
    def _estimator(self, seed: int) -> Any:
        """Scikit-learn's, not yet fitted."""

    def forward(self, x: Tensor) -> Tensor:
        """(B, ...) -> log-probabilities (B, C) or reals (B, K)."""
        means: Tensor = self.trees(x.flatten(1)).mean(dim=1)
        if self.spec.target == "real":
            return means
        return spread_scores(log_probability(means), self.classes, self.spec.num_outputs)

    def _changes(self, rows: int) -> Sequence[Mapping[str, Any]]:
        """What is set before each step of learning from so many rows: one step, and nothing."""
        return ({},)

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """One step or several: the trees, grown by scikit-learn.

        Only the last measures the loss: to walk trees takes a good part of what they took to grow.
        """
        rows, grower = training_rows(data), self._estimator(seed % 2**32)
        changes = self._changes(len(rows.inputs))
        for step, change in enumerate(changes, 1):
            fitted = fit_estimator(grower.set_params(**change), rows)
            trees = [member.tree_ for member in getattr(fitted, "estimators_", [fitted])]
            # (nodes, 1, S) of shares for classes, (nodes, K, 1) of means for reals
            self.trees.plant(trees, [tree.value.reshape(tree.node_count, -1) for tree in trees])
            self._keep(fitted, fitted.feature_importances_)
            yield {"loss": training_loss(self, data)} if step == len(changes) else {}


@dataclass(frozen=True, kw_only=True)
class DecisionTreeConfig(Config):
    """Settings of a decision tree."""

    max_depth: MaxDepth = None
    min_samples_leaf: MinSamplesLeaf = 1


class DecisionTree(AveragedTrees):
    """One tree of questions about single features."""

    settings: ClassVar[type[Config]] = DecisionTreeConfig
    config: DecisionTreeConfig
    card: ClassVar[Card] = Card(
        sentence="Split the rows by one feature at a time, each time by what makes the parts "
        "purest; a leaf answers with the shares or the mean of its rows.",
        formula=r"(j, t) = \arg\min \frac{n_L}{n} H(L) + \frac{n_R}{n} H(R), \quad"
        r" L = \{i : x_{ij} \le t\}, \quad H = 1 - \sum_c p_c^2 \;\text{or}\;"
        r" \operatorname{var}(y)",
        symbols={
            "x_{ij}": "feature j of row i",
            "t": "threshold of the split",
            "L, R": "the rows that go left and right, n_L and n_R of n",
            "H": "impurity: Gini's for classes, the variance for reals",
            "p_c": "share of class c among the rows of a node",
        },
        source="Breiman, Friedman, Olshen and Stone (1984), Classification and Regression Trees; "
        "learned by scikit-learn",
    )

    def _estimator(self, seed: int) -> Any:
        from sklearn import tree  # noqa: PLC0415 - slow

        by_target = {"class": tree.DecisionTreeClassifier, "real": tree.DecisionTreeRegressor}
        return by_target[self.spec.target](
            max_depth=self.config.max_depth,
            min_samples_leaf=self.config.min_samples_leaf,
            random_state=seed,
        )


@dataclass(frozen=True, kw_only=True)
class RandomForestConfig(Config):
    """Settings of a random forest."""

    trees: Annotated[Size, Doc("number of trees")] = 100
    max_depth: MaxDepth = None
    min_samples_leaf: MinSamplesLeaf = 1
    max_features: Annotated[
        Annotated[float, Interval(gt=0, le=1)] | None,
        Doc(
            "fraction of the features tried at each split; default: sqrt(D) for classification, "
            "all for regression"
        ),
    ] = None


class RandomForest(AveragedTrees):
    """Trees grown on rows drawn with replacement, with few features to choose from."""

    settings: ClassVar[type[Config]] = RandomForestConfig
    config: RandomForestConfig
    card: ClassVar[Card] = Card(
        sentence="The mean of many trees, each grown on rows drawn with replacement, each split "
        "chosen among a few features drawn at random.",
        formula=r"f(x) = \frac{1}{T} \sum_{t=1}^{T} h_t(x)",
        symbols={
            "x": "one input, flattened, (D)",
            "h_t": "tree t: probabilities (C) or reals (K)",
            "T": "number of trees",
        },
        source="Breiman (2001), Machine Learning 45, 5-32; learned by scikit-learn",
        misprint="Features are drawn anew at each split, not once for each tree.",
    )

    def _estimator(self, seed: int) -> Any:
        from sklearn import ensemble  # noqa: PLC0415 - slow

        config, is_class = self.config, self.spec.target == "class"
        return (ensemble.RandomForestClassifier if is_class else ensemble.RandomForestRegressor)(
            n_estimators=config.trees,
            max_depth=config.max_depth,
            min_samples_leaf=config.min_samples_leaf,
            max_features=config.max_features or ("sqrt" if is_class else 1.0),
            random_state=seed,
            warm_start=True,
            n_jobs=torch.get_num_threads(),  # the trees are the same, however many
        )

    def _changes(self, rows: int) -> Sequence[Mapping[str, Any]]:
        """Some more trees each time, where rows are many: the forest is the same as of one step."""
        whole, a_step = self.config.trees, max(1, ROWS_A_STEP // rows)
        return [{"n_estimators": count} for count in (*range(a_step, whole, a_step), whole)]
