"""Boosting on histograms: its leaves worked by hand, and what its features count."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.data.dataset import Split
from netwright.data.spec import TargetKind
from netwright.inspection.attribution.feature_importance import FeatureImportance
from netwright.models.baselines.hist_boosting import HistBoosting, HistBoostingConfig
from tests.models.baselines.fitted import fitted, spec_of, table


def test_a_leaf_adds_the_rate_times_the_mean_of_what_is_missed() -> None:
    """Of the squared error G / H is the mean residual: 0, 0, 8, 8 have the mean 4."""
    x = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
    data = Split(inputs=x, targets=torch.tensor([[0.0], [0.0], [8.0], [8.0]]))
    spec = spec_of(1, target="real", outputs=1)
    settings: dict[str, Any] = {"min_samples_leaf": 1, "max_leaves": 2, "learning_rate": 0.5}
    one = fitted("hist-boosting", data, spec, stages=1, **settings)
    assert one.start.tolist() == [4.0]
    assert one(x)[:, 0].tolist() == [2.0, 2.0, 6.0, 6.0]
    two = fitted("hist-boosting", data, spec, stages=2, **settings)
    assert two(x)[:, 0].tolist() == [1.0, 1.0, 7.0, 7.0]


@pytest.mark.parametrize("outputs", [1, 2], ids=["real", "class"])
def test_the_prediction_rises_with_one_column_and_falls_with_another(outputs: int) -> None:
    numbers = torch.Generator().manual_seed(0)
    x = torch.rand(120, 3, generator=numbers)
    score = x[:, 0] - x[:, 1] + torch.sin(20 * x[:, 0]) + torch.sin(20 * x[:, 1])
    target: TargetKind = "real" if outputs == 1 else "class"
    targets = score[:, None] if target == "real" else (score > 0).long()
    data = Split(inputs=x, targets=targets)
    spec = replace(spec_of(3, target=target, outputs=outputs), feature_names=("a", "b", "c"))
    line = torch.linspace(0, 1, 200)

    def answers(column: int, **settings: Any) -> Tensor:
        model = fitted("hist-boosting", data, spec, stages=20, min_samples_leaf=3, **settings)
        asked = torch.full((200, 3), 0.5)
        asked[:, column] = line
        said: Tensor = model(asked)
        return said[:, -1] - (0 if target == "real" else said[:, 0])

    directed: dict[str, Any] = {"increasing": ("a",), "decreasing": ("b",)}
    for column, sign in ((0, 1), (1, -1)):
        assert bool((sign * answers(column, **directed).diff() >= 0).all())
        assert bool((sign * answers(column).diff() < 0).any())


def test_columns_with_a_direction_are_there_and_have_one() -> None:
    spec = replace(spec_of(2, target="real", outputs=1), feature_names=("age", "income"))
    with pytest.raises(ConfigError, match="no 'incom'; did you mean 'income'"):
        HistBoosting.build(HistBoostingConfig(increasing=("incom",)), spec)
    kinds = replace(spec, feature_names=("kind=p", "kind=q"))
    with pytest.raises(ConfigError, match="are for numbers, 'kind' has categories or words"):
        HistBoosting.build(HistBoostingConfig(increasing=("kind",)), kinds)
    with pytest.raises(ConfigError, match="increasing and decreasing must not both name 'age'"):
        HistBoostingConfig(increasing=("age",), decreasing=("age",))
    three = replace(spec_of(2, target="class", outputs=3), feature_names=spec.feature_names)
    with pytest.raises(ConfigError, match="for two classes, got 3"):
        HistBoosting.build(HistBoostingConfig(decreasing=("age",)), three)


def test_stages_are_grown_some_at_a_time_and_each_step_is_what_the_model_says() -> None:
    data, spec = table("diabetes")
    config = HistBoostingConfig(stages=HistBoosting.stages_a_step + 5)
    model = HistBoosting.build(config, spec)
    losses = []
    for step in model.fit_steps(data, seed=0):
        losses.append(step["loss"])
        now = (model(data.inputs) - data.targets).square().mean().item()
        assert now == pytest.approx(step["loss"], rel=1e-5)
    assert len(losses) == 2
    assert losses[1] < losses[0]
    assert len(model.trees.roots) == config.stages


def test_only_a_feature_that_splits_counts() -> None:
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(100, 3, generator=numbers)
    data = Split(inputs=x, targets=(x[:, 1:2] > 0).float())
    spec = spec_of(3, target="real", outputs=1)
    model = fitted("hist-boosting", data, spec, stages=1, max_leaves=2)
    assert model.importances.tolist() == [0.0, 1.0, 0.0]
    assert isinstance(model.own_views(data)["feature-importance"], FeatureImportance)
    few = data.take(torch.arange(10))  # too few rows for two leaves
    assert fitted("hist-boosting", few, spec, stages=1).importances.tolist() == [0.0, 0.0, 0.0]
