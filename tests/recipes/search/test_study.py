"""A study: what was found, and the recipe that gives it again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from netwright.core.errors import RunError
from netwright.recipes.plan.recipe_file import read_recipe_file
from netwright.recipes.plan.sources import load_configured
from netwright.recipes.search.folder import enter_search_folder
from netwright.recipes.search.plan import SearchPlan
from netwright.recipes.search.study import Study, readable
from netwright.recipes.search.trial_queue import TrialQueue, Tried
from tests.recipes.search.search_plans import plan

pytestmark = pytest.mark.usefixtures("undrawn")


def study_of(folder: Path, values: list[float | None], planned: SearchPlan) -> Study:
    enter_search_folder(folder, planned, "moons")
    with TrialQueue(folder, planned) as queue:
        for value in values:
            taken = queue.take()
            assert taken is not None
            why = {} if value is not None else {"why": "pruned: other trials do better"}
            queue.finish(taken[0], Tried(value=value, notes=why))
    return Study(folder, planned, queue.study, load_configured(planned.recipe))


def test_the_best_is_the_lowest_loss_or_the_highest_accuracy_and_the_first_of_equals(
    tmp_path: Path,
) -> None:
    values = [0.5, 0.25, None, 0.25, 0.75]
    low = study_of(tmp_path / "low", values, plan())
    assert (low.best.number, low.best_value) == (1, 0.25)
    assert low.sentence == "4 complete and 1 pruned trials, best val/loss 0.25 in trial 1"
    assert repr(low) == f"Study({tmp_path / 'low'}: {low.sentence})"
    high = study_of(tmp_path / "high", values, plan(metric="val/accuracy"))
    assert (high.best.number, high.best_value) == (4, 0.75)


def test_files_are_plain_and_best_yaml_is_a_recipe(tmp_path: Path) -> None:
    study = study_of(tmp_path / "s", [0.5, 0.25, None], plan())
    study.write()
    listed = json.loads((study.folder / "trials.json").read_text())["trials"]
    assert [trial["state"] for trial in listed] == ["complete", "complete", "pruned"]
    assert read_recipe_file(study.folder / "best.yaml") == study.best_recipe.to_mapping()
    assert study.best_recipe.train.lr == listed[1]["settings"]["train.lr"]
    assert study.to_json()["best"] == 1
    assert study.command == f"netwright train -c {study.folder}/best.yaml"
    study.plan = replace(plan(), recipe=replace(plan().recipe, data="", data_settings=None))
    assert study.command == "study.fit_best()"  # no command has the arrays


def test_lines_tell_what_came_of_a_trial(tmp_path: Path) -> None:
    study = study_of(tmp_path / "s", [0.5, None], plan())
    study.write()
    assert study.line(0).startswith("2/5  trial 0: val/loss 0.5; best 0.5; train.lr=")
    assert study.line(1).startswith("2/5  trial 1: pruned: other trials do better; best 0.5; ")
    assert [row["searched"] for row in study.best_rows()] == ["log:0.0001..0.1", "0.0..0.6"]
    assert readable({"a": 0.123456, "b": 3, "c": "x"}) == {"a": 0.1235, "b": 3, "c": "x"}


def test_fit_best_trains_the_best_recipe(tmp_path: Path) -> None:
    study = study_of(tmp_path / "s", [0.5], plan())
    run = study.fit_best(out=tmp_path / "run", quiet=True)
    assert run.folder == tmp_path / "run"
    assert run.config["train"]["lr"] == study.best.settings["train.lr"]
    assert run.results["split"] == "test"


def test_without_a_complete_trial_there_is_no_best(tmp_path: Path) -> None:
    study = study_of(tmp_path / "s", [None], plan())
    study.write()
    assert not (study.folder / "best.yaml").exists()
    with pytest.raises(RunError, match=r"/s has no complete trial: pruned: other trials do better"):
        study.best  # noqa: B018 - the access is the test
    assert study.sentence == "0 complete and 1 pruned trials"


def test_it_reads_in_a_terminal_and_in_a_notebook(tmp_path: Path) -> None:
    study = study_of(tmp_path / "s", [0.5, None], plan())
    first, second = study.table_rows()
    assert (first["trial"], first["val/loss"]) == ("0", "0.5")
    assert second["val/loss"] == "pruned: other trials do better"
    assert str(study).splitlines()[0] == study.sentence
    assert str(study).splitlines()[1].startswith("trial 0, val/loss 0.5, train.lr ")
    assert "pruned: other trials do better" in study._repr_html_()
