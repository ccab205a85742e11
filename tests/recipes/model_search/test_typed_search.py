"""A search over models by a recipe, or by the folder of one that was broken off."""

from pathlib import Path

import pytest

from netwright.core.errors import ConfigError
from netwright.recipes.model_search.entrant import Entrant
from netwright.recipes.model_search.race import Race
from netwright.recipes.model_search.search_models import ModelSearchRequest
from netwright.recipes.model_search.typed_search import resume_model_search, search_recipe
from netwright.recipes.plan.recipe import parse_recipe

ASKED = ModelSearchRequest(models=("ridge", "decision-tree"), folds=2, max_time=900.0)
FOLDER = Path("searches/models-diabetes-001")


def test_a_search_goes_on_with_what_it_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fit = Race._fit
    limits: list[tuple[str, float | None]] = []

    def killed(race: Race, entrant: Entrant, number: int) -> None:
        if len(limits) == 3:
            limits.clear()
            raise SystemExit(143)
        limits.append((entrant.name, race.max_time))
        fit(race, entrant, number)

    monkeypatch.setattr(Race, "_fit", killed)
    recipe = parse_recipe({"model": {"name": "mlp"}, "data": {"name": "diabetes"}})
    for _ in range(2):
        with pytest.raises(SystemExit):
            search_recipe(recipe, ASKED, quiet=True)
    found = resume_model_search(FOLDER, quiet=True)
    assert limits == [("decision-tree", 900.0)]
    assert {"ridge", "decision-tree"} <= {one.name for one in found.standings}
    again = resume_model_search(FOLDER.with_name("models-diabetes-002"), max_time=60, quiet=True)
    assert limits[1:] == [("decision-tree", 60.0)]
    assert [one.loss for one in again.standings] == [one.loss for one in found.standings]


def test_what_is_no_table_is_refused() -> None:
    recipe = parse_recipe({"model": {"name": "mlp"}, "data": {"name": "mnist"}})
    with pytest.raises(ConfigError, match="is for tables, not for mnist"):
        search_recipe(recipe, ASKED)
