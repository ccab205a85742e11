"""What a search is, written down and read again."""

from dataclasses import replace
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError
from netwright.recipes.plan.recipe_file import to_yaml
from netwright.recipes.search.plan import (
    FILE,
    check_same_search,
    read_plan,
    read_plan_file,
    write_plan,
)
from tests.recipes.search.search_plans import plan


def test_a_plan_is_the_same_after_it_was_written(tmp_path: Path) -> None:
    planned = plan(["train.lr=log:1e-4..1e-1", "model.hidden=8|8,4"])
    write_plan(tmp_path, planned)
    assert read_plan(tmp_path) == planned
    check_same_search(tmp_path, replace(planned, trials=50))


def test_another_search_is_told_by_what_differs(tmp_path: Path) -> None:
    write_plan(tmp_path, plan())
    for other, name in (
        (plan(seed=1), "seed"),
        (plan(sampler="tpe"), "sampler"),
        (plan(["train.lr=0.1..0.2"]), "space"),
        (plan(data={"train": {"rows": 43}}), "data"),
        (replace(plan(), recipe=replace(plan().recipe, seed=3)), "recipe"),
    ):
        with pytest.raises(ConfigError) as refused:
            check_same_search(tmp_path, other)
        assert str(refused.value) == (f"{tmp_path} contains another search: its {name} differs")


def test_direction_is_that_of_the_metric() -> None:
    assert plan().is_lower_better
    assert not plan(metric="val/accuracy").is_lower_better


def test_what_cannot_be_planned_is_refused() -> None:
    for settings, sentence in (
        ({"sampler": "tp"}, "sampler must be one of tpe, random, grid, got 'tp'"),
        ({"pruner": "all"}, "pruner must be one of median, hyperband, none, got 'all'"),
        (
            {"storage": "x"},
            "storage must be journal, sqlite or an address like postgresql://USER@HOST/DATABASE, "
            "got 'x'",
        ),
        ({"trials": 0}, "trials must be a positive integer, got 0"),
        ({"seed": -1}, "seed must be a non-negative integer, got -1"),
        (
            {"sampler": "grid"},
            "a grid needs choices or integers, train.lr has the range log:0.0001..0.1",
        ),
    ):
        with pytest.raises(ConfigError) as refused:
            plan(**settings)
        assert str(refused.value) == sentence


def test_folders_without_a_search_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"contains no search: it has no search\.yaml$"):
        read_plan(tmp_path)
    (tmp_path / FILE).write_text("format: 2\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"search\.yaml is not a search of format 1$"):
        read_plan_file(tmp_path)
    from_arrays = replace(plan(), recipe=replace(plan().recipe, data="", data_settings=None))
    write_plan(tmp_path, from_arrays)
    with pytest.raises(
        ConfigError, match=r"is a search on objects passed from Python: call nw\.search"
    ):
        read_plan(tmp_path)


@pytest.mark.parametrize("recipe", [None, "mlp", {}, {"model": "mlp"}])
def test_a_plan_whose_recipe_is_none_is_refused(tmp_path: Path, recipe: object) -> None:
    values = {**plan().to_mapping(), "recipe": recipe}
    (tmp_path / "search.yaml").write_text(to_yaml(values))
    with pytest.raises(ConfigError, match=r"search\.yaml must hold a recipe with a model, got"):
        read_plan(tmp_path)
