"""Which run is gone on with: the folder that is named, or the newest unfinished one of a recipe."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.saved.resume import (
    Origin,
    check_named,
    find_origin,
    find_run,
    is_finished,
    run_of,
)

NAMES = ("mlp", "moons")
SETTINGS: dict[str, Any] = {"hidden": (4,), "epochs": 2, "device": "cpu"}


def recipe(**settings: Any) -> Recipe:
    return prepare("mlp", "moons", **{**SETTINGS, **settings}).recipe


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four runs: finished, cut short, cut short with another rate, cut short."""
    monkeypatch.chdir(tmp_path)
    for settings in ({}, {"max_steps": 3}, {"max_steps": 3, "lr": 0.5}, {"max_steps": 4}):
        nw.fit("mlp", "moons", quiet=True, **{**SETTINGS, **settings})
    return tmp_path / "runs"


def test_auto_takes_the_newest_unfinished_run_of_the_same_recipe(runs: Path) -> None:
    found = find_run("auto", None, recipe(), NAMES)
    assert found == Path("runs/mlp-moons-004")
    origin = find_origin(found, recipe())
    assert origin == Origin(folder=found, checkpoint=found / "checkpoints" / "step-000004")
    assert find_run("auto", None, recipe(lr=0.5), NAMES) == Path("runs/mlp-moons-003")


def test_what_does_not_change_the_way_is_no_other_recipe(runs: Path) -> None:
    for free in ({"max_time": 5.0}, {"keep": 9}, {"patience": 3}, {"workers": 2}):
        found = find_run("auto", None, recipe(**free), NAMES)
        assert found == Path("runs/mlp-moons-004")


def test_a_run_from_before_a_setting_came_is_found_where_it_is_at_its_default(runs: Path) -> None:
    place = runs / "mlp-moons-004" / "config.yaml"
    values = yaml.safe_load(place.read_text())
    del values["data"]["noise"], values["model"]["activation"], values["train"]["kernel"]
    place.write_text(yaml.safe_dump(values))
    assert find_run("auto", None, recipe(), NAMES) == Path("runs/mlp-moons-004")
    assert find_run("auto", None, recipe(noise=0.5), NAMES) is None


def test_where_there_is_nothing_to_go_on_with_a_new_run_begins(runs: Path, tmp_path: Path) -> None:
    assert find_run("never", None, recipe(), NAMES) is None
    assert find_run("auto", None, recipe(lr=0.1), NAMES) is None
    assert find_run("auto", None, recipe(), ("mlp", "xor")) is None
    assert find_run("auto", tmp_path / "new", recipe(), NAMES) is None


def test_a_checkpoint_belongs_to_its_run(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = runs / "mlp-moons-002" / "checkpoints" / "step-000003"
    assert run_of(place) == run_of(runs / "mlp-moons-002") == runs / "mlp-moons-002"
    assert find_origin(place, recipe()) == Origin(folder=runs / "mlp-moons-002", checkpoint=place)
    monkeypatch.chdir(place.parent)
    assert run_of(Path(place.name)) == runs / "mlp-moons-002"
    (place / "state.json").write_text("{}")
    with pytest.raises(DataError, match=r"state\.json is damaged"):
        find_origin(place, recipe())


def test_the_run_of_another_recipe_is_not_begun_again(runs: Path) -> None:
    """Nothing can be gone on from: then the folder must hold the same recipe, or it is lost."""
    folder = runs / "mlp-moons-001"
    sentence = f"{folder} contains a run of another recipe (model.name was mlp, is ridge)"
    other = prepare("ridge", "line").recipe
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}; give another folder$"):
        find_origin(folder, other, starts_over=True)
    for file in (folder / "checkpoints").iterdir():
        shutil.rmtree(file)
    with pytest.raises(ConfigError, match=r"\(train\.lr was not set, is 0\.5\); give another"):
        find_origin(folder, recipe(lr=0.5))
    assert find_origin(folder, recipe()).checkpoint is None


def test_what_came_from_python_is_not_built_again_by_the_command(tmp_path: Path) -> None:
    for model, data, what in (("''", "{name: moons}", "a module"), ("mlp", "{name: ''}", "arrays")):
        (tmp_path / "config.yaml").write_text(f"model: {model}\ndata: {data}\n")
        with pytest.raises(ConfigError, match=f"was trained with {what} of your own: resume it in"):
            check_named(tmp_path)


def test_finished_is_what_has_nothing_left_to_learn(runs: Path) -> None:
    assert [is_finished(runs / f"mlp-moons-00{number}") for number in (1, 2)] == [True, False]
    (runs / "mlp-moons-001" / "results.json").unlink()
    assert not is_finished(runs / "mlp-moons-001")


def test_refusals_in_one_sentence(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("")
    sentence = f"{tmp_path / 'other'} is not a run folder: it has no config.yaml"
    for resume, out in ((tmp_path / "other", None), ("auto", tmp_path / "other")):
        with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
            find_run(resume, out, recipe(), NAMES)
    with pytest.raises(ConfigError, match=r"^the run is resumed in .*: remove `out`$"):
        find_run(runs / "mlp-moons-002", tmp_path / "elsewhere", recipe(), NAMES)
    for nonsense in (None, 3, True):
        with pytest.raises(ConfigError, match=f"or the folder of a run, got {nonsense!r}$"):
            find_run(nonsense, None, recipe(), NAMES)  # type: ignore[arg-type]


def test_an_origin_travels_as_text() -> None:
    for origin in (Origin(folder=Path("a b")), Origin(folder=Path("a"), checkpoint=Path("a/c"))):
        assert Origin.from_text(origin.as_text()) == origin
