"""The folder of a search: the next free one, or the one that holds the same search."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.recipes.search.folder import OURS, enter_search_folder
from netwright.recipes.search.plan import read_plan
from netwright.recipes.search.trial_queue import TrialQueue
from tests.odd_files import is_untouched, outside_of, plant, refusal
from tests.recipes.search.search_plans import plan


def test_without_a_name_it_is_the_next_free_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = enter_search_folder(None, plan(), "My Data.csv")
    assert first == Path("searches/mlp-my-data-csv-001")
    assert enter_search_folder(None, plan(), "My Data.csv").name == "mlp-my-data-csv-002"


def test_the_same_search_is_joined_and_may_ask_for_more_trials(tmp_path: Path) -> None:
    folder = enter_search_folder(tmp_path / "a/b", plan(), "moons")
    assert enter_search_folder(folder, replace(plan(), trials=9), "moons") == folder
    assert read_plan(folder).trials == 9
    with pytest.raises(ConfigError, match=r"contains another search: its seed differs$"):
        enter_search_folder(folder, plan(seed=4), "moons")


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    for place in (tmp_path, tmp_path / "letter.txt"):
        with pytest.raises(
            ConfigError, match="already exists and contains no search; give another"
        ):
            enter_search_folder(place, plan(), "moons")
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]
    with pytest.raises(
        ConfigError,
        match=r"^no folder can be created at .*/letter\.txt/x: Not a "
        r"dir",
    ):
        enter_search_folder(tmp_path / "letter.txt/x", plan(), "moons")


def test_without_locks_a_search_that_may_be_at_work_is_not_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = enter_search_folder(tmp_path / "s", plan(), "moons")
    with TrialQueue(folder, plan()) as queue:
        enter_search_folder(folder, plan(), "moons")
        monkeypatch.setattr("sys.platform", "win32")
        with pytest.raises(ConfigError) as refused:
            enter_search_folder(folder, plan(), "moons")
        monkeypatch.undo()
    assert str(refused.value) == (
        f"{folder} cannot be joined: on Windows only one process can search at a time; if none is "
        f"running, delete {folder}/locks/{queue.process}"
    )
    monkeypatch.setattr("sys.platform", "win32")
    enter_search_folder(folder, plan(), "moons")  # it has ended, and can be gone on with


@pytest.mark.parametrize("name", OURS)
def test_a_search_is_not_joined_where_it_would_write_through_a_link(
    tmp_path: Path, name: str
) -> None:
    folder = enter_search_folder(tmp_path / "search", plan(), "moons")
    outside = outside_of(folder)
    place = folder / name
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    plant(place, "link to a folder" if name == "locks" else "dangling link", outside)
    with pytest.raises(DataError, match=refusal(place, "link")):
        enter_search_folder(folder, plan(), "moons")
    assert is_untouched(outside)


def test_a_search_does_not_begin_where_the_folder_of_locks_is_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "search"
    folder.mkdir()
    outside = outside_of(folder)
    (folder / "locks").symlink_to(outside)
    with pytest.raises(DataError, match=refusal(folder / "locks", "link")):
        enter_search_folder(folder, plan(), "moons")
    assert is_untouched(outside)
