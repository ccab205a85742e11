"""The history of layers: what was written is read back, and a broken file is told."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from netwright.core.errors import DataError, UnknownNameError
from netwright.train.watching.layer_history import LayerHistory, LayerRow, read_layer_history
from tests.repetition import for_each

FIRST = LayerRow(
    step=1, epoch=0, loss=1.1, gradient=(0.5, None), weight=(2.0, 3.0), update=(0.002, 0.0)
)
SECOND = LayerRow(
    step=33,
    epoch=1,
    loss=0.7,
    gradient=(0.25, 0.125),
    weight=(2.5, 3.0),
    update=(0.003, None),
    dead=(0.75, None),
    saturated=(None, None),
)
HISTORY = LayerHistory(("inner", "outer"), [FIRST, SECOND])


def test_a_history_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "layers.jsonl"
    path.write_text(HISTORY.to_text())
    read = read_layer_history(path)
    assert (read.layers, list(read)) == (HISTORY.layers, HISTORY.rows)
    assert read.to_text() == HISTORY.to_text()


def test_lines_that_are_added_make_the_same_file() -> None:
    begun = LayerHistory(HISTORY.layers, [FIRST])
    assert begun.to_text() + HISTORY.lines_from(1) == HISTORY.to_text()
    assert LayerHistory(HISTORY.layers).to_text() + HISTORY.lines_from(0) == HISTORY.to_text()


def test_a_series_is_one_layer_along_the_steps() -> None:
    assert HISTORY.steps == [1, 33]
    assert HISTORY.series("gradient", "inner") == [0.5, 0.25]
    assert HISTORY.series("gradient", "outer") == [None, 0.125]
    assert HISTORY.series("dead", "inner") == [None, 0.75]  # nobody looked at the first step
    with pytest.raises(UnknownNameError, match=r"^unknown layer 'oter'; did you mean 'outer'\?$"):
        HISTORY.series("update", "oter")


def test_where_nobody_watched_the_history_is_empty(tmp_path: Path) -> None:
    empty = read_layer_history(tmp_path / "absent.jsonl")
    assert (len(empty), empty.layers, empty.to_text()) == (0, (), "")
    assert repr(HISTORY) == "LayerHistory(2 layers at 2 steps)"


def test_a_line_that_a_kill_cut_short_is_left_out() -> None:
    whole = HISTORY.to_text()
    lines = whole.splitlines(keepends=True)
    for length in range(len(whole)):
        read = LayerHistory.from_text(whole[:length])
        complete = whole[:length].count("\n")
        # A last line without its end may be whole: then it counts.
        assert len(read) in {max(0, complete - 1), complete}
    assert len(LayerHistory.from_text("".join(lines[:2]))) == 1


def test_an_empty_line_is_passed_over() -> None:
    head, *rows = HISTORY.to_text().splitlines(keepends=True)
    assert LayerHistory.from_text("\n".join([head, *rows])).rows == HISTORY.rows


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "[1]",
        "nonsense",
        '{"step": 1}',
        '{"step": 2, "epoch": 0, "loss": 1.0, '
        '"gradient": [1.0], "weight": [1.0, 1.0], "update": [1.0, 1.0]}',
        '{"step": "2", "epoch": 0, "loss": 1.0, "gradient": [], "weight": [], "update": []}',
        '{"step": 2, "epoch": 0, "loss": 1.0, "gradient": ["x", 1], "weight": [], "update": []}',
        '{"step": 2, "epoch": 0, "loss": 1.0, "gradient": 1, "weight": [], "update": []}',
        "[" * 100_000,
        '{"a": "\\ud800"}',
    ],
)
def test_a_line_of_something_else_is_refused_with_its_place(tmp_path: Path, line: str) -> None:
    path = tmp_path / "layers.jsonl"
    head, first, second = HISTORY.to_text().splitlines()
    path.write_text("\n".join([head, first, line, second]) + "\n")
    with pytest.raises(
        DataError, match=f"^{re.escape(str(path))}:3 is not a row of a layer history$"
    ):
        read_layer_history(path)


def test_numbers_of_a_row_are_worked_by_hand() -> None:
    row = LayerRow(
        step=1, epoch=0, loss=1.0, gradient=(0.6, 0.8), weight=(10.0, 10.0), update=(0.01, 0.02)
    )
    assert row.whole_gradient == pytest.approx(1.0)  # 0.6, 0.8 and 1
    assert row.step_ratio == pytest.approx(0.0015)
    frozen = replace(row, gradient=(None, 0.8), update=(0.0, None))
    assert (frozen.whole_gradient, frozen.step_ratio) == (0.8, 0.0)
    long = replace(row, gradient=(0.5, None, 0.0, 2.0, 1.0))
    assert long.beside_longest_behind == (0.25, None, None, 2.0, None)


@pytest.mark.parametrize(
    ("update", "is_zero"), [((0.01, 10.0), True), ((0.01, 9.9), False), ((None, 0.0), False)]
)
def test_weights_that_are_as_long_as_their_step_began_at_zero(
    update: tuple[float | None, ...], is_zero: bool
) -> None:
    row = LayerRow(step=1, epoch=0, loss=1.0, gradient=(), weight=(10.0, 10.0), update=update)
    assert row.began_at_zero == is_zero
    assert not replace(row, weight=(0.0, 0.0), update=(0.0, 0.0)).began_at_zero


@for_each("head", ['{"layers": "inner"}', '{"layers": [1, 2]}', "[]", "1", "\x00"])
def test_a_head_without_names_is_refused(head: str) -> None:
    with pytest.raises(DataError, match=r"^the text:1 is not a row of a layer history$"):
        LayerHistory.from_text(f"{head}\n{HISTORY.lines_from(0)}")


def test_bytes_that_are_no_text_are_no_row(tmp_path: Path) -> None:
    path = tmp_path / "layers.jsonl"
    path.write_bytes(HISTORY.to_text().encode() + b"\xff\xfe\n")
    with pytest.raises(DataError, match=r":4 is not a row of a layer history$"):
        read_layer_history(path)
