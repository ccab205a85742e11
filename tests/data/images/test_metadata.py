"""The table beside images: read from CSV and from lines of JSON, refused by its line."""

import re
from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.data.images.metadata import find_metadata, read_metadata, rows_of


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_both_kinds_hold_the_same_rows(tmp_path: Path) -> None:
    table = written(tmp_path, "metadata.csv", "file_name,kind\na/1.png,cat\n2.png,dog\n")
    lines = '{"file_name": "a/1.png", "kind": "cat"}\n\n{"file_name": "2.png", "kind": "dog"}\n'
    objects = written(tmp_path, "metadata.jsonl", lines)
    assert read_metadata(table).columns == read_metadata(objects).columns


def test_rows_follow_files(tmp_path: Path) -> None:
    path = written(tmp_path, "metadata.csv", "file_name,kind\n./a/1.png,cat\n2.png,dog\n")
    files = [tmp_path / "2.png", tmp_path / "a/1.png"]
    assert rows_of(read_metadata(path), tmp_path, files).column("kind") == ["dog", "cat"]
    with pytest.raises(DataError, match=r"^metadata.csv has no row for .*/3.png$"):
        rows_of(read_metadata(path), tmp_path, [tmp_path / "3.png"])


def test_a_folder_has_one_table_or_none(tmp_path: Path) -> None:
    assert find_metadata(tmp_path) is None
    path = written(tmp_path, "metadata.jsonl", "")
    assert find_metadata(tmp_path) == path
    written(tmp_path, "metadata.csv", "")
    with pytest.raises(
        DataError, match=r"holds metadata.csv and metadata.jsonl, wanted one of them$"
    ):
        find_metadata(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        (
            "metadata.csv",
            "file,kind\n1.png,cat\n",
            "metadata.csv has no column 'file_name'; did you mean 'file'?",
        ),
        (
            "metadata.csv",
            "file_name,kind\n,cat\n",
            "metadata.csv:2: column 'file_name': the name is missing",
        ),
        (
            "metadata.csv",
            "file_name,kind\na/../1.png,cat\na/../../2.png,cat\n",
            "metadata.csv:3: column 'file_name': the file must lie below the folder, "
            "got a/../../2.png",
        ),
        (
            "metadata.csv",
            "file_name,kind\n/etc/1.png,cat\n",
            "metadata.csv:2: column 'file_name': the file must lie below the folder, "
            "got /etc/1.png",
        ),
        (
            "metadata.csv",
            "file_name,kind\n1.png,cat\n1.png,dog\n",
            "metadata.csv:3: column 'file_name': 1.png is already in line 2",
        ),
        ("metadata.jsonl", "[1]\n", "metadata.jsonl:1: wanted an object, got list"),
        ("metadata.jsonl", "", "metadata.jsonl: there is no row"),
        (
            "metadata.jsonl",
            '{"file_name": "1.png"}\n{\n',
            "metadata.jsonl:2: the line is not JSON: Expecting property name enclosed in double "
            "quotes: line 1 column 2 (char 1)",
        ),
    ],
)
def test_refuses_in_one_sentence(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        read_metadata(written(tmp_path, name, text))


def test_lines_in_another_encoding_are_refused_and_a_mark_at_their_head_is_skipped(
    tmp_path: Path,
) -> None:
    # Letters that cannot be read would make one class of two.
    lines = '{"file_name": "1.png", "kind": "pâte"}\n{"file_name": "2.png", "kind": "pâté"}\n'
    path = tmp_path / "metadata.jsonl"
    path.write_text(lines, encoding="latin-1")
    sentence = "metadata.jsonl:1: byte 0xe2 at position 33 is not UTF-8; save the file as UTF-8"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        read_metadata(path)
    path.write_text(lines, encoding="utf-8-sig")
    assert read_metadata(path).column("kind") == ["pâte", "pâté"]


def test_a_table_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "metadata.jsonl").mkdir()
    with pytest.raises(DataError, match=r"metadata\.jsonl"):
        read_metadata(tmp_path / "metadata.jsonl")
