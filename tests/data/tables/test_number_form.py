"""Numbers with signs beside them: decided once for a column, and read alike ever after."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.tables.cells import numbers_of, one_number_form
from netwright.data.tables.delimited import parse_delimited
from netwright.data.tables.dialect import Dialect
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.features.number_feature import NumberFeature
from netwright.data.tables.large import file_parts
from netwright.data.tables.number_form import NumberForm, fitting_forms, read_form
from netwright.data.tables.reading import read_table
from netwright.data.tables.table import TableConfig, from_frame, table_data
from netwright.data.tables.table_file import load_table
from tests.repetition import for_each

DOLLARS = NumberForm(mark="$", decimal=".")
EUROS = NumberForm(mark="\u20ac", decimal=",")
BY_CODE = NumberForm(mark="EUR", decimal=",")


@for_each(
    ("form", "cell", "value"),
    [
        (DOLLARS, "$1,234.50", 1234.5),
        (DOLLARS, "1,234.5 $", 1234.5),
        (DOLLARS, "7", 7.0),
        (DOLLARS, "-$5", -5.0),
        (DOLLARS, "$-5", -5.0),
        (DOLLARS, "($1,000)", -1000.0),
        (DOLLARS, "$(3.5)", -3.5),
        (DOLLARS, "\u2212$.5", -0.5),
        (DOLLARS, "$1'234", 1234.0),
        (DOLLARS, "$1 234.5", 1234.5),
        (DOLLARS, "1e3", 1000.0),
        (EUROS, "1.234,50 \u20ac", 1234.5),
        (EUROS, "1.234", 1234.0),
        (BY_CODE, "1.150,92 EUR", 1150.92),
        (BY_CODE, "EUR -1.150,92", -1150.92),
        (BY_CODE, "12", 12.0),
        (NumberForm(mark="%", decimal="."), "12.5 %", 0.125),
        (NumberForm(mark="%"), "0.3%", 0.003),
        (NumberForm(mark="\u20ac"), "12.50 \u20ac", 12.5),
        (NumberForm(decimal="."), "(2.345)", -2.345),
    ],
)
def test_what_a_cell_means(form: NumberForm, cell: str, value: float) -> None:
    assert form.number(cell) == value


@for_each(
    ("form", "cell"),
    [
        (DOLLARS, "\u20ac5"),  # another currency
        (DOLLARS, "5%"),
        (DOLLARS, "$1,23"),
        (DOLLARS, "$1.2.3"),
        (DOLLARS, "(-5)"),
        (DOLLARS, "($5"),
        (DOLLARS, "$5$"),
        (DOLLARS, "$"),
        (DOLLARS, "1" * 65 + "$"),
        (EUROS, "12.5 \u20ac"),
        (BY_CODE, "5 USD"),
        (BY_CODE, "EUR 5 EUR"),
        (BY_CODE, "5 \u20ac"),  # the rows that trained had the code
        (BY_CODE, "5 eur"),
        (BY_CODE, "EUR5"),
        (BY_CODE, "5EUR"),
        (BY_CODE, "EUR 005"),
        (NumberForm(mark="%", decimal="."), "0.12"),  # 0.12 or 0.0012?
        (NumberForm(mark="\u20ac"), "1.234 \u20ac"),
        (NumberForm(mark="\u20ac"), "1,234 \u20ac"),
    ],
)
def test_what_is_no_number_of_the_column(form: NumberForm, cell: str) -> None:
    assert form.number(cell) is None


@for_each(
    ("cells", "forms"),
    [
        (["$1,234.50", "$3", "7"], [DOLLARS]),
        (["1.234 \u20ac", "2,5 \u20ac"], [EUROS]),
        (["12 \u20ac", "13 \u20ac"], [NumberForm(mark="\u20ac")]),
        (["10%", "7.5%"], [NumberForm(mark="%", decimal=".")]),
        (["(1.5)", "2.345"], [NumberForm(decimal=".")]),
        (["(1)", "2"], [NumberForm(decimal=".")]),
        (["\u22123.459", "2"], [NumberForm(decimal=".")]),
        (["(1,5)", "2,25"], [NumberForm(decimal=",")]),
        (["10%", "20"], []),  # not all have the sign
        (["$1", "\u20ac2"], []),
        (["(1)", "(2)"], []),  # names in brackets
        (["1,5", "2,5"], []),  # a setting says what these are
        (["1", "2"], []),
        (["red", "$5"], []),
        (["1.234 \u20ac", "2.345 \u20ac"], [NumberForm(mark="\u20ac", decimal="."), EUROS]),
        (["1,234", "(5)"], [NumberForm(decimal="."), NumberForm(decimal=",")]),
        (["1.234", "(5)"], [NumberForm(decimal=".")]),
        (["$1,234.50", "$1.234,50", *(f"${n}" for n in range(40))], [NumberForm(mark="$")]),
    ],
)
def test_how_a_column_is_written(cells: list[str], forms: list[NumberForm]) -> None:
    assert fitting_forms(dict.fromkeys(cells, 1)) == forms


def test_a_setting_tells_what_the_cells_do_not() -> None:
    cells = {"$1,234": 1, "$2,345": 1}
    assert len(fitting_forms(cells)) == 2
    assert fitting_forms(cells, ",") == [DOLLARS]
    assert fitting_forms(cells, ".") == [NumberForm(mark="$", decimal=",")]


@for_each("odd", ["\u22120,250", "(0,250)"])
def test_beside_semicolons_commas_are_decimal_whatever_signs_a_column_has(odd: str) -> None:
    cells = [f"0,{n}" for n in range(101, 141)]
    table = parse_delimited(
        "t.csv", "\n".join(["a;b", *(f"{c};1" for c in [*cells, odd])]).encode()
    )
    form = one_number_form(table, "a", range(len(table)))
    assert form == NumberForm(decimal=",")
    values = [*(n / 1000 for n in range(101, 141)), -0.25]
    assert numbers_of(table, "a", form).tolist() == values


def test_beside_semicolons_a_point_is_decimal_where_no_cell_has_a_comma() -> None:
    table = parse_delimited("t.csv", b"a;b\n1.234;1\n(5);2\n")
    assert one_number_form(table, "a", range(2)) == NumberForm(decimal=".")
    mixed = parse_delimited("t.csv", "a;b\n1,234;1\n\u22120.5;2\n".encode())
    assert one_number_form(mixed, "a", range(2)) is None


@for_each("mark", ["'", "space"])
def test_commas_are_decimal_beside_other_marks_between_thousands(mark: Any) -> None:
    assert fitting_forms({"1,234": 1, "(5)": 1}, mark) == [NumberForm(decimal=",")]


def test_the_sentence_for_an_unclear_cell_does_not_hang_on_the_split() -> None:
    table = parse_delimited("t.csv", "a,b\n7 \u20ac,1\n8 \u20ac,1\n1.234 \u20ac,2\n".encode())
    said = r"^t\.csv:4: column 'a': '1\.234 \u20ac' may be 1\.234 or 1234, .*data\.thousands="
    with pytest.raises(DataError, match=said):
        one_number_form(table, "a", range(3))
    form = one_number_form(table, "a", range(2))
    with pytest.raises(DataError, match=said):
        numbers_of(table, "a", form)


def test_a_column_that_does_not_tell_is_refused_by_its_first_cell() -> None:
    table = parse_delimited("t.csv", b'a,b\n"$7",1\n"$1,234",2\n')
    with pytest.raises(DataError, match=r"^t\.csv:3: column 'a': '\$1,234' may be 1234 or 1\.234"):
        one_number_form(table, "a", range(2))


def test_a_cell_that_is_no_number_is_refused_by_its_place() -> None:
    table = parse_delimited("t.csv", b"a,b\n$7,1\n,2\nx,3\n$1e39,4\n")
    with pytest.raises(
        DataError, match=r"^t\.csv:4: column 'a': 'x' is not a number .* \$1,234\.5"
    ):
        numbers_of(table, "a", DOLLARS)
    values = numbers_of(table.take([0, 1]), "a", DOLLARS)
    np.testing.assert_array_equal(values, [7, np.nan])
    with pytest.raises(DataError, match="is not finite"):
        numbers_of(read_table({"a": "9" * 50}), "a", DOLLARS)


def test_numbers_that_are_numbers_are_not_read_as_text() -> None:
    for value in (1.234, 1):
        assert numbers_of(read_table([{"a": value}]), "a", EUROS).tolist() == [value]
    with pytest.raises(DataError, match="'a' holds text and numbers"):
        numbers_of(read_table([{"a": 1.234}, {"a": "1,5 \u20ac"}]), "a", EUROS)
    both = read_table([{"a": 1.234}, {"a": "$1,234.5"}])
    assert numbers_of(both, "a", DOLLARS).tolist() == [1.234, 1234.5]


def test_decimal_commas_that_a_file_repairs_are_left_to_the_form() -> None:
    """Beside semicolons 1,234 is 1.234; in a column of $1,234.50 it is not."""
    row = parse_delimited("t.csv", b"a;b\n1,234;1\n")
    assert row.columns["a"] == ["1.234"]
    assert numbers_of(row, "a", DOLLARS).tolist() == [1234]
    assert numbers_of(row.take([0]).with_missing(["x"]), "a", DOLLARS).tolist() == [1234]
    frame = read_table({"a": "1.234"}, Dialect(thousands="."))
    assert numbers_of(frame, "a", DOLLARS).tolist() == [1.234]


HEADER = "price,share,balance,colour,y"


def line(place: int) -> str:
    price = f'"${place * 137.25:,.2f}"'
    balance = f"({place}.5)" if place % 3 else f"{place}.5"
    return f"{price},{place % 10}.5%,{balance},{'red' if place % 2 else 'blue'},{place % 2}"


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    file = tmp_path / "t.csv"
    file.write_text("\n".join([HEADER, *map(line, range(60))]) + "\n")
    return file


def config(file: Path, **settings: Any) -> TableConfig:
    return TableConfig(path=str(file), target=("y",), **settings)


def test_a_table_is_learned_from_and_its_rows_are_encoded_alone_alike(file: Path) -> None:
    data = load_table(config(file))
    encoder = data.preprocessor
    assert isinstance(encoder, TableEncoder)
    forms = {one.name: one.form for one in encoder.features if isinstance(one, NumberFeature)}
    percent = NumberForm(mark="%", decimal=".")
    assert forms == {"price": DOLLARS, "share": percent, "balance": NumberForm(decimal=".")}
    assert any(note.startswith("price: number (written as '$") for note in data.notes)
    whole = encoder.encode(str(file))
    again = TableEncoder.from_json(json.loads(json.dumps(encoder.to_json())))
    assert again == encoder
    alone = file.with_name("row.csv")
    for place in range(60):
        alone.write_text(f"{HEADER}\n{line(place)}\n")
        assert torch.equal(again.encode(str(alone)), whole[place : place + 1])
        row = {name: read_table(str(alone)).columns[name][0] for name in HEADER.split(",")}
        assert torch.equal(again.encode(row), whole[place : place + 1])
    with pytest.raises(DataError, match=r"column 'share': '0\.5' is not a number as this column"):
        again.encode({**row, "share": "0.5"})


def test_tables_in_parts_and_frames_are_read_so(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pd = pytest.importorskip("pandas")
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))
    plain = load_table(config(file))
    assert isinstance(plain.preprocessor, TableEncoder)
    monkeypatch.setattr(file_parts, "PART", 500)
    parts = load_table(config(file, in_memory_gb=1e-9))
    frame = from_frame(pd.read_csv(file), TableConfig(target=("y",)))
    for data in (parts, frame):
        assert isinstance(data.preprocessor, TableEncoder)
        assert data.preprocessor.features == plain.preprocessor.features
        assert torch.equal(data.train.inputs[:], plain.train.inputs[:])


@for_each(("cells", "kind"), [("{}.25%", "real"), ("${}.50", "real"), ("${}", "class")])
def test_targets_are_read_so(cells: str, kind: str) -> None:
    rows = "".join(f"{place},{cells.format(place % 6)}\n" for place in range(40))
    table = parse_delimited("t.csv", f"x,y\n{rows}".encode())
    target = table_data(table, TableConfig(target=("y",))).preprocessor
    assert isinstance(target, TableEncoder)
    assert target.target.kind == kind
    if kind == "real":
        value = target.encode_targets(["4.25%" if "%" in cells else "$4.50"]).item()
        assert value == pytest.approx(0.0425 if "%" in cells else 4.5)
        assert TableEncoder.from_json(target.to_json()) == target


def test_runs_that_were_saved_before_read_plain_numbers(file: Path) -> None:
    encoder = load_table(config(file)).preprocessor
    saved = encoder.to_json()
    for feature in saved["features"]:
        feature.pop("form", None)
    saved["target"].pop("forms")
    before = TableEncoder.from_json(saved)
    assert all(getattr(one, "form", None) is None for one in before.features)
    assert before.target.forms == ()


@for_each(
    "values",
    [
        {"mark": "x", "decimal": "."},
        {"mark": "$", "decimal": ";"},
        {"mark": 1, "decimal": "."},
        {"mark": "$"},
        [],
    ],
)
def test_a_form_of_a_stranger_is_refused(values: Any) -> None:
    with pytest.raises(DataError, match="numbers"):
        read_form(values)
