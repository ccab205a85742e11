"""The table counts by room; survivors are named; shards are read as one."""

from pathlib import Path
from typing import Any

from tests.mutants.report import read, survivors, table, write


def row(file: str, verdict: str, line: int = 1) -> dict[str, Any]:
    before = "if a < b:"
    place, change = f"{file} {line}", "a < b -> a <= b"
    return {
        "place": place,
        "file": file,
        "line": line,
        "verdict": verdict,
        "change": change,
        "before": before,
    }


ROWS = [
    row("core/x.py", "killed"),
    row("core/x.py", "timed out", 2),
    row("core/x.py", "survived", 3),
    row("core/x.py", "equivalent", 4),
    row("data/y.py", "stillborn"),
    row("data/y.py", "unreached", 2),
]


def test_what_is_neither_killed_nor_alive_is_not_in_the_score() -> None:
    assert [line.split() for line in table(ROWS)[1:]] == [
        ["core", "4", "1", "1", "1", "1", "0", "0", "0", "66.7%"],
        ["data", "2", "0", "0", "0", "0", "1", "0", "1", "0.0%"],
        ["all", "6", "1", "1", "1", "1", "1", "0", "1", "66.7%"],
    ]


def test_survivors_are_named_with_their_line() -> None:
    assert survivors(ROWS) == ["core/x.py:3: a < b -> a <= b   in: if a < b:"]


def test_shards_are_read_as_one(tmp_path: Path) -> None:
    write(tmp_path / "one.json", ROWS[:4], {"seed": 1})
    write(tmp_path / "two.json", ROWS[3:], {"seed": 1})
    assert read([tmp_path / "one.json", tmp_path / "two.json"]) == ROWS
