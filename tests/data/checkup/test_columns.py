"""Columns as they came: constants, numbers of rows and missing cells."""

from collections.abc import Callable, Sequence

import numpy as np

from netwright.core.finding import Finding
from netwright.data.checkup.columns import (
    Column,
    array_columns,
    counts_rows,
    find_constant_columns,
    find_doubted_categories,
    find_id_columns,
    find_missing_values,
    needed_column,
    table_columns,
)
from netwright.data.tables.raw_table import RawTable
from tests.repetition import for_each

ROWS = 12


def table() -> RawTable:
    days = [f"2024-01-{day:02}" for day in range(1, ROWS + 1)]
    return RawTable(
        name="t.csv",
        columns={
            "number": [str(1 + row * 5 % ROWS) for row in range(ROWS)],
            "rising": [str(100 + 3 * row) for row in range(ROWS)],
            "year": [str(1990 + row) for row in range(ROWS)],
            "name": [f"n{row}" for row in range(ROWS)],
            "height": [str(1.5 + (row * 7) % 5) for row in range(ROWS)],
            "same": ["7"] * ROWS,
            "nothing": [""] * ROWS,
            "age": ["" if row % 4 == 0 else str(row % 3) for row in range(ROWS)],
            "day": days,
        },
        positions=range(ROWS),
    )


def test_each_column_of_a_table_is_told_for_what_it_is() -> None:
    seen = table_columns(table(), list(table().columns), {}, is_in_time=False)
    assert [column.name for column in seen if column.is_id] == ["number", "name"]
    assert [column.name for column in seen if column.is_constant] == ["same"]
    left_out = [column.name for column in seen if column.is_left_out]
    assert left_out == ["name", "same", "nothing"]
    assert {column.name: column.missing for column in seen if column.missing} == {
        "nothing": 1.0,
        "age": 0.25,
    }


def test_numbers_that_a_word_makes_categories_are_told_unless_the_user_wants_them_so() -> None:
    cells = [*map(str, range(8)), *"--ab"]
    marked = RawTable(name="t.csv", columns={"a": cells[:10], "b": cells[2:]}, positions=range(10))
    found = find_doubted_categories(
        table_columns(marked, ["a", "b"], {"b": "category"}, is_in_time=False), "table"
    )
    assert found is not None
    assert found.sentence == (
        "what may be numbers or dates is taken for categories: 'a' (80% of its cells are numbers; "
        "if '-' means missing, train with --set data.missing=-)"
    )
    assert "--set data.types.a=category" in found.fix
    plain = table_columns(table(), ["age", "height"], {}, is_in_time=False)
    assert find_doubted_categories(plain, "table") is None


def test_in_time_and_alone_a_column_may_go_up() -> None:
    in_time = table_columns(table(), ["number", "height"], {}, is_in_time=True)
    alone = table_columns(table(), ["number"], {}, is_in_time=False)
    assert not any(column.is_id for column in (*in_time, *alone))


def test_a_kind_that_the_user_gave_is_believed() -> None:
    given = table_columns(table(), ["number", "height"], {"number": "number"}, is_in_time=False)
    assert not given[0].is_id


@for_each(
    ("values", "counts"),
    [
        (range(10), True),
        ([3, 1, 2, 9, 4, 5, 8, 6, 7, 10], True),
        ([1, 5, 9, 11, 30, 31, 40, 52, 60, 99], False),
        (range(1900, 1910), False),
        ([10, 50, 90, 11, 30, 31, 40, 52, 60, 99], False),
        (np.arange(10) / 2, False),
        ([1, 1, 2, 3, 4, 5, 6, 7, 8, 9], False),
        (range(9), False),
        ([*range(9), np.nan], False),
    ],
    ids=["row", "shuffled", "rising", "years", "measured", "halves", "twice", "few", "missing"],
)
def test_whole_numbers_from_the_first_on_count_rows(values: list[float], counts: bool) -> None:
    assert counts_rows(np.array(values, dtype=np.float64)) is counts


def test_columns_of_arrays_are_seen_alike() -> None:
    rows = np.arange(10.0)
    gaps = np.where(rows % 2 == 0, np.nan, rows)
    values = np.stack([rows, np.full(10, 3.0), gaps, np.sin(rows), np.full(10, np.nan)], axis=1)
    seen = array_columns(values, ("row", "same", "gaps", "sine", "nothing"))
    assert seen == (
        Column(name="row", missing=0.0, is_id=True),
        Column(name="same", missing=0.0, is_constant=True),
        Column(name="gaps", missing=0.5),
        Column(name="sine", missing=0.0),
        Column(name="nothing", missing=1.0),
    )


def without(names: Sequence[str]) -> str:
    return f"without {' '.join(names)}"


def found_in(find: Callable[..., Finding | None], *columns: Column) -> Finding:
    found = find(columns, without, "table")
    assert found is not None
    assert found.see == "table"
    return found


def test_findings_name_the_columns_and_what_to_do() -> None:
    a = Column(name="a", missing=0.2, is_constant=True)
    b = Column(name="b", missing=0.0, is_constant=True)
    c = Column(name="c", missing=0.005, is_id=True)
    constant = found_in(find_constant_columns, a, b, c)
    assert constant.sentence == (
        "the columns 'a', 'b' have one value in all rows, so nothing can be learned from them"
    )
    assert constant.fix == "Drop them: without a b"
    same = found_in(find_id_columns, a, b, c)
    assert same.sentence == (
        "column 'c' has a different value in every row, and looks like a row identifier: rows "
        "can be memorised from it, but it does not generalise"
    )
    assert same.fix == "Drop it: without c; keep measured values"
    gaps = found_in(find_missing_values, a, b, c)
    assert gaps.sentence == "cells are missing in 1 of 3 columns: 'a' 20.0%"
    illnesses = [finding.illness for finding in (constant, same, gaps)]
    assert illnesses == ["constant-column", "id-like-column", "missing-values"]


def test_the_column_that_lacks_most_comes_first_and_a_hundredth_is_no_illness() -> None:
    shares = {"a": 0.02, "b": 0.4, "c": 0.01}
    columns = [Column(name=name, missing=share) for name, share in shares.items()]
    found = found_in(find_missing_values, *columns)
    assert found.sentence == "cells are missing in 2 of 3 columns: 'b' 40.0%, 'a' 2.0%"


def test_several_row_identifiers_are_told_of_together() -> None:
    ids = [Column(name=name, missing=0.0, is_id=True) for name in "ab"]
    left_out = Column(name="c", missing=0.0, is_id=True, is_left_out=True)
    found = found_in(find_id_columns, left_out, *ids)
    assert found.sentence.startswith("the columns 'a', 'b' have a different value in every row, ")
    assert "and look like a row identifier: rows can be memorised from them" in found.sentence
    assert found.fix == "Drop them: without a b; keep measured values"


def test_of_what_loading_leaves_out_nobody_is_warned() -> None:
    same = Column(name="a", missing=0.0, is_constant=True, is_left_out=True)
    assert found_in(find_constant_columns, same).fix == (
        "Loading drops it automatically; check whether that is intended"
    )
    name = Column(name="my id", missing=0.0, is_id=True, is_left_out=True)
    found = found_in(find_id_columns, name)
    assert found.sentence == "column 'my id' has a different value in every row"
    assert found.fix == (
        "Loading drops it automatically; to use it, give --set 'data.types.my id=category'"
    )


def test_a_column_that_is_mostly_empty_is_better_left_out() -> None:
    empty = Column(name="e", missing=1.0, is_left_out=True)
    most, some = Column(name="m", missing=0.6), Column(name="s", missing=0.5)
    plain = "Find out why they are missing, and fill in known values"
    assert found_in(find_missing_values, empty, some).fix == plain
    assert found_in(find_missing_values, empty, most).fix == (
        f"{plain}; to drop a column that is mostly empty: without m"
    )


def test_healthy_columns_are_silent() -> None:
    seen = [Column(name="a", missing=0.005)]
    assert find_constant_columns(seen, without, "table") is None
    assert find_id_columns(seen, without, "table") is None
    assert find_missing_values(seen, without, "table") is None


def test_of_a_needed_column_no_cell_may_be_missing() -> None:
    column = needed_column(table(), "age", "--drop-missing-target")
    found = find_missing_values([column], without, "table")
    assert found is not None
    assert found.fix == "Give --drop-missing-target: such rows cannot be learned from"
    rare = find_missing_values(
        [Column(name="y", missing=0.001, remedy="--drop-missing-target")], without, "table"
    )
    assert rare is not None
