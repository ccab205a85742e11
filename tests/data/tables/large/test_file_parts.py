"""A table in parts: the rows, lines and refusals of the whole file."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.core.errors import DataError, NetwrightError
from netwright.data.tables.delimited import parse_delimited
from netwright.data.tables.dialect import PLAIN, Dialect
from netwright.data.tables.large import file_parts
from netwright.data.tables.large.file_parts import file_size, table_parts
from netwright.data.tables.number_form import fitting_forms
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.reading import TEXT_ENDINGS, read_table
from tests.data.tables.generated_files import generated_file


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_parts, "PART", 250)


def contents(*tables: RawTable, as_written: Collection[str] = ()) -> Any:
    """The cells, lines and places of tables, one after the other."""
    columns: dict[str, list[str]] = {}
    for table in tables:
        for name in table.columns:
            cells = table.as_written(name) if name in as_written else table.column(name)
            columns.setdefault(name, []).extend(cells)
    lines = [line for table in tables for line in table.lines or ()]
    return columns, lines, [place for table in tables for place in table.positions]


def written(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def rows(count: int) -> str:
    return "".join(f"{row},{row / 7:.4f},{'red' if row % 3 else 'blue'}\n" for row in range(count))


def compared(folder: Path, seeds: range) -> tuple[int, int]:
    """Read generated files in both ways; how many were read, and in how many parts."""
    read = parts = 0
    for seed in seeds:
        content, delimiter, encoding = generated_file(seed)
        path = folder / ("t.tsv" if delimiter == "\t" else "t.csv")
        path.write_bytes(content)
        dialect = Dialect(encoding=encoding)
        try:
            tables = list(table_parts(path, dialect))
        except NetwrightError:
            continue
        if not tables:
            assert not content.strip()
            continue
        ending = TEXT_ENDINGS[path.suffix]
        whole = parse_delimited(path.name, content, delimiter=ending, dialect=dialect)
        # A form of numbers is of the whole; a part without a sign may be put in plain writing.
        signed = [name for name in whole.columns if fitting_forms(whole.as_written(name).counts())]
        parted = contents(*tables, as_written=signed)
        assert parted == contents(whole, as_written=signed), (seed, content)
        read, parts = read + 1, parts + len(tables)
    return read, parts


def test_parts_are_the_whole_on_files_of_many_forms(tmp_path: Path) -> None:
    read, parts = compared(tmp_path, range(100))
    assert read >= 40 and parts > read


@pytest.mark.slow
def test_parts_are_the_whole_on_all_generated_files(tmp_path: Path) -> None:
    read, parts = compared(tmp_path, range(1100))
    assert read >= 440 and parts > read + 40


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_records_with_line_ends_and_odd_quotes_stay_whole(tmp_path: Path, end: str) -> None:
    odd = ['"two\nlines, quoted"', '5" pipe', '"a ""b"""', "", '"x"']
    text = "name,n\n" + "".join(f"{odd[row % 5]},{row}\n" for row in range(200))
    path = tmp_path / "t.csv"
    path.write_bytes(text.replace("\n", end).encode())
    parts = list(table_parts(path, PLAIN))
    assert len(parts) > 5
    assert contents(*parts) == contents(read_table(path))


def test_a_mark_at_the_head_and_blank_lines_before_the_header(tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeff\n\n\tx\ty\n" + "".join(f"r{i}\t{i}\t1\n" for i in range(99)))
    parts = list(table_parts(path.rename(tmp_path / "t.tsv"), PLAIN))
    assert len(parts) > 2
    assert list(parts[-1].columns) == ["x", "y"]
    assert (parts[0].lines or [0])[0] == 4 and (parts[-1].lines or [0])[-1] == 102


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_first_line_that_names_the_delimiter_holds_for_all_parts(
    tmp_path: Path, end: str
) -> None:
    text = "sep=;\n\na,b,c,d;n\n" + "".join(f"x;{row}\n" for row in range(200))
    path = written(tmp_path, text.replace("\n", end))
    parts = list(table_parts(path, PLAIN))
    assert len(parts) > 3 and contents(*parts) == contents(whole := read_table(path))
    assert {note for part in parts for note in part.notes} == set(whole.notes)
    path.write_text(f"{text}x\n")
    with pytest.raises(DataError, match=r"^t\.csv:204: wanted 2 fields"):
        list(table_parts(path, PLAIN))


def test_a_header_of_several_lines_moves_no_row(tmp_path: Path) -> None:
    text = '"name\n(in full)",n\n' + "".join(f"x,{row}\n" for row in range(200))
    parts = list(table_parts(written(tmp_path, text), PLAIN))
    assert contents(*parts)[1] == list(range(3, 203))


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("1,2\n", "wanted 3 fields as in the header, got 2"),
        ('1,"a"b,2\n', "text follows a closing quote"),
        ('1,"open,2\n', 'a quote (") is opened in this row and never closed'),
    ],
)
def test_what_is_wrong_is_refused_by_its_line_in_the_file(
    tmp_path: Path, broken: str, said: str
) -> None:
    path = written(tmp_path, "a,b,c\n" + rows(60) + broken + rows(60))
    with pytest.raises(DataError) as refusal:
        list(table_parts(path, PLAIN))
    assert str(refusal.value).startswith("t.csv:62: ")
    assert said in str(refusal.value)


def test_bytes_of_another_encoding_are_refused_by_their_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b,c\n" + rows(60).encode() + b"1,2,caf\xe9\x81\n")
    with pytest.raises(DataError, match=r"^t\.csv:62: byte 0xe9"):
        list(table_parts(path, PLAIN))
    parts = list(table_parts(path, Dialect(encoding="latin-1")))
    assert parts[-1].column("c")[-1] == "café\x81"


@pytest.mark.parametrize("first_cell", [b"caf\xe9", b"cafe"])
def test_the_whole_file_tells_its_encoding(tmp_path: Path, first_cell: bytes) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b,c\n1,2," + first_cell + b"\n" + rows(60).encode() + b"1,2,\x80\n")
    first, *parts = table_parts(path, PLAIN)
    assert first.notes[0].startswith("the file is read as Windows-1252")
    assert first.column("c")[0] == first_cell.decode("cp1252")
    assert parts[-1].column("c")[-1] == "€"
    assert not any("Windows" in note for part in parts for note in part.notes)


def test_a_file_of_two_encodings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b,c\n1,2,caf\xe9\n" + rows(60).encode() + "1,2,é\n".encode())
    with pytest.raises(DataError, match=r"^t\.csv:2: byte 0xe9"):
        list(table_parts(path, PLAIN))


def test_utf_16_without_a_mark_cannot_be_cut(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(("a,b,c\n" + rows(60)).encode("utf-16-le"))
    with pytest.raises(DataError, match="utf-16-le cannot be read in parts; save it as UTF-8"):
        list(table_parts(path, PLAIN))


def test_utf_16_cannot_be_cut(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(("a,b,c\n" + rows(60)).encode("utf-16"))
    with pytest.raises(DataError, match="UTF-16 cannot be read in parts; save it as UTF-8"):
        list(table_parts(path, PLAIN))


def test_parquet_comes_in_batches(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    numbers = np.arange(300.0)
    numbers[7] = np.nan
    frame = pd.DataFrame({"x": numbers, "k": np.arange(300), "c": ["red", "blue", None] * 100})
    path = tmp_path / "t.parquet"
    frame.to_parquet(path, row_group_size=70)
    parts = list(table_parts(path, PLAIN))
    assert len(parts) > 3
    assert contents(*parts) == contents(read_table(path))
    assert file_size(path) >= 300 * 3 * 8


def test_texts_that_repeat_are_counted_before_they_are_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    pd.DataFrame({"c": ["x" * 100_000] * 2000}).to_parquet(path)
    monkeypatch.setattr(file_parts, "PART", 2**20)
    with pytest.raises(DataError, match="unpacks to far more than its size"):
        list(table_parts(path, PLAIN))


def test_only_files_that_can_be_cut_have_a_size(tmp_path: Path) -> None:
    assert file_size(written(tmp_path, "a,b\n1,2\n")) == 8
    assert file_size(written(tmp_path, "a,b\n", "t.csv.gz")) == 0
    assert file_size(tmp_path / "nowhere.csv") == 0
