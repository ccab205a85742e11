"""The plan of a search over models: the same when it is read again, and no other search's."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from netwright.core.errors import ConfigError
from netwright.recipes.fitting.fit import resolve
from netwright.recipes.model_search.race_plan import (
    FILE,
    RacePlan,
    check_same_race,
    read_race_plan,
    write_race_plan,
)

PLAN = RacePlan(
    recipe=resolve("mlp", "iris", seed=3)[0],
    models=("softmax", "mlp"),
    folds=4,
    learned=4,
    max_time=90.0,
    data={"train": {"inputs": "abc"}},
)


def test_is_the_same_when_it_is_read_again(tmp_path: Path) -> None:
    write_race_plan(tmp_path, PLAN)
    assert read_race_plan(tmp_path) == PLAN
    check_same_race(tmp_path, PLAN)
    check_same_race(tmp_path, replace(PLAN, max_time=None))  # more time makes no other search


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("folds", 5),
        ("learned", 1),
        ("models", ("mlp",)),
        ("data", {}),
        ("recipe", resolve("mlp", "iris")[0]),
    ],
)
def test_another_search_is_refused(tmp_path: Path, name: str, value: Any) -> None:
    write_race_plan(tmp_path, PLAN)
    with pytest.raises(ConfigError, match=f"contains another search: its {name} differs$"):
        check_same_race(tmp_path, replace(PLAN, **{name: value}))


def test_what_a_command_cannot_name_is_called_from_python(tmp_path: Path) -> None:
    from_arrays = replace(PLAN, recipe=resolve("mlp", ([[0.0], [1.0]] * 9, [0, 1] * 9))[0])
    assert (PLAN.is_typed, from_arrays.is_typed) == (True, False)
    write_race_plan(tmp_path, from_arrays)
    with pytest.raises(ConfigError, match=r"call nw\.search_models again with them"):
        read_race_plan(tmp_path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": 9}, "is not a search of format 1"),
        ({"models": "mlp"}, "must hold a list of models, got 'mlp'"),
        ({"models": [["mlp"]]}, "must hold a list of models"),
        ({"recipe": None}, "must hold a recipe, got None"),
    ],
)
def test_strange_plans_are_refused(tmp_path: Path, change: dict[str, object], says: str) -> None:
    (tmp_path / FILE).write_text(yaml.safe_dump({**PLAN.to_mapping(), **change}))
    with pytest.raises(ConfigError, match=says):
        read_race_plan(tmp_path)
    with pytest.raises(ConfigError, match=r"contains no search over models: it has no race\.yaml"):
        read_race_plan(tmp_path / "elsewhere")
