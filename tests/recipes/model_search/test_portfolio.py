"""Which models a search tries, and which it refuses."""

from dataclasses import replace

import pytest

from netwright.core.errors import ConfigError, UnknownNameError
from netwright.recipes.model_search.portfolio import choose_models, usual_models
from tests.models.baselines.fitted import spec_of

REALS = spec_of(2, target="real", outputs=1)


def test_the_usual_models_fit_their_targets() -> None:
    assert choose_models((), REALS) == usual_models("real")
    classes = spec_of(2, target="class", outputs=3)
    assert choose_models((), classes) == usual_models("class")
    of_many = choose_models((), classes, many_rows=True)
    assert sorted(of_many) == sorted(usual_models("class"))
    assert of_many[:3] == ("softmax", "hist-boosting", "mlp")  # a forest takes minutes there


def test_named_models_are_tried_once_each() -> None:
    assert choose_models(["ridge", "mlp", "ridge"], REALS) == ("ridge", "mlp")


def test_what_cannot_learn_the_table_is_refused() -> None:
    with pytest.raises(ConfigError, match="softmax predicts class"):
        choose_models(["softmax"], REALS)
    with pytest.raises(ConfigError, match="ensemble 'bagging'"):
        choose_models(["bagging"], REALS)
    with pytest.raises(UnknownNameError):
        choose_models(["nothing"], REALS)
    with pytest.raises(ConfigError, match="a list of names"):
        choose_models("mlp", REALS)
    with pytest.raises(ConfigError, match="name a model to search its settings"):
        choose_models((), replace(REALS, target="labels"))
