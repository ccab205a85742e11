"""The metric that decides: the task's own, or one that fits its target."""

import pytest
import torch

from netwright.core.errors import ConfigError, UnknownNameError
from netwright.recipes.plan.chosen_metric import choose_metric
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.tasks.regression import Regression


def test_without_a_name_it_is_the_tasks_own() -> None:
    assert choose_metric(None, Classification(3)).name == "accuracy"
    assert choose_metric(None, Regression(torch.zeros(1), torch.ones(1))).name == "rmse"
    assert choose_metric(None, LanguageModelling(5)).name == "perplexity"
    assert choose_metric("brier", Classification(3)).better == "lower"


def test_a_metric_of_another_target_and_an_unknown_one_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^rmse is not for a target of kind 'class'; there are "):
        choose_metric("rmse", Classification(3))
    with pytest.raises(UnknownNameError, match=r"unknown metric 'acuracy'; did you mean"):
        choose_metric("acuracy", Classification(3))
