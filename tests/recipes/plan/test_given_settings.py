"""Settings by short and by exact names find their section; what is unclear is refused."""

from dataclasses import dataclass
from typing import Any

import pytest

from netwright.core.config import Config
from netwright.core.errors import ConfigError
from netwright.data.tables.table import TableConfig
from netwright.recipes.plan.given_settings import Kinds, given_to, sort_settings
from netwright.train.settings import TrainConfig
from tests.repetition import for_each


@dataclass(frozen=True, kw_only=True)
class Filters(Config):
    kernel: int = 3
    width: int = 8


@dataclass(frozen=True, kw_only=True)
class Points(Config):
    width: int = 2
    noise: float = 0.1


KINDS: Kinds = {"model": Filters, "data": Points, "train": TrainConfig}


def test_a_short_name_finds_the_one_section_that_has_it() -> None:
    given = sort_settings({"noise": 0.2, "lr": 0.1}, KINDS)
    assert given == {"model": {}, "data": {"noise": 0.2}, "train": {"lr": 0.1}}


def test_an_exact_name_says_its_section() -> None:
    exact = {"model.kernel": 5, "train.kernel": "fused", "data.width": 4, "model.width": 9}
    assert sort_settings(exact, KINDS) == {
        "model": {"kernel": 5, "width": 9},
        "data": {"width": 4},
        "train": {"kernel": "fused"},
    }


def test_a_whole_config_of_training_is_given_with_what_is_not_default() -> None:
    train = TrainConfig(lr=0.5, epochs=3)
    assert sort_settings({"train": train}, KINDS)["train"] == {"lr": 0.5, "epochs": 3}
    beside = {"train": train, "epochs": 4, "train.lr": 0.1, "train.kernel": "fused"}
    assert sort_settings(beside, KINDS)["train"] == {"lr": 0.1, "epochs": 4, "kernel": "fused"}


def test_the_source_of_a_file_is_named_exactly() -> None:
    assert sort_settings({"data.name": "series"}, KINDS)["data"] == {"name": "series"}


def test_a_name_that_a_rule_of_its_own_shares_with_training_is_the_models() -> None:
    assert sort_settings({"kernel": 5}, KINDS, own_rule=True)["model"] == {"kernel": 5}


@for_each(
    ("settings", "sentence"),
    [
        ({"kernel": 5}, "'kernel' is a setting of model and of train; write model.kernel or "),
        (
            {"width": 5},
            "'width' is a setting of model and of data; write model.width or data.width",
        ),
        ({"lr": 1, "train.lr": 1}, "'lr' is given twice: also as 'train.lr'"),
        ({"model.kernle": 5}, "unknown setting 'model.kernle'; did you mean 'kernel'?"),
        ({"model.lr": 5}, "unknown setting 'model.lr'; lr is a setting of train here: train.lr"),
        ({"train.noise": 5}, "unknown setting 'train.noise'; did you mean 'data.noise'?"),
        ({"model.zzz": 5}, "unknown setting 'model.zzz'; there are kernel, width"),
        ({"nois": 5}, "unknown setting 'nois'; did you mean 'noise'?"),
        ({"train": {"lr": 1}}, "train must be a TrainConfig, got {'lr': 1}"),
    ],
)
def test_what_is_unclear_is_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        sort_settings(settings, KINDS)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("name", ["data.noise", "data.name", "model.width"])
def test_what_is_ready_takes_no_settings(name: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown setting '{name}'; there are none"):
        sort_settings({name: 1}, {"model": None, "data": None, "train": TrainConfig})


@pytest.mark.parametrize("name", ["data.window", "window"])
def test_a_setting_of_series_is_no_setting_of_a_table_and_says_how_to_have_it(name: str) -> None:
    table = {"data": TableConfig, "train": TrainConfig}
    with pytest.raises(
        ConfigError, match=f"unknown setting '{name}'.* belongs to series: data.name=series"
    ):
        sort_settings({name: 5}, table)
    with pytest.raises(ConfigError, match=f"unknown setting '{name}'; there are "):
        sort_settings({name: 5}, KINDS)


def test_what_may_be_meant_for_a_section() -> None:
    settings = {"text": "a", "data.target": "b", "model.width": 3}
    assert given_to("data", settings) == {"text": "a", "target": "b"}


def test_arguments_of_fit_are_no_settings() -> None:
    with pytest.raises(ConfigError, match=r"'callbacks' is an argument of nw\.fit alone"):
        sort_settings({"callbacks": []}, {"train": TrainConfig})


def test_weights_of_rows_stand_beside_them() -> None:
    with pytest.raises(ConfigError, match="'sample_weight' is not a setting: give"):
        sort_settings({"sample_weight": [1.0]}, KINDS)
