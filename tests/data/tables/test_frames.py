"""Frames, parquet and rows of values: each kind of value, and what is no cell."""

import sys
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from netwright.core.errors import DataError
from netwright.data.tables import frames
from netwright.data.tables.column_cells import ListCells, NumberCells, is_plain
from netwright.data.tables.frames import (
    frame_table,
    is_arrow_table,
    is_frame,
    is_pandas_frame,
    is_polars_frame,
    new_name,
    parquet_table,
    rows_table,
    with_columns,
)
from tests.data.tables.test_column_cells import NUMBERS
from tests.repetition import for_each


def values_frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "category": pd.Categorical(["a", None]),
            "bool": [True, False],
            "boolean": pd.array([True, None], dtype="boolean"),
            "date": pd.Series([pd.Timestamp("2020-01-02"), pd.NaT]).to_numpy(),
            "Int64": pd.array([1, None], dtype="Int64"),
            "float": [0.1, np.nan],
            "whole": [3.0, -4.0],
            "object": ["x", 7],
            "string": pd.array(["q", None], dtype="string"),
            8: np.array([1, 2], dtype="uint8"),
        },
        index=[5, 5],
    )


CELLS = {
    "category": ["a", ""],
    "bool": ["True", "False"],
    "boolean": ["True", ""],
    "date": ["2020-01-02T00:00:00", ""],
    "Int64": ["1", ""],
    "float": ["0.1", ""],
    "whole": ["3", "-4"],
    "object": ["x", "7"],
    "string": ["q", ""],
    "8": ["1", "2"],
}


def test_every_kind_of_column_becomes_cells() -> None:
    table = frame_table(values_frame())
    assert table.columns == CELLS
    assert (table.name, list(table.positions), table.lines) == ("frame", [0, 1], None)


@for_each(
    ("values", "kind"),
    [
        (["a", None, "b"], "text"),
        (["a", float("nan")], "text"),
        ([True, None, np.bool_(False)], "bool"),
        ([1, None, np.int8(2)], "int"),
        ([1, 2.5], "float"),
        ([np.float32(1), float("nan")], "float"),
        ([1, True], ""),
        ([1.5, True], ""),
        ([1, "a"], ""),
        ([date(2020, 1, 2)], ""),
    ],
)
def test_the_type_of_a_column_is_that_of_all_values_that_are_there(
    values: list[Any], kind: str
) -> None:
    assert rows_table([{"a": value} for value in values]).types == {"a": kind}


def test_floats_keep_every_bit() -> None:
    values = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    numbers = frame_table(pd.DataFrame({"a": values, "b": values})).columns["a"]
    assert [float(cell) for cell in numbers] == values.tolist()


def test_what_offers_itself_as_a_frame_is_taken() -> None:
    table = frame_table(pa.record_batch({"a": [1, None], "b": ["x", "y"]}))
    assert table.columns == {"a": ["1", ""], "b": ["x", "y"]}


def test_parquet_gives_the_same_cells_as_the_frame(tmp_path: Path) -> None:
    frame = values_frame().drop(columns=["object"]).rename(columns={8: "8"})
    frame.to_parquet(tmp_path / "t.parquet")
    table = parquet_table(tmp_path / "t.parquet")
    assert table.columns == {name: cells for name, cells in CELLS.items() if name != "object"}
    assert table.name == "t.parquet"


def test_broken_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 but no more")
    with pytest.raises(DataError, match=r"^t\.parquet: not a readable parquet file: [^\n]+$"):
        parquet_table(path)


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_parquet_without_the_extra_says_how_to_get_it(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DataError) as refusal:
        parquet_table(Path("t.parquet"))
    assert str(refusal.value) == "reading parquet needs the extra: pip install 'netwright[tables]'"


def test_frames_without_the_extra_say_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(DataError) as refusal:
        frame_table(object())
    assert str(refusal.value) == "reading frames needs the extra: pip install 'netwright[tables]'"


def test_rows_of_python_values() -> None:
    rows: list[dict[str, Any]] = [
        {"a": 1, "b": "x", "c": date(2020, 1, 2), "d": Decimal("1.5"), "e": np.float32(0.5)},
        {"a": None, "b": " y ", "c": datetime(2020, 1, 2, 3), "d": pd.NA, "e": np.int8(3), "f": 0},
        {"a": float("nan"), "b": "NA", "c": pd.NaT, "d": True, "e": np.bool_(True)},
    ]
    assert rows_table(rows).columns == {
        "a": ["1", "", ""],
        "b": ["x", "y", ""],
        "c": ["2020-01-02", "2020-01-02T03:00:00", ""],
        "d": ["1.5", "", "True"],
        "e": ["0.5", "3", "True"],
    }


def test_times_periods_and_intervals_are_told_apart_in_every_kind_of_frame() -> None:
    polars = pytest.importorskip("polars")
    values: dict[str, Any] = {
        "at": [time(9, 30), None],
        "for": [timedelta(hours=1, seconds=0.5), None],
    }
    plain = {"at": ["09:30:00", ""], "for": ["3600.5", ""]}
    frame = pd.DataFrame({**values, "for": pd.Series(values["for"], dtype="timedelta64[ns]")})
    for table in (frame, polars.DataFrame(values), pa.table(values)):
        assert frame_table(table).columns == plain
    known = pd.DataFrame(
        {"cut": pd.cut([1, 9], [0, 5, 10]), "of": pd.period_range("2020", None, 2)}
    )
    days = [one.start_time.isoformat() for one in known["of"]]
    assert frame_table(known).columns == {"cut": ["(0, 5]", "(5, 10]"], "of": days}


def test_what_is_no_cell_is_named_by_its_type() -> None:
    assert rows_table([{"a": [1]}, {"a": {}}]).columns == {"a": ["<list>", "<dict>"]}


@for_each(
    ("rows", "sentence"),
    [
        ([], "input: there is no row"),
        ([{}], "input: there is no column"),
        (
            [{"a": 1}, {"A": 1}],
            "input, row 1: no 'a'; give None where it is missing",
        ),
        ([{1: 1, "1": 2}], "input: column '1' appears twice"),
    ],
)
def test_wrong_rows_are_refused(rows: list[dict[Any, Any]], sentence: str) -> None:
    with pytest.raises(DataError) as refusal:
        rows_table(rows)
    assert str(refusal.value) == sentence


@for_each(
    ("frame", "sentence"),
    [
        (pd.DataFrame({"a": []}), "frame: there are columns but no row"),
        (pd.DataFrame(), "frame: there is no column"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "frame: column 'a' appears twice"),
        (
            np.zeros((2, 2)),
            "a table cannot be read from ndarray; give a file's path, a frame, a row as a dict, "
            "or a list of them",
        ),
    ],
)
def test_wrong_frames_are_refused(frame: Any, sentence: str) -> None:
    with pytest.raises(DataError) as refusal:
        frame_table(frame)
    assert str(refusal.value) == sentence


def test_numpy_numbers_in_a_row_are_numbers() -> None:
    table = rows_table([{"a": np.float64(5.1), "b": np.int32(3), "c": np.str_("x"), "d": np.nan}])
    assert [table.column(name) for name in "abcd"] == [["5.1"], ["3"], ["x"], [""]]


def test_a_parquet_file_of_one_number_repeated_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "FREE", 10**5)
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": np.zeros(10**6, np.int64)}).to_parquet(path)
    assert path.stat().st_size < 10**4
    with pytest.raises(DataError, match=r"^t\.parquet unpacks to far more than its size"):
        parquet_table(path)
    monkeypatch.setenv("NETWRIGHT_MAX_COLUMNS", "0.5")
    with pytest.raises(DataError, match=r"^t\.parquet holds 1 columns"):
        parquet_table(path)


def test_a_parquet_file_may_unpack_to_a_few_times_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "FREE", 0)
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": np.arange(1000)}).to_parquet(path)
    assert parquet_table(path).column("a")[-1] == "999"


def test_texts_of_a_parquet_file_are_not_read_where_its_head_says_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "FREE", 10**5)
    monkeypatch.setattr(frames, "_letters", None)
    path = tmp_path / "t.parquet"
    texts = pd.DataFrame({"a": ["a" * 10**6]})
    texts.to_parquet(path, compression="zstd", use_dictionary=False)
    with pytest.raises(DataError, match=r"^t\.parquet unpacks to far more than its size"):
        parquet_table(path)


def test_a_parquet_file_of_one_text_repeated_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "FREE", 10**6)
    path = tmp_path / "t.parquet"
    text = 1_000 * "a"
    pd.DataFrame({"a": [text, None, text], "b": [1, 2, 3]}).to_parquet(path)
    assert parquet_table(path).columns["a"] == [text, "", text]
    pd.DataFrame({"a": [text] * 3_000}).to_parquet(path)  # 3 MB in a few kB
    with pytest.raises(DataError, match=r"^t\.parquet unpacks to far more than its size"):
        parquet_table(path)


@pytest.mark.parametrize("cell", [[1, 2], {"x": 1}], ids=["list", "record"])
def test_cells_of_parquet_hold_one_value(tmp_path: Path, cell: Any) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [cell, cell], "b.c": [1, 2]}).to_parquet(path)
    with pytest.raises(DataError, match=r"'a\..*' is part of a list or a record"):
        parquet_table(path)


def test_a_polars_frame_is_the_table_that_a_pandas_frame_is() -> None:
    polars = pytest.importorskip("polars")
    columns = {
        "size": [1.5, None, 3.0],
        "count": [1, 2, 3],
        "kind": ["a", None, "b"],
        "is_new": [True, False, True],
        "day": [date(2024, 1, 2), date(2024, 1, 3), None],
    }
    framed = polars.DataFrame(columns)
    assert is_polars_frame(framed)
    assert is_frame(framed)
    assert not is_pandas_frame(framed)
    assert frame_table(framed) == frame_table(pd.DataFrame(columns, dtype=object))
    with pytest.raises(DataError, match="there are columns but no row"):
        frame_table(framed.clear())


def test_an_arrow_table_is_the_table_that_a_pandas_frame_is_without_pandas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns = {
        "size": [1.5, None, 3.0],
        "count": [1, 2, 3],
        "some": [1, None, 3],
        "kind": ["a", None, "b"],
        "is_new": [True, False, True],
        "day": [date(2024, 1, 2), date(2024, 1, 3), None],
    }
    wanted = frame_table(pd.DataFrame(columns, dtype=object))
    table = pa.table(columns)
    assert is_arrow_table(table)
    assert is_frame(table)
    assert not is_arrow_table(pd.DataFrame())
    monkeypatch.setitem(sys.modules, "pandas", None)
    for given in (table, pa.concat_tables([table[:1], table[1:]])):
        found = frame_table(given)
        assert found == wanted
        assert found.types == wanted.types
    assert isinstance(found.columns["count"], NumberCells)
    with pytest.raises(DataError, match="there are columns but no row"):
        frame_table(table[:0])


def test_columns_are_put_beside_a_table_under_names_that_are_free() -> None:
    table = rows_table([{"x": 1, "target": "a"}, {"x": 2, "target": "b"}])
    wider, names = with_columns(table, "target", [0.5, 2.0])
    assert names == ("target_",)
    assert wider.columns["target_"] == ["0.5", "2"]
    assert wider.types["target_"] == "float"
    assert list(table.columns) == ["x", "target"]
    _, several = with_columns(table, "y", np.zeros((2, 2)))
    assert several == ("y0", "y1")
    _, named = with_columns(table, "y", pd.Series([1, 2], name="x"))
    assert named == ("x_",)
    assert new_name("a", {"a", "a_"}) == "a__"
    with pytest.raises(DataError, match="input has 2 rows, but 3 of 'y'"):
        with_columns(table, "y", [1, 2, 3])
    with pytest.raises(DataError, match=r"must have shape \(N,\) or \(N, K\)"):
        with_columns(table, "y", np.zeros((2, 1, 1)))


@for_each("values", NUMBERS)
def test_a_frame_has_the_columns_and_types_of_its_objects(values: Any) -> None:
    frame = pd.DataFrame({"x": values, "text": ["a"] * len(values)})
    quick, slow = frame_table(frame), frame_table(frame.astype(object))
    assert isinstance(quick.columns["x"], NumberCells)
    assert isinstance(slow.columns["x"], ListCells)
    assert list(quick.columns["x"]) == list(slow.columns["x"])
    assert quick.types == slow.types


@for_each(
    ("dtype", "plain"),
    [
        (np.dtype(bool), False),
        (np.dtype(complex), False),
        (np.dtype(object), False),
        (np.dtype("datetime64[ns]"), False),
        (np.dtype(np.int16), True),
        (pd.Int64Dtype(), False),
        (pd.CategoricalDtype(), False),
    ],
)
def test_only_ordinary_numbers_are_taken_whole(dtype: Any, plain: bool) -> None:
    assert is_plain(dtype) == plain


def test_missing_whole_numbers_of_polars_stay_whole_numbers() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"n": [1, None, 3], "m": [1, 2, 3], "x": [0.5, None, 2.0]})
    table = frame_table(frame)
    assert {name: list(cells) for name, cells in table.columns.items()} == {
        "n": ["1", "", "3"],
        "m": ["1", "2", "3"],
        "x": ["0.5", "", "2"],
    }
    assert table.types == {"n": "int", "m": "int", "x": "float"}
    assert isinstance(table.columns["m"], NumberCells)
