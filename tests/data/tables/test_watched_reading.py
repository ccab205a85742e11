"""A bar while a large file is read: the same lines and bytes, and seen from two seconds on."""

import re

import pytest

from netwright.data.tables import arrow_csv, watched_reading
from netwright.data.tables.delimited import read_carefully
from netwright.data.tables.regular_csv import read_regular
from netwright.data.tables.watched_reading import ReadingBar, WatchedBytes, watched_lines

TEXT = "one,two\n" + "".join(f"{row},{row / 8}\n" for row in range(9_000))


class Clock:
    """A second passes whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")  # then rich takes the stream for a terminal
    monkeypatch.setattr("netwright.core.terminal.console.time.monotonic", Clock())


def test_lines_and_bytes_are_those_of_the_file() -> None:
    assert list(watched_lines("a.csv", "x\ny\r\n\nlast")) == ["x\n", "y\r\n", "\n", "last"]
    file = WatchedBytes(b"header,rows", 7, ReadingBar("a.csv", 11))
    assert [file.read(2), file.read(), file.read()] == [b"ro", b"ws", b""]


@pytest.mark.usefixtures("terminal")
def test_nothing_is_shown_before_two_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_reading, "LATE", 1e9)
    assert len(list(watched_lines("a.csv", TEXT))) == 9_001
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("by_columns", [False, True], ids=["by records", "by columns"])
def test_the_bar_says_how_much_is_behind(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, by_columns: bool
) -> None:
    if by_columns:
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(watched_reading, "MEGABYTE", 10_000)
    monkeypatch.setattr(arrow_csv, "BLOCK", 100)
    monkeypatch.setattr(arrow_csv, "ROWS", 1)
    read = read_regular if by_columns else read_carefully
    records = read("rows.csv", TEXT.encode(), ",", None)
    assert records is not None
    assert len(records.lines) == 9_000
    shown = re.findall(r"(\d+)/(\d+)", capsys.readouterr().err)
    assert {total for _, total in shown} == {str(len(TEXT) // 10_000)}
    places = [int(place) for place, _ in shown]
    assert places == sorted(places)
    assert places[0] < places[-1]
