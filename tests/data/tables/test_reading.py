"""From whatever a user has to a table: by type, by ending, and what is no table."""

import gzip
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from netwright.core.errors import DataError
from netwright.data.files import file_content
from netwright.data.tables import reading
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.reading import is_table, read_table
from tests.repetition import for_each

COLUMNS = {"a": ["1", "2"], "b": ["x", ""]}
TEXT = b"a,b\n1,x\n2,\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", TEXT),
        ("t.CSV", TEXT),
        ("t.txt", TEXT),
        ("t.csv.gz", gzip.compress(TEXT, mtime=0)),
        ("v1.2.data", TEXT),
        ("t.tsv", TEXT.replace(b",", b"\t")),
        ("t.tsv.gz", gzip.compress(TEXT.replace(b",", b"\t"), mtime=0)),
    ],
)
def test_files_by_their_ending(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for source in (path, str(path)):
        table = read_table(source)
        assert (table.name, table.columns, table.lines) == (name, COLUMNS, [2, 3])


def test_parquet_by_its_ending(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1, 2], "b": ["x", None]}).to_parquet(path)
    assert read_table(path).columns == COLUMNS


@for_each(
    "source",
    [
        pd.DataFrame({"a": [1, 2], "b": ["x", None]}),
        [{"a": 1, "b": "x"}, {"a": 2, "b": None}],
        ({"a": "1", "b": "x"}, {"a": 2.0, "b": "NA"}),
        RawTable(name="t", columns=COLUMNS, positions=range(2)),
    ],
)
def test_other_sources_give_the_same_columns(source: Any) -> None:
    assert read_table(source).columns == COLUMNS


def test_one_row_as_a_dict() -> None:
    assert read_table({"a": 1, "b": None}).columns == {"a": ["1"], "b": [""]}


def test_missing_file_is_refused_with_the_nearest_sibling(tmp_path: Path) -> None:
    (tmp_path / "Default.csv").write_bytes(TEXT)
    path = tmp_path / "Defualt.csv"
    with pytest.raises(DataError) as refusal:
        read_table(path)
    assert str(refusal.value) == f"{path}: there is no such file; did you mean 'Default.csv'?"
    nowhere = tmp_path / "no" / "t.csv"
    with pytest.raises(DataError) as refusal:
        read_table(nowhere)
    assert str(refusal.value) == f"{nowhere}: there is no such file"


def test_a_name_too_long_for_a_file_is_that_of_no_file() -> None:
    path = "x" * 300 + ".csv"
    with pytest.raises(DataError, match=f"^{path}: there is no such file$"):
        read_table(path)


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refusal:
        read_table(tmp_path)
    wanted = "is a folder, wanted a table file (.csv, .tsv, .parquet)"
    assert str(refusal.value) == f"{tmp_path} {wanted}"


@pytest.mark.parametrize(
    ("name", "kind", "hint"),
    [
        ("t.xlsx", "a .xlsx file", "; save it as CSV"),
        ("t", "a file without an ending", ""),
        ("t.json.gz", "a .json file", ""),
    ],
)
def test_other_endings_are_refused(name: str, kind: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(DataError) as refusal:
        read_table(tmp_path / name)
    wanted = "wanted .csv, .tsv, .csv.gz, .tsv.gz or .parquet"
    assert str(refusal.value) == f"{name}: cannot read {kind}, {wanted}{hint}"


@pytest.mark.parametrize(
    "content", [gzip.compress(TEXT, mtime=0)[:-6], b"no gzip", gzip.compress(TEXT, mtime=0)[:12]]
)
def test_damaged_gzip_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(content)
    with pytest.raises(DataError) as refusal:
        read_table(tmp_path / "t.csv.gz")
    assert str(refusal.value) == "t.csv.gz: the gzip file is truncated or damaged"


def test_unreadable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    path = tmp_path / "t.csv"
    path.write_bytes(TEXT)
    monkeypatch.setattr(reading, "read_content", denied)
    with pytest.raises(DataError) as refusal:
        read_table(path)
    assert str(refusal.value) == f"{path}: cannot be read: Permission denied"


def test_a_table_that_is_a_device_or_a_pipe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "device.csv").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.csv")
    os.mkfifo(tmp_path / "pipe.parquet")
    for name, kind in (("device.csv", "device"), ("pipe.csv", "pipe or socket")):
        with pytest.raises(DataError, match=f"{name} is a {kind}, wanted a regular file$"):
            read_table(tmp_path / name)
    with pytest.raises(DataError, match="is a pipe or socket, wanted a regular file"):
        read_table(tmp_path / "pipe.parquet")


def test_a_link_to_a_table_is_followed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(TEXT)
    (tmp_path / "link.csv").symlink_to("t.csv")
    assert read_table(tmp_path / "link.csv").columns == read_table(tmp_path / "t.csv").columns


def test_a_table_that_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_content, "FREE", 2**20)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 2**19))
    with pytest.raises(DataError, match="raise NETWRIGHT_MAX_UNPACK_RATIO, or unpack it yourself"):
        read_table(tmp_path / "t.csv.gz")


def test_a_table_is_told_from_columns_of_values() -> None:
    frame = pd.DataFrame(COLUMNS)
    for source in ("t.csv", Path("t.csv"), frame, read_table(frame), {"a": 1}, [{"a": 1}]):
        assert is_table(source)
    for column in (frame["a"], frame["a"].to_numpy(), ["x", "y"], (1, 2), []):
        assert not is_table(column)
