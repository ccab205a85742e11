"""No code of a terminal that stands in data reaches one, whatever the command.

Every command runs in this process on a terminal that is faked, on a table, a text and folders whose
names hold all control characters. What is left when the few codes that rich draws with are taken
away must hold none.
"""

import csv
import io
import json
import logging
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from netwright.apps.cli.main import COMMANDS, run
from netwright.core.errors import NetwrightError
from netwright.core.terminal import console
from netwright.core.terminal.guarded_streams import guard_streams
from tests.repetition import for_each

# Sets the clipboard, wipes the screen, moves the cursor, opens a link.
SEQUENCES = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[5;7H\x1b]8;;http://x\x1b\\"
STEERING = [
    *map(chr, [*range(1, 9), 11, 12, *range(14, 32), *range(127, 160)]),
    *map(chr, [0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x2070)]),
]
CODES = SEQUENCES + "".join(STEERING) + "$\\frac{[red]</script>"  # in a name of a column, a class
IN_A_FILE_NAME = "\x1b]2;t\x07\x1b[2J\x9b5n\r\b\x7f\u202e[red]"
# How rich draws: letters, the cursor's shape, one line of a bar anew.
DRAWN = re.compile(r"\x1b\[(?:[013]|3[1-6])m|\x1b\[\?25[lh]|\x1b\[2K|\x1b\[1A|\r(?=\x1b\[)")
SEEN = "\\x1b]"


class Terminal(io.StringIO):
    """A stream with a person before it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "4000")  # a name is not broken into lines
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


@contextmanager
def watched() -> Iterator[Terminal]:
    """Standard output and standard error are a terminal, guarded as the command guards them."""
    kept, screen = (sys.stdout, sys.stderr), Terminal()
    sys.stdout = sys.stderr = screen
    guard_streams()
    try:
        yield screen
    finally:
        sys.stdout, sys.stderr = kept


def typed(words: list[str]) -> tuple[int, str]:
    """The exit code of a command, and what a terminal got of it."""
    with watched() as screen:
        code = run(words)
    return code, screen.getvalue()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with codes in its name, and in it a table and a text that are full of them."""
    folder = tmp_path_factory.mktemp("codes") / IN_A_FILE_NAME
    folder.mkdir()
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow([f"a{CODES}", f"b{CODES}", f"same{CODES}", f"kind{CODES}"])
        for row in range(60):
            colour, kind = "red" if row % 3 else "blue", "big" if row > 30 else "small"
            writer.writerow([row / 6, colour + CODES, 1, kind + CODES])
    text = f"To be {CODES}\n" * 40
    (folder / "t.txt").write_text(text, encoding="utf-8", newline="")
    return folder


def train_table(place: Path) -> list[str]:
    return ["train", "logistic", f"{place / 't.csv'}", *target(), *quickly(), "--no-report"]


def target() -> list[str]:
    return ["--target", f"kind{CODES}"]


def quickly() -> list[str]:
    return ["--epochs", "1", "--seed", "1"]


@pytest.fixture(scope="module")
def table_run(place: Path) -> Path:
    folder = place / "run"
    assert run([*train_table(place), "--quiet", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def text_run(place: Path) -> Path:
    folder = place / "text"
    small = ["--set", "model.hidden=8", "--set", "model.embedding=4", "--batch-size", "4"]
    words = ["train", "lstm", f"{place / 't.txt'}", *quickly(), *small, "--quiet", "--no-report"]
    assert run([*words, "--out", str(folder)]) == 0
    return folder


# How each command is asked, so that its answer has names from data in it.
ANSWERS: dict[str, Callable[[Path, Path, Path], list[str]]] = {
    "train": lambda place, *_: [*train_table(place), "--out", f"{place / 'again'}"],
    "doctor": lambda place, *_: ["doctor", f"{place / 't.csv'}", *target()],
    "evaluate": lambda _, table, *__: ["evaluate", f"{table}", "--json"],
    "predict": lambda place, table, _: ["predict", f"{table}", f"{place / 't.csv'}", "--proba"],
    "generate": lambda _, __, text: ["generate", f"{text}", f"To{CODES}", "--max-tokens", "300"],
    "report": lambda _, table, __: ["report", f"{table}"],
    "export": lambda _, table, __: ["export", f"{table}", "--to", "state-dict"],
    "import": lambda place, *_: ["import", f"{place / 't.csv'}", "--model", "resnet18"],
    "inspect": lambda _, table, __: ["inspect", f"{table}", "class-balance"],
    "compare": lambda place, *_: [
        "compare",
        f"mlp:{CODES}=1",
        "lda",
        "--data",
        f"{place / 't.csv'}",
    ],
    "cross-validate": lambda place, *_: ["cross-validate", "lda", f"{place / 't.csv'}"],
    "search": lambda *_: ["search", "mlp", "xor", "--space", f"train.{CODES}=1|2"],
    "theory": lambda *_: ["theory", f"xor{CODES}"],
    "race": lambda *_: ["race", f"adam{CODES}"],
    "explain": lambda *_: ["explain", f"adam{CODES}"],
    "list": lambda *_: ["list", f"models{CODES}"],
    "sample-data": lambda place, *_: ["sample-data", f"{place / 't.csv'}"],
    "launch": lambda *_: ["launch", f"mlp{CODES}", "--for", "torchrun"],
    "plan": lambda *_: ["plan", f"gpt{CODES}"],
    "prepare": lambda place, *_: ["prepare", f"{place / 't.csv'}", "--out", f"{place}"],
    "serve": lambda _, table, __: ["serve", f"{CODES}={table}"],
    "studio": lambda place, *_: ["studio", f"{place / 'none'}"],
    "runs": lambda place, *_: ["runs", f"{place.parent}"],
    "note": lambda _, table, __: ["note", f"{table}", f"a{CODES}b"],
    "words": lambda _, table, __: ["words", f"{table}", f"similar{CODES}", "king"],
    "verify": lambda _, table, __: ["verify", f"{table}"],
    "verify-resume": lambda place, *_: ["verify-resume", f"{place}"],
    "env": lambda *_: ["env", f"--{CODES}"],
}


NAMELESS = {"evaluate", "inspect"}  # numbers; short names with marks for what cannot be drawn
ANSWERING = {
    *("train", "doctor", "evaluate", "predict", "generate", "report", "inspect", "verify"),
    *("export", "runs", "note"),
}


def left_over(shown: str) -> set[str]:
    """The control characters that reached the terminal, but for those that rich draws with."""
    rest = DRAWN.sub("", shown)
    return {letter for letter in rest if letter in {*STEERING, "\x00", "\x1b", "\r"}}


def test_every_command_is_tried() -> None:
    assert set(ANSWERS) == set(COMMANDS)


@pytest.mark.parametrize("name", ANSWERS)
def test_no_code_of_data_reaches_the_terminal(
    name: str, place: Path, table_run: Path, text_run: Path
) -> None:
    if name == "studio":
        pytest.importorskip("starlette")
    code, shown = typed(ANSWERS[name](place, table_run, text_run))
    assert not left_over(shown)
    assert code == (0 if name in ANSWERING else 2)
    assert name in NAMELESS or SEEN in shown


@for_each("name", COMMANDS)
def test_no_code_of_what_was_typed_reaches_the_terminal(name: str) -> None:
    code, shown = typed([name, f"--{CODES}", f"x{CODES}"])
    assert not left_over(shown)
    assert (code, SEEN in shown) == (2, True)


def test_a_name_is_no_markup_on_a_terminal(place: Path, table_run: Path) -> None:
    _, shown = typed(["predict", str(table_run), str(place / "t.csv")])
    assert "$\\frac{[red]</script>" in shown
    assert SEEN in shown


def test_generated_text_keeps_its_lines_on_a_terminal(text_run: Path) -> None:
    _, shown = typed(["generate", str(text_run), f"one\ttwo\nthree{CODES}", "--max-tokens", "1"])
    assert "one\ttwo\nthree\\x1b]52;" in shown


@pytest.mark.parametrize("command", ["predict", "generate"])
def test_what_goes_into_a_pipe_is_exact(
    command: str, place: Path, table_run: Path, text_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = io.StringIO(newline="")
    monkeypatch.setattr(sys, "stdout", pipe)
    assert run(ANSWERS[command](place, table_run, text_run)) == 0
    assert CODES in pipe.getvalue()


def test_json_holds_no_code_and_reads_back(place: Path, table_run: Path) -> None:
    _, shown = typed(["predict", str(table_run), str(place / "t.csv"), "--json"])
    assert not left_over(shown)
    assert next(iter(json.loads(shown)[0])) == f"kind{CODES}"


def test_a_page_holds_no_code(place: Path) -> None:
    """A diagnosis names columns; the pages of runs are built of the same parts."""
    page = place / "doctor.html"
    code, _ = typed(["doctor", str(place / "t.csv"), *target(), "--out", str(page)])
    html = page.read_text(encoding="utf-8")
    assert (code, left_over(html)) == (0, set())
    assert "&lt;/script&gt;" in html
    assert "[red]</script>" not in html


def say_foreign_words() -> None:
    """As other packages write: a log that nobody handles, lines to both streams."""
    logging.Logger("foreign").warning("log %s", CODES)
    sys.stderr.write(f"err {CODES}\n")
    sys.stdout.write(f"out {CODES}\n")


def test_foreign_words_are_made_visible_beside_a_bar_and_without() -> None:
    with watched() as screen:
        say_foreign_words()
        bar = console.Bar(3, text=f"reading {CODES}")
        bar.move(1, f"epoch {CODES}")
        say_foreign_words()
        bar.line(f"line {CODES}")
        bar.close()
    shown = screen.getvalue()
    assert not left_over(shown)
    counts = {
        name: shown.count(f"{name} {SEEN}") for name in ("log", "err", "out", "epoch", "line")
    }
    assert counts.pop("epoch") > 1  # it is drawn again below each line
    assert counts == {"log": 2, "err": 2, "out": 2, "line": 1}


def test_planted_bug_in_what_is_given_reaches_the_terminal(
    place: Path, table_run: Path, text_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "visible", str)
    for name in ("predict", "generate"):
        assert left_over(typed(ANSWERS[name](place, table_run, text_run))[1]), name


def test_planted_bug_in_what_is_said_reaches_the_terminal(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "visible_line", str)
    monkeypatch.setattr(NetwrightError, "__str__", Exception.__str__)
    for name in ("evaluate", "generate", "report", "verify-resume"):
        assert left_over(typed([name, f"{place / 'none'}"])[1]), name
