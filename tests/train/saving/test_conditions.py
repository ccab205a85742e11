"""The conditions of a run: nothing that matters is left out, and a change is told in words."""

import json
from dataclasses import fields, replace
from typing import Any

import pytest
import torch
from torch import nn

from netwright.core import version
from netwright.data.dataset import Data
from netwright.train.own.parts import OwnParts
from netwright.train.saving.conditions import (
    FREE,
    OWN,
    READING,
    SOMETIMES,
    STEERING,
    SURROUNDINGS,
    describe_conditions,
    find_changes,
)
from netwright.train.settings import TrainConfig
from tests.repetition import for_each
from tests.train.toy_runs import toy_data, toy_net

BY_STEPS: dict[str, Any] = {
    "epochs": None,
    "max_steps": 7,
    "eval_every": 2,
    "by_length": True,
    "loss_options": {"delta": 2.0},
    "target_transform": "log",
}


def describe(
    model: nn.Module | None = None, data: Data | None = None, seed: int = 0, **settings: Any
) -> dict[str, Any]:
    return describe_conditions(
        TrainConfig(**{"epochs": 3, "batch_size": 4, **settings}),
        seed=seed,
        model=model or toy_net(batch_norm=True),
        data=data or toy_data(test=4),
        processes=1,
    )


def changes(**others: Any) -> dict[str, str]:
    return find_changes(describe(), describe(**others))


def test_every_setting_of_training_is_a_condition_or_free_on_purpose() -> None:
    given = {name: value for name, value in BY_STEPS.items() if name not in {"epochs", "max_steps"}}
    described = describe(schedule="cosine", **given)
    for field in fields(TrainConfig):
        # "device" is free as a setting: where the model lies counts among the surroundings.
        assert (field.name in described) == (field.name not in FREE or field.name == "device")


def test_objects_of_ones_own_are_conditions_by_their_names() -> None:
    before = {**describe(), "own_loss": "focal"}
    assert find_changes(before, describe()) == {"own_loss": "own_loss was focal, is not set"}
    parts = {field.name for field in fields(OwnParts)} - {"output", "metrics"}  # these only look
    assert set(OWN) == {f"own_{part}" for part in parts}


def test_every_group_names_conditions_that_there_are() -> None:
    described = {**describe(schedule="cosine"), **describe(schedule="cosine", **BY_STEPS)}
    # Of objects that are handed over, of shards, and where torch is to do without oneDNN.
    described |= dict.fromkeys([*OWN, "parallel", "offload", "onednn"])
    for group in (STEERING, READING, SURROUNDINGS, SOMETIMES):
        assert set(group) <= set(described)
    assert not set(STEERING) & set(READING)


def test_conditions_are_plain_values() -> None:
    described = describe(optimizer_options={"betas": (0.8, 0.9)})
    assert json.loads(json.dumps(described)) == described


def test_onednn_is_the_runs_own_choice_whatever_the_flag_of_the_moment() -> None:
    torch._C._set_mkldnn_enabled(False)  # as by a run of another thread
    assert "onednn" not in describe(onednn="on")
    torch._C._set_mkldnn_enabled(True)
    assert describe(onednn="off")["onednn"] == "off"


def test_shards_on_the_host_are_said_and_not_refused() -> None:
    assert changes(parallel="shard", offload=True) == {"offload": "offload was off, is on"}
    assert "offload" in SURROUNDINGS


def test_a_run_that_says_nothing_of_onednn_had_it_on() -> None:
    assert changes(onednn="off") == {"onednn": "oneDNN was on, is off"}
    assert find_changes({**describe(), "onednn": "on"}, describe()) == {}


def test_the_same_world_has_no_changes() -> None:
    assert changes() == {}


@pytest.mark.parametrize("settings", [{"schedule": "cosine"}, {"average": "equal"}])
def test_a_longer_run_differs_only_where_something_knows_the_end(settings: dict[str, Any]) -> None:
    assert changes(epochs=9) == {}
    before, now = describe(**settings), describe(**settings, epochs=9)
    assert find_changes(before, now) == {"epochs": "epochs was 3, is 9"}
    before, now = (
        describe(**settings, **BY_STEPS),
        describe(**{**settings, **BY_STEPS, "max_steps": 9}),
    )
    assert find_changes(before, now) == {"max_steps": "max_steps was 7, is 9"}
    assert find_changes(describe(**settings), before)["max_steps"] == "max_steps was not set, is 7"


def test_where_epochs_are_given_a_limit_of_steps_is_free() -> None:
    assert changes(max_steps=9) == {}
    assert changes(schedule="cosine") == changes(schedule="cosine", max_steps=9)


def test_measuring_on_the_way_decides_which_weights_are_best_and_logging_nothing() -> None:
    assert changes(log_every=5) == {}
    assert changes(eval_every=5) == {"eval_every": "eval_every was not set, is 5"}
    assert "loss_options" not in describe()
    assert "eval_every" not in describe()  # nor was it in checkpoints before there was such a thing


@for_each(
    "settings",
    [
        {"max_time": 5.0},
        {"patience": 3},
        {"save_steps": 1},
        {"keep": 7},
        {"workers": 2},
        {"doctor": False},
    ],
)
def test_when_a_run_ends_and_what_it_keeps_are_no_conditions(settings: dict[str, Any]) -> None:
    assert changes(**settings) == {}


@for_each(
    ("others", "sentences"),
    [
        ({"seed": 7}, {"seed": "seed was 0, is 7"}),
        ({"lr": 0.1}, {"lr": "lr was not set, is 0.1"}),
        ({"batch_size": 5}, {"batch_size": "batch_size was 4, is 5"}),
        (
            {"optimizer": "momentum", "precision": "bf16-mixed"},
            {
                "optimizer": "optimizer was adam, is momentum",
                "precision": "precision was fp32, is bf16-mixed",
            },
        ),
        (
            {"optimizer_options": {"eps": 1e-6}},
            {"optimizer_options": "optimizer_options was {}, is {'eps': 1e-06}"},
        ),
    ],
)
def test_settings_are_told_before_and_after(
    others: dict[str, Any], sentences: dict[str, str]
) -> None:
    assert changes(**others) == sentences


def test_another_width_is_told_by_the_first_weight_that_differs() -> None:
    wider = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.0))
    told = changes(model=wider.append(nn.Linear(8, 3)))
    assert told["model"] == (
        "the model has changed: '0.weight' was 5x3 torch.float32, is 8x3 torch.float32"
    )


def test_a_part_that_came_or_went_is_told() -> None:
    told = changes(model=toy_net())["model"]
    assert told == "the model has changed: '3.weight' was absent, is 3x5 torch.float32"


def test_other_layers_of_the_same_shapes_are_another_model() -> None:
    net = toy_net(batch_norm=True)
    net[2] = nn.Tanh()
    assert changes(model=net) == {"layers": "the model has changed: '2' was ReLU(), is Tanh()"}
    told = changes(model=toy_net(batch_norm=True, dropout=0.5))
    assert told == {
        "layers": "the model has changed: '3' was Dropout(p=0.0, inplace=False), "
        "is Dropout(p=0.5, inplace=False)"
    }


def changed_data(change: str) -> Data:
    data = toy_data(test=4)
    train = data.train
    if change == "order":
        return replace(data, train=train.take(torch.arange(20).flip(0)))
    if change == "rows":
        return replace(data, train=replace(train, inputs=train.inputs + 1e-6))
    if change == "count":
        return replace(data, train=train.take(torch.arange(19)))
    if change == "no val":
        return replace(data, val=None)
    return replace(data, spec=replace(data.spec, class_names=("a", "b", "d")))


@for_each(
    ("change", "name", "sentence"),
    [
        ("order", "data", "the train split has its rows in a different order"),
        ("rows", "data", "the train split has different rows"),
        ("count", "data", "the train split had 20 rows, has 19"),
        ("no val", "data", "the val split was present, is absent"),
        ("classes", "classes", "the classes were a, b, c, are a, b, d"),
    ],
)
def test_other_data_is_told_in_words(change: str, name: str, sentence: str) -> None:
    assert changes(data=changed_data(change)) == {name: sentence}


def test_splits_that_another_version_describes_otherwise_have_changed() -> None:
    data = describe()["data"]
    other = {name: {**split, "method": 2} for name, split in data.items()}
    assert find_changes({"data": data}, {"data": other}) == {"data": "the data has changed"}


def test_of_many_classes_the_first_five_are_told() -> None:
    told = find_changes({"classes": list("abcdefg")}, {"classes": []})
    assert told == {"classes": "the classes were a, b, c, d, e ... (7), are none"}


def test_the_test_split_may_change() -> None:
    assert changes(data=toy_data(test=0)) == {}


def test_another_version_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    before = describe()
    monkeypatch.setattr(version, "VERSION", "9.9")
    monkeypatch.setattr(torch, "__version__", "9.8")
    assert find_changes(before, describe()) == {
        "torch": f"torch was {before['torch']}, is 9.8",
        "netwright": f"netwright was {before['netwright']}, is 9.9",
    }
