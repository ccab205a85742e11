"""Data of the folder: found, and never anything beyond it."""

from pathlib import Path
from typing import Any

import pytest

from netwright.apps.studio.data_choices import (
    built_in,
    check_inside,
    checked_data,
    column_names,
    data_files,
)
from netwright.core.errors import ConfigError, NetwrightError
from netwright.core.files.inside import Folder
from tests.recipes.saved.test_run_list import begun


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / "outside.csv").write_text("secret\n")
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.csv").write_text("x;y\n1;2\n")
    (folder / "deep" / "b.TSV").write_text('\ufeff"u v"\tw\n')
    (folder / ".hidden.csv").write_text("x\n")
    (folder / "link.csv").symlink_to(tmp_path / "outside.csv")
    (folder / "away").symlink_to(tmp_path)
    begun(folder / "run")
    (folder / "run" / "metrics.csv").write_text("x\n")
    return folder


def test_files_are_offered_and_nothing_hidden_linked_or_of_a_run(top: Path) -> None:
    assert data_files(top) == ["a.csv", "deep/", "deep/b.TSV", "run/"]


def test_a_folder_that_cannot_be_opened_is_passed_over(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Folder.folder

    def refused(self: Folder, name: str) -> Folder:
        if name == "deep":
            raise PermissionError(13, "Permission denied")
        return opened(self, name)

    monkeypatch.setattr(Folder, "folder", refused)
    assert data_files(top) == ["a.csv", "run/"]


def test_sets_that_need_a_file_are_not_offered_without_one() -> None:
    sets = built_in()
    assert {"moons", "mnist", "imdb"} <= set(sets)
    assert not {"table", "text", "images", "series"} & set(sets)


def test_columns_are_read_by_their_separator(top: Path) -> None:
    assert column_names(top / "a.csv") == ["x", "y"]
    assert column_names(top / "deep" / "b.TSV") == ["u v", "w"]
    (top / "old.csv").write_bytes(b"x,y\r1,2\r3,4\r")  # lines end as they did on old Macs
    assert column_names(top / "old.csv") == ["x", "y"]
    (top / "excel.csv").write_text("sep=;\na,b,c;y\n1;2\n")
    assert column_names(top / "excel.csv") == ["a,b,c", "y"]
    assert column_names(top / "deep") == column_names(top / "nowhere.csv") == []


STRANGE = [
    *("", ".", "..", "/", "../outside.csv", "/etc/passwd", "deep/../a.csv", "./a.csv", "~"),
    *("a.csv\0", "deep//b.TSV", ".hidden.csv", "nowhere.csv", "table", "deep\\b.TSV", "a.csv/x"),
]


def test_no_name_leads_out_of_the_folder(top: Path) -> None:
    for name in [*STRANGE, "link.csv", "away/outside.csv", str(top / "a.csv")]:
        with pytest.raises(NetwrightError):
            checked_data(top, name)
    assert checked_data(top, "a.csv") == str(top / "a.csv")
    assert checked_data(top, "deep/") == str(top / "deep")
    assert checked_data(top, "moons") == "moons"


def test_no_setting_names_a_file_outside(top: Path) -> None:
    away: list[Any] = ["/etc/passwd", "../x", "~/x", "a,/etc/x", '["/etc/x"]', "away/x", "x=/etc"]
    for value in [*away, {"a": ["/etc"]}, "a\0"]:
        with pytest.raises(ConfigError, match="leads out of the folder"):
            check_inside(top, {"model.embeddings": value})
    check_inside(top, {"data.target": "price / m2", "data": {"drop": ["a, / b"]}})
    check_inside(top, {"a": "0.1", "b": "64,32", "c": "deep/b.TSV", "d": None, "e": ["x", 1]})
