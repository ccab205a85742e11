"""Reading by columns: the same table, notes and refusals as reading by records."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netwright.core.errors import NetwrightError
from netwright.data.tables import arrow_csv, delimited, regular_csv
from netwright.data.tables.cells import numbers_of, one_number_form
from netwright.data.tables.delimited import parse_delimited, read_carefully
from netwright.data.tables.dialect import Dialect
from netwright.data.tables.raw_table import RawTable
from netwright.data.tables.reading import read_table
from netwright.data.tables.regular_csv import find_marks, may_have_padded, read_regular
from netwright.data.tables.table import TableConfig
from netwright.data.tables.table_file import load_table
from tests.data.tables.generated_files import generated_file
from tests.repetition import for_each

pytest.importorskip("pyarrow")

SEEDS = 1000


def result(content: bytes, delimiter: str, dialect: Dialect) -> Any:
    """All that is read of a file, or the refusal."""
    try:
        table = parse_delimited("t.csv", content, delimiter=delimiter, dialect=dialect)
    except NetwrightError as error:
        return type(error), str(error)
    columns = {}
    for name in table.columns:
        cells = table.column(name)
        numbers = None if cells.numbers is None else cells.numbers.tobytes()
        codes, texts = cells.coded
        columns[name] = (
            *(list(cells), numbers, cells.is_missing.tolist(), cells.counts(), cells.has_padded),
            formed_numbers(table, name),
        )
        assert [texts[code] for code in codes] == list(cells)
    return columns, list(table.lines or ()), list(table.positions), table.notes


def formed_numbers(table: RawTable, name: str) -> Any:
    """How the numbers of a column are written and which they are, or why they cannot be read."""
    try:
        form = one_number_form(table, name, range(len(table)))
        return form, form and numbers_of(table, name, form).tobytes()
    except NetwrightError as error:
        return str(error)


def both_ways(monkeypatch: pytest.MonkeyPatch, seeds: range) -> int:
    """Compare the two readers; the number of files that were read by columns."""
    by_columns = 0
    monkeypatch.setattr(arrow_csv, "FEW", 1)
    monkeypatch.setattr(regular_csv, "SAMPLE", 3)
    monkeypatch.setattr(regular_csv, "PIECE", 50)
    for seed in seeds:
        content, delimiter, encoding = generated_file(seed)
        dialect = Dialect(encoding=encoding, thousands="," if seed % 3 == 0 else "")
        monkeypatch.setattr(delimited, "LARGE", 10**9)
        careful = result(content, delimiter, dialect)
        monkeypatch.setattr(delimited, "LARGE", 0)
        assert result(content, delimiter, dialect) == careful, (seed, content)
        try:
            by_columns += read_regular("t.csv", content, delimiter, encoding) is not None
        except NetwrightError:
            continue  # of its encoding
    return by_columns


def cells_alone(seeds: range) -> int:
    """Read each cell of signed columns in a table of its own; how many columns there were."""
    signed = 0
    for seed in seeds:
        content, delimiter, encoding = generated_file(seed)
        dialect = Dialect(encoding=encoding, thousands="," if seed % 3 == 0 else "")
        try:
            table = parse_delimited("t.csv", content, delimiter=delimiter, dialect=dialect)
        except NetwrightError:
            continue
        for name in table.columns:
            try:
                form = one_number_form(table, name, range(len(table)))
                values = None if form is None else numbers_of(table, name, form)
            except NetwrightError:
                continue
            if form is None or values is None:
                continue
            signed += 1
            for cell, value in zip(table.as_written(name), values, strict=True):
                text = cell.replace('"', '""')
                for mark in ";,":
                    file = f'name{mark}rest\n"{text}"{mark}1\n'.encode()
                    alone = parse_delimited(
                        "t.csv", file, delimiter=mark, dialect=replace(dialect, encoding="")
                    )
                    assert numbers_of(alone, "name", form).tobytes() == value.tobytes(), cell
                row = read_table({"name": cell}, dialect)
                assert numbers_of(row, "name", form).tobytes() == value.tobytes(), cell
    return signed


def test_a_cell_with_signs_is_read_alone_as_among_others() -> None:
    assert cells_alone(range(100)) >= 10


@pytest.mark.slow
def test_a_cell_with_signs_is_read_alone_as_among_others_in_a_thousand_files() -> None:
    assert cells_alone(range(SEEDS)) >= SEEDS / 10


def test_both_ways_of_reading_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    assert both_ways(monkeypatch, range(100)) >= 20


@pytest.mark.slow
def test_both_ways_of_reading_agree_on_a_thousand_files(monkeypatch: pytest.MonkeyPatch) -> None:
    assert both_ways(monkeypatch, range(SEEDS)) >= SEEDS / 4


@for_each(
    "content",
    [
        b"a,b\n1,2\n3,4\n",
        b'a,b\n"x, ""y""",1\n"two\nlines",2\n\nz,3',
        b"\xef\xbb\xbfa;b\r\n1,5;2\r\n\r\n2,5;NA\r\n",
        b"\n\na\tb\n 1 \tx\n",
        b"\xef\xbb\xbfsep=;\r\na,b;c\r\n1,5;2\r\n\r\n3;4\r\n",
        b'"sep=|"\na|b\n1|2\n',
        b"a,b,\n1,2,\n3,4,\n",
    ],
)
def test_regular_files_are_read_by_columns(content: bytes) -> None:
    found = read_regular("t", content, "", "")
    careful = read_carefully("t", content, "", "")
    assert found is not None
    assert found.columns == careful.columns
    assert list(found.lines) == careful.lines
    assert (found.header, found.header_line) == (careful.header, careful.header_line)
    assert (found.delimiter, found.notes) == (careful.delimiter, careful.notes)


@for_each(
    "content",
    [
        b"",
        b"\n \n",
        b"a,b\n",  # no row
        b"a\n1\n",  # a blank line would be a row here
        b"a,a\n1,2\n",
        b'a,b\n1, "2"\n',  # a quote inside a field
        b'a,b\n1,"2"x\n',
        b'a,b\n1,"2\n',
        b"a,b\n1,2,3\n",
        b"a,b\n1,2\n  \n",
        b"a,b\n1,\xff\n",
        b"a,\xff\n1,2\n",
        b"a,b\n1,\0\n",
        b'"a\nb",c\n1,2\n',
        b"a,b\n1," + b"x" * 200_000 + b"\n",  # longer than a field may be
    ],
)
def test_what_is_not_regular_is_left_alone(content: bytes) -> None:
    assert read_regular("t", content, "", "") is None


@for_each(
    ("content", "may"),
    [
        (b"a;b\n007;1\n", True),
        (b"a;b\n1;01", True),
        (b'a;b\n1;"02"\n', True),
        ("a;b\n1;\u00a003\u00a0\n".encode(), True),
        (b"a;b\n0;0.01\n", False),
        (b"a;b\n10;-01\n", False),
        (b"a;b\n0,01;2024-01-01\n", False),
        (b"a;b\n01.02.2024;09:05\n", False),
        (b"a;b\n1000;x01\n", False),
    ],
)
def test_fields_that_may_begin_with_0_are_found(content: bytes, may: bool) -> None:
    for piece in (1, 3, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(regular_csv, "PIECE", piece)
            assert may_have_padded(content, ";") is may, (content, piece)


def test_positions_are_found_over_several_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"a,b\n" + b'"x",1\n' * 50
    whole = read_regular("t", content, "", "")
    monkeypatch.setattr(regular_csv, "PIECE", 7)
    pieces = read_regular("t", content, "", "")
    assert whole is not None
    assert pieces is not None
    assert list(pieces.lines) == list(whole.lines) == list(range(2, 52))


@for_each("piece", [1, 7, 10_000])
def test_marks_are_those_that_are_seen_byte_by_byte(piece: int) -> None:
    content = bytes(np.random.default_rng(0).integers(0, 256, 5000, np.uint8)) + b'a,"b"\r\n\t '
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regular_csv, "PIECE", piece)
        marks = find_marks(content)
    assert marks.ends.tolist() == [place for place, one in enumerate(content) if one == ord("\n")]
    assert marks.quotes.tolist() == [place for place, one in enumerate(content) if one == ord('"')]
    assert marks.counts == [content.count(letter) for letter in range(ord('"') + 1)]


def test_without_arrow_files_are_read_by_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regular_csv, "find_spec", lambda name: None)
    assert read_regular("t", b"a,b\n1,2\n", "", "") is None


def test_small_files_import_no_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any) -> None:
        raise AssertionError("a small file was read by columns")

    monkeypatch.setattr(delimited, "read_regular", refuse)
    assert parse_delimited("t.csv", b"a,b\n1,2\n").columns == {"a": ["1"], "b": ["2"]}


def test_data_of_both_ways_is_the_same_to_the_last_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (
        f"{i % 7}.{i},{'ab,c,,a b'.split(',')[i % 5 - 1]},2024-01-{i % 28 + 1:02},{i % 3}"
        for i in range(99)
    )
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["x,word,day,y", *rows]))
    config = TableConfig(path=str(path), target=("y",))
    careful = load_table(config)
    monkeypatch.setattr(delimited, "LARGE", 0)
    assert (quick := load_table(config)).notes == careful.notes
    assert quick.preprocessor == careful.preprocessor
    assert bool((quick.train.inputs == careful.train.inputs).all())
    assert bool((quick.train.targets == careful.train.targets).all())
