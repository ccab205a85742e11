"""How a space is written, what it refuses, and what it does to a recipe."""

from typing import Any

import pytest
from torch import nn

from netwright.core.errors import ConfigError, NetwrightError
from netwright.models.catalog import MODELS
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.fitting.fit import resolve
from netwright.recipes.plan.recipe import Recipe, has_own_rule, parse_recipe
from netwright.recipes.search.space import (
    LIKE,
    Choices,
    Range,
    apply,
    cell_of,
    count_cells,
    read_space,
    usual_space,
)
from tests.repetition import for_each


def recipe(model: str = "mlp", **train: Any) -> Recipe:
    return parse_recipe({"model": model, "data": "moons", "train": train})


def test_ranges_and_choices_are_read_as_they_are_written() -> None:
    space = read_space(
        [
            "train.lr=log:1e-4..1e-1",
            "model.dropout=0..0.6",
            "model.hidden=64|128,64",
            "train.batch-size = 8..64",
            "train.optimizer_options.momentum=0.5..0.9",
        ],
        recipe(optimizer="sgd"),
    )
    assert space == {
        "train.lr": Range(low=1e-4, high=0.1, is_log=True, is_whole=False),
        "model.dropout": Range(low=0.0, high=0.6, is_log=False, is_whole=False),
        "model.hidden": Choices(values=("64", "128,64")),
        "train.batch_size": Range(low=8.0, high=64.0, is_log=False, is_whole=True),
        "train.optimizer_options.momentum": Range(low=0.5, high=0.9, is_log=False, is_whole=False),
    }
    assert [values.text for values in space.values()] == [
        "log:0.0001..0.1",
        "0.0..0.6",
        "64|128,64",
        "8..64",
        "0.5..0.9",
    ]


def test_a_range_is_whole_where_the_setting_is_a_whole_number() -> None:
    space = read_space({"model.hidden": "log:2..64", "model.dropout": "0..0.5"}, recipe())
    assert [values.options() is not None for values in space.values()] == [True, False]
    deeper = read_space({"train.optimizer_options.x": "1..3"}, recipe())
    assert deeper["train.optimizer_options.x"].options() == range(1, 4)


def test_python_values_are_choices() -> None:
    space = read_space(
        {"model.hidden": [(64,), (128, 64)], "model.batch_norm": [True, False]}, recipe()
    )
    assert space == {
        "model.hidden": Choices(values=("64", "128,64")),
        "model.batch_norm": Choices(values=("true", "false")),
    }


def test_nothing_and_an_empty_list_are_choices() -> None:
    space = read_space(
        {
            "train.clip_norm": [None, 1.0],
            "model.hidden": [(), (4,)],
            "train.average": ["none", "equal"],
            "train.optimizer_options.x": [None, 2],
        },
        recipe(),
    )
    assert [values.text for values in space.values()] == [
        "none|1.0",
        "none|4",
        "none|equal",
        "none|2",
    ]
    tried = apply(recipe(clip_norm=3.0, average="equal"), dict.fromkeys(space, "none"))
    assert tried.train.clip_norm is None
    assert tried.train.average == "none"  # the name of one of its kinds
    assert tried.train.optimizer_options == {"x": None}
    assert tried.to_mapping()["model"]["hidden"] == []
    assert read_space(["train.clip_norm=none|1.0"], recipe())["train.clip_norm"].text == "none|1.0"


def test_one_text_is_one_entry() -> None:
    written = "train.lr=log:1e-4..1e-1"
    assert read_space(written, recipe()) == read_space([written], recipe())


def test_cells_are_counted_and_numbered_without_being_built() -> None:
    space = read_space(["model.hidden=1..3", "train.lr=0.1|0.2"], recipe())
    assert count_cells(space) == 6
    cells = [tuple(cell_of(space, number).values()) for number in range(6)]
    assert cells == [(width, lr) for lr in ("0.1", "0.2") for width in (1, 2, 3)]
    vast = read_space(["model.hidden=1..1000000000", "train.epochs=1..1000000000"], recipe())
    assert count_cells(vast) == 10**18
    assert cell_of(vast, 10**18 - 1) == {"model.hidden": 10**9, "train.epochs": 10**9}
    assert count_cells(read_space(["model.dropout=0..0.5"], recipe())) is None


def test_a_space_survives_being_written_down() -> None:
    space = read_space(["train.lr=log:1e-4..1e-1", "model.hidden=64|128,64"], recipe())
    assert read_space({name: values.text for name, values in space.items()}, recipe()) == space


def test_settings_go_into_the_recipe_and_nothing_else_changes() -> None:
    base = recipe(optimizer="sgd", optimizer_options={"nesterov": False})
    tried = apply(
        base,
        {"model.hidden": "32,16", "train.lr": 0.01, "train.optimizer_options.momentum": "0.5"},
    )
    before, after = base.to_mapping(), tried.to_mapping()
    assert after["model"] == {**before["model"], "hidden": [32, 16]}
    options = {"nesterov": False, "momentum": 0.5}
    assert after["train"] == {**before["train"], "lr": 0.01, "optimizer_options": options}
    assert before == base.to_mapping()
    own, _, _ = resolve(nn.Linear(2, 2), "moons")
    assert apply(own, {"train.lr": 0.5}).train.lr == 0.5


@for_each(
    ("written", "sentence"),
    [
        (
            "train.lr",
            "a search space is written like train.lr=log:1e-4..1e-1 or model.hidden=64|128,64, "
            "got 'train.lr'",
        ),
        (
            "lr=0..1",
            "a search space is written like train.lr=log:1e-4..1e-1 or model.hidden=64|128,64, "
            "got 'lr'",
        ),
        ("model.droput=0..0.5", "unknown setting 'model.droput'; did you mean 'model.dropout'?"),
        (
            "data.noise=0..1",
            "a search space has model. and train. settings: 'data.noise' would change the rows",
        ),
        ("train.lr=0.1..0.001", "the range of train.lr must be increasing, got '0.1..0.001'"),
        ("train.lr=0.1..0.1", "the range of train.lr must be increasing, got '0.1..0.1'"),
        (
            "train.weight_decay=log:0..0.1",
            "a log range must lie above 0, got 'log:0..0.1' for train.weight_decay",
        ),
        (
            "train.batch_size=1.5..4",
            "train.batch_size is an integer, got the range '1.5..4'",
        ),
        ("model.dropout=0..1", "model.dropout must be less than 1.0, got 1.0"),
        ("model.hidden=64|-1", "model.hidden[0] must be greater than 0, got '-1'"),
        (
            "train.optimizer=adm|sgd",
            "unknown optimizer 'adm'; did you mean 'adam'?",
        ),
        (
            "model.hidden=64",
            "model.hidden needs a range like 0..0.6, or at least two choices, got '64'",
        ),
        (
            "model.hidden=64|",
            "model.hidden needs a range like 0..0.6, or at least two choices, got '64|'",
        ),
        ("model.hidden=64|64", "a choice of model.hidden appears twice, got '64|64'"),
    ],
)
def test_what_cannot_be_searched_is_refused(written: str, sentence: str) -> None:
    with pytest.raises(NetwrightError) as refused:
        read_space([written], recipe())
    assert str(refused.value) == sentence


def test_more_refusals() -> None:
    with pytest.raises(ConfigError, match=r"^'train.lr' appears twice in the search space$"):
        read_space(["train.lr=0.1..0.2", "train.lr=0.1..0.3"], recipe())
    with pytest.raises(ConfigError, match=r"^model.dropout takes a range like '0..0.6' or a list"):
        read_space({"model.dropout": 0.5}, recipe())
    choices: list[tuple[Any, str]] = [(5, "5"), ({3: [1, 2]}, "3"), ([7], "7"), ({4}, "{4}")]
    for written, got in choices:
        with pytest.raises(ConfigError) as refused:
            read_space(written, recipe())
        assert str(refused.value) == f"a search space is written like {LIKE}, got {got}"
    with pytest.raises(ConfigError, match=r"^train.optimizer_options takes a range like '0..0.6' "):
        read_space({"train.optimizer_options": [{"eps": 1e-8}, {"eps": 1e-6}]}, recipe())
    with pytest.raises(
        ConfigError, match=r"^ridge has its own learning rule: its search space has only "
    ):
        read_space(["train.lr=0.1..0.2"], recipe("ridge"))


def test_usual_space_is_of_settings_that_the_model_has() -> None:
    assert list(usual_space(recipe(), 280)) == [
        "train.lr",
        "train.weight_decay",
        "model.dropout",
        "model.hidden",
        "train.batch_size",
    ]
    assert list(usual_space(recipe("logistic"), 20)) == ["train.lr", "train.weight_decay"]
    assert usual_space(recipe("logistic"), 70)["train.batch_size"].text == "16|32"
    with pytest.raises(ConfigError) as refused:
        usual_space(recipe("boosting"), 280)
    assert str(refused.value) == (
        "an ensemble has no default search space: give one, such as model.members=5|20"
    )
    with pytest.raises(
        ConfigError,
        match=r"^there is no default search space for ridge; give "
        r"one, of its ",
    ):
        usual_space(recipe("ridge"), 280)
    own, _, _ = resolve(nn.Linear(2, 2), "moons")
    with pytest.raises(
        ConfigError, match=r"default search space for a module of your own; give one$"
    ):
        usual_space(own, 280)


@pytest.mark.slow
def test_every_model_that_learns_by_gradients_has_a_usual_space() -> None:
    for model in MODELS:
        if not has_own_rule(model) and not issubclass(MODELS.load(model), Ensemble):
            assert "train.lr" in usual_space(recipe(model), 280), model


def test_one_width_of_all_layers_is_searched_around_its_default() -> None:
    assert usual_space(recipe("lstm"), 280)["model.hidden"].text == "64|128|256"
    assert "model.hidden" not in usual_space(recipe("t5"), 280)  # four times the width


def test_the_usual_space_leaves_alone_what_was_set_and_what_the_optimizer_has_not() -> None:
    chosen = {"lr": 0.01, "weight_decay": 0.1, "batch_size": 7}
    given = parse_recipe(
        {"model": {"name": "mlp", "hidden": [9]}, "data": "moons", "train": chosen}
    )
    assert list(usual_space(given, 280)) == ["model.dropout"]
    newton = usual_space(recipe("logistic", optimizer="newton"), 280)
    assert list(newton) == ["train.lr"]  # it takes all rows at once, and has no weight_decay
