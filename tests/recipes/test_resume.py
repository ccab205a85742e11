"""Which run is gone on with: the folder that is named, or the newest unfinished one of a recipe."""

import re
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.recipes.fit import prepare
from netwright.recipes.recipe import Recipe
from netwright.recipes.resume import Origin, find_origin, is_finished, origin_at, run_of

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
    found = find_origin("auto", None, recipe(), NAMES)
    assert found is not None
    assert (found.folder.name, found.checkpoint) == (
        "mlp-moons-004",
        Path("runs/mlp-moons-004/checkpoints/step-000004"),
    )
    other = find_origin("auto", None, recipe(lr=0.5), NAMES)
    assert other is not None
    assert other.folder.name == "mlp-moons-003"


def test_what_does_not_change_the_way_is_no_other_recipe(runs: Path) -> None:
    for free in ({"max_time": 5.0}, {"keep": 9}, {"patience": 3}, {"workers": 2}):
        found = find_origin("auto", None, recipe(**free), NAMES)
        assert found is not None
        assert found.folder.name == "mlp-moons-004"


def test_where_there_is_nothing_to_go_on_with_a_new_run_begins(runs: Path, tmp_path: Path) -> None:
    assert find_origin("never", None, recipe(), NAMES) is None
    assert find_origin("auto", None, recipe(lr=0.1), NAMES) is None
    assert find_origin("auto", None, recipe(), ("mlp", "xor")) is None
    assert find_origin("auto", tmp_path / "new", recipe(), NAMES) is None


def test_a_checkpoint_belongs_to_its_run(runs: Path) -> None:
    place = runs / "mlp-moons-002" / "checkpoints" / "step-000003"
    assert run_of(place) == run_of(runs / "mlp-moons-002") == runs / "mlp-moons-002"
    assert origin_at(place) == Origin(folder=runs / "mlp-moons-002", checkpoint=place)
    (place / "state.json").write_text("{}")
    with pytest.raises(DataError, match=r"state\.json is damaged"):
        origin_at(place)


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
            find_origin(resume, out, recipe(), NAMES)
    with pytest.raises(ConfigError, match=r"^the run goes on in .*: leave `out` away$"):
        find_origin(runs / "mlp-moons-002", tmp_path / "elsewhere", recipe(), NAMES)


def test_an_origin_travels_as_text() -> None:
    for origin in (Origin(folder=Path("a b")), Origin(folder=Path("a"), checkpoint=Path("a/c"))):
        assert Origin.from_text(origin.as_text()) == origin
