"""Guarded streams: what others write is made visible, rich writes past them, pipes stay exact."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from netwright.core.terminal.guarded_streams import (
    GuardedStream,
    beneath,
    guard_streams,
    is_guarded,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_is_written_is_made_visible() -> None:
    screen = Terminal()
    guarded = GuardedStream(screen)
    assert guarded.write("a\x1b[2J\n") == 6
    guarded.writelines(["b\x07", "c\n"])
    guarded.flush()
    assert screen.getvalue() == "a\\x1b[2J\nb\\x07c\n"


def test_in_all_else_it_is_the_stream(tmp_path: Path) -> None:
    with (tmp_path / "x").open("w", encoding="latin-1") as file:
        guarded = GuardedStream(file)
        assert (guarded.fileno(), guarded.encoding) == (file.fileno(), "latin-1")
        assert (guarded.isatty(), guarded.writable(), guarded.buffer) == (False, True, file.buffer)


def test_rich_draws_past_the_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", GuardedStream(GuardedStream(screen)))  # type: ignore[arg-type]
    assert beneath(sys.stderr) is screen
    Console(stderr=True, color_system="standard", force_terminal=True).print("a", style="red")
    assert screen.getvalue() == "\x1b[31ma\x1b[0m\n"


def test_only_a_terminal_is_guarded_on_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    for screen, is_guarded_there in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stdout", screen)
        monkeypatch.setattr(sys, "stderr", screen)
        guard_streams()
        guard_streams()  # once is enough
        assert (is_guarded(sys.stdout), is_guarded(sys.stderr)) == (is_guarded_there, True)
        sys.stderr.write("\x1b")
        assert screen.getvalue() == "\\x1b"


def test_streams_that_are_closed_stay_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    guard_streams()
    assert sys.stdout is sys.stderr is None


NEXT_NUMBER = """
import os
from netwright.core.terminal.guarded_streams import guard_streams
guard_streams()
os._exit(os.open(os.devnull, os.O_RDONLY))
"""


def test_no_file_takes_the_number_of_a_closed_stream() -> None:
    command = ["bash", "-c", 'exec "$0" -c "$1" <&- >&- 2>&-', sys.executable, NEXT_NUMBER]
    assert subprocess.run(command, check=False).returncode == 3
