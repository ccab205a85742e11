"""`netwright sample-data`: what it wrote, and what it left alone."""

import json
from pathlib import Path

from tests.apps.cli.conftest import Type

NAMES = ("flowers.csv", "new.csv", "pictures", "notes.txt", "reviews.tsv", "visits.csv")


def test_files_go_here_or_into_a_folder(type_in: Type, tmp_path: Path) -> None:
    assert type_in("sample-data").out == "".join(f"{name}\n" for name in NAMES)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)
    again = type_in("sample-data")
    assert again.out == "nothing was written\n"
    assert again.err == f"note: left unchanged: {', '.join(NAMES)}\n"
    elsewhere = json.loads(type_in("sample-data", "a/b", "--json").out)
    assert elsewhere[0] == "a/b/flowers.csv"
    assert Path("a/b/pictures/square/20.png").is_file()


def test_what_is_no_folder_is_refused(type_in: Type, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    answer = type_in("sample-data", "file")
    assert (answer.code, answer.err) == (
        2,
        "error: file is a file, wanted a folder for the samples\n",
    )
    assert type_in("sample-data", "file/inside").code == 2
