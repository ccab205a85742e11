"""The numbers of a run: series by name, and a file that survives being cut short."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import DataError
from netwright.train.watching.history import (
    History,
    Row,
    append_rows,
    read_history,
    without_clock,
    write_rows,
)


def row(split: str, name: str, value: float, step: int = 1) -> Row:
    return Row(step=step, epoch=1, samples=8, time=0.5, split=split, name=name, value=value)


ROWS = [
    row("train", "loss", 2.0),
    row("val", "loss", 3.0),
    row("train", "loss", 1.0, step=2),
    row("val", "loss", 1 / 3, step=2),
]


def test_series_are_found_by_split_and_name_in_order() -> None:
    history = History(list(ROWS))
    assert history.series("train/loss") == [2.0, 1.0]
    assert history.series("val/loss") == [3.0, 1 / 3]
    assert history.latest("val/loss") == 1 / 3
    assert history.keys() == ["train/loss", "val/loss"]
    assert history.as_dict() == {"train/loss": [2.0, 1.0], "val/loss": [3.0, 1 / 3]}
    assert len(history) == 4
    assert [one.key for one in history][:2] == ["train/loss", "val/loss"]
    assert history.has("val") and not history.has("step")
    assert history.measures("val/loss") and not history.measures("val/los")
    assert list(history) == ROWS


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("val/los", "did you mean 'val/loss'?"),
        ("val_loss", "did you mean 'val/loss'?"),
        ("accuracy", "there are train/loss, val/loss"),
    ],
)
def test_what_was_not_measured_is_refused(key: str, hint: str) -> None:
    history = History(list(ROWS))
    for ask in (history.series, history.latest):
        with pytest.raises(DataError) as refused:
            ask(key)
        assert str(refused.value) == f"there is no metric {key!r}; {hint}"


def test_an_empty_history_has_empty_series_and_nothing_newest() -> None:
    assert History().series("val/loss") == []
    with pytest.raises(DataError, match=r"^there is no metric 'val/loss': the history is empty$"):
        History().latest("val/loss")


def test_a_history_is_one_short_line_at_a_prompt() -> None:
    assert repr(History(list(ROWS))) == "History(4 rows: train/loss, val/loss)"
    assert repr(History()) == "History(0 rows)"
    many = [row("train", f"measure {place}", 1.0) for place in range(50)]
    assert len(repr(History(many))) == len("History(50 rows: )") + 80


def test_a_history_is_drawn_in_a_notebook() -> None:
    assert History()._repr_html_() == "an empty history"
    assert 'alt="Learning curves"' in History(list(ROWS))._repr_html_()


def test_two_histories_share_nothing() -> None:
    first, second = History(), History()
    first.rows.append(ROWS[0])
    assert len(second) == 0


def test_rows_come_back_from_the_file_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    append_rows(path, ROWS[:1])
    append_rows(path, ROWS[1:])
    assert read_history(path).rows == ROWS  # 1/3 to the last bit
    lines = path.read_text().splitlines()
    assert len(lines) == 4
    assert list(json.loads(lines[0])) == [
        "step",
        "epoch",
        "samples",
        "time",
        "split",
        "name",
        "value",
    ]


def test_writing_replaces_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    write_rows(path, ROWS)
    write_rows(path, ROWS[:2])
    assert read_history(path).rows == ROWS[:2]
    write_rows(path, [])
    assert len(read_history(path)) == 0


def test_a_last_line_that_was_cut_short_is_left_out_wherever_it_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    write_rows(path, ROWS)
    content = path.read_bytes()
    last = content.rindex(b"\n", 0, -1) + 1
    for end in range(last, len(content) - 1):
        path.write_bytes(content[:end])
        assert read_history(path).rows == ROWS[:3]
    path.write_bytes(content[:-1])  # only the line end is missing
    assert read_history(path).rows == ROWS


@pytest.mark.parametrize("damage", ['{"step": 1, "epo', '{"step": 1}', "[1]", '{"steps": 3}', "7"])
def test_a_damaged_line_in_the_middle_is_refused_with_its_number(
    tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "metrics.jsonl"
    write_rows(path, ROWS)
    lines = path.read_text().splitlines()
    lines[1] = damage
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=f"^{re.escape(f'{path}:2')} is not a row of a history$"):
        read_history(path)


def test_a_damaged_last_line_with_its_line_end_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    write_rows(path, ROWS[:1])
    with path.open("a") as file:
        file.write("{}\n")
    with pytest.raises(DataError, match=r"metrics\.jsonl:2 is not a row"):
        read_history(path)


def test_nothing_that_is_not_json_is_written(tmp_path: Path) -> None:
    bad: Any = row("val", "loss", float("nan"))
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_rows(tmp_path / "metrics.jsonl", [bad])
    assert list(tmp_path.iterdir()) == []


def test_what_two_equal_runs_do_not_share_is_left_out() -> None:
    row = {"step": 3, "time": 0.5, "split": "step", "name": "loss", "value": 1.0}
    assert without_clock(row) == {"step": 3, "split": "step", "name": "loss", "value": 1.0}
    for name in ("samples_per_second", "tokens_per_second", "memory"):
        assert without_clock({**row, "name": name}) == {"step": 3, "split": "step", "name": name}


@pytest.mark.parametrize("name", ["step", "epoch", "samples", "time", "split", "name", "value"])
@pytest.mark.parametrize("value", [None, True, "x", -1.5, [], {}, 3, float("inf")])
def test_a_row_of_other_kinds_is_refused(tmp_path: Path, name: str, value: Any) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text(json.dumps({**vars(ROWS[0]), name: value}) + "\n")
    is_right = type(value) in ({int, float} if name in {"time", "value"} else {int})
    if name in {"split", "name"}:
        is_right = isinstance(value, str)
    if is_right and value != float("inf"):
        assert len(read_history(path)) == 1
        return
    with pytest.raises(DataError, match=r"metrics\.jsonl:1 is not a row of a history$"):
        read_history(path)


@pytest.mark.parametrize("content", [b"\xff\xfe\n", b"[" * 100_000 + b"\n", b"1\n", b'{"a": 1}\n'])
def test_lines_that_are_no_rows_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"metrics\.jsonl:1 is not a row of a history$"):
        read_history(path)


def test_a_file_that_cannot_be_read_is_refused_by_its_name(tmp_path: Path) -> None:
    sentence = f"{tmp_path / 'no'} cannot be read: No such file or directory"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        read_history(tmp_path / "no")
