"""Signs of currencies and per cent: read as a column, or left alone."""

from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.data.tables.column_cells import as_cells
from netwright.data.tables.number_signs import read_signs, without_sign
from netwright.data.tables.reading import read_table
from netwright.data.tables.table import TableConfig
from netwright.data.tables.table_file import load_table
from tests.repetition import for_each


@for_each(
    ("text", "number", "sign"),
    [
        ("$12.50", "12.50", "$"),
        ("-$5", "-5", "$"),
        ("$-5", "-5", "$"),
        ("45 %", "45", "%"),
        ("+0.5%", "+0.5", "%"),
        ("1e-3%", "1e-3", "%"),
        ("3,20 \u20ac", "3,20", "\u20ac"),
        ("EUR 1,234.50", "1,234.50", "EUR"),
        ("1\u00a0234 CHF", "1\u00a0234", "CHF"),
    ],
)
def test_a_number_with_a_sign(text: str, number: str, sign: str) -> None:
    assert without_sign(text) == (number, sign)


@for_each(
    ("text",),
    [(text,) for text in ("5", "", "%", "$", "a%", "5 USDT", "$5%", "-$-5", "5 apples", "$ 5 a")],
)
def test_no_number_with_a_sign(text: str) -> None:
    assert without_sign(text) is None


def test_a_column_is_read_without_its_signs() -> None:
    cells = {"a": as_cells(["$5", "", "$7.5", "$5"]), "b": as_cells(["5", "6", "7", "8"])}
    columns, notes = read_signs(cells)
    assert columns == {"a": ["5", "", "7.5", "5"], "b": ["5", "6", "7", "8"]}
    assert notes == ["a: numbers with '$', as in '$5'"]


@for_each(
    ("cells",), [(["$5", "5%"],), (["$5", "five"],), (["5%", "10%", "all"],), (["red", "$"],)]
)
def test_a_column_of_several_signs_or_of_texts_is_left_alone(cells: list[str]) -> None:
    given = {"a": as_cells(cells)}
    assert read_signs(given) == (given, [])


def table(folder: Path, cells: list[str]) -> Path:
    path = folder / "t.csv"
    rows = [f'"{cell}",{place % 2}\n' for place, cell in enumerate(cells)]
    path.write_text("a,y\n" + "".join(rows))
    return path


def test_prices_are_learned_from_as_numbers_and_one_wrong_is_refused_by_its_line(
    tmp_path: Path,
) -> None:
    prices = [f"${row * 1.5:.2f}" for row in range(40)]
    data = load_table(TableConfig(path=str(table(tmp_path, prices)), target=("y",)))
    assert data.spec.feature_names == ("a",)
    prices[30] = "on request"
    with pytest.raises(DataError, match=r"t\.csv:32: column 'a': 'on request' is not a number"):
        load_table(TableConfig(path=str(table(tmp_path, prices)), target=("y",)))


def test_signs_and_thousands_go_together(tmp_path: Path) -> None:
    path = table(tmp_path, [f"{row},250.00 EUR" for row in range(1, 30)])
    config = TableConfig(path=str(path), target=("y",), thousands=",")
    read = read_table(path, config.dialect)
    assert read.column("a").numbers is not None
    assert read.column("a")[0] == "1250.00"
    assert len(read.notes) == 2


def test_rows_and_frames_are_read_so_too() -> None:
    assert list(read_table({"a": "45 %", "b": "x"}).column("a")) == ["45"]
    pd = pytest.importorskip("pandas")
    assert list(read_table(pd.DataFrame({"a": ["$5", None]})).column("a")) == ["5", ""]
