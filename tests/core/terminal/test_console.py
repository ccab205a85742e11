"""The console: text is shown as it is, colours only where they are wanted, a bar or lines."""

import io
import json
import re
import sys
from collections.abc import Callable

import pytest

from netwright.core.errors import OutputError
from netwright.core.terminal.console import (
    Bar,
    print_data,
    print_error,
    print_json,
    print_message,
    print_result,
    print_table,
    print_warning,
)

Capture = pytest.CaptureFixture[str]
# All that rich would read as something else: markup, a closing tag, an emoji, an escape.
TRICKY = "[red]x[/] [/y] ratio 3:100:4 :warning: [bold]C:\\dir\\"


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make rich believe that a person watches."""
    monkeypatch.setenv("FORCE_COLOR", "1")


def without_escapes(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def test_text_for_people_goes_to_standard_error_as_it_is(capsys: Capture) -> None:
    print_message(TRICKY)
    print_warning(TRICKY)
    print_error(TRICKY)
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"{TRICKY}\nnote: {TRICKY}\nerror: {TRICKY}\n"


@pytest.mark.usefixtures("terminal")
def test_text_is_not_interpreted_on_a_terminal_either(capsys: Capture) -> None:
    print_message(TRICKY)
    assert capsys.readouterr().err == f"{TRICKY}\n"
    print_warning(TRICKY)
    print_error(TRICKY)
    assert capsys.readouterr().err == (
        f"\x1b[33mnote:\x1b[0m {TRICKY}\n\x1b[31merror:\x1b[0m {TRICKY}\n"
    )


@pytest.mark.usefixtures("terminal")
def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    print_warning("careful")
    print_error("no")
    assert capsys.readouterr().err == "note: careful\nerror: no\n"


def test_long_lines_are_not_broken(capsys: Capture) -> None:
    long = "word " * 100 + "end"
    print_message(long)
    assert capsys.readouterr().err == f"{long}\n"


@pytest.mark.parametrize("text", ["a,b", "a,b\n", TRICKY, ""])
def test_data_goes_to_standard_output_and_ends_with_one_newline(capsys: Capture, text: str) -> None:
    print_result(text)
    out, err = capsys.readouterr()
    assert out == text.removesuffix("\n") + "\n"
    assert err == ""


def test_json_can_be_read_back(capsys: Capture) -> None:
    value = {"accuracy": 0.5, "name": TRICKY, "none": None}
    print_json(value)
    shown = capsys.readouterr().out
    assert json.loads(shown) == value
    assert shown.splitlines()[1] == '  "accuracy": 0.5,'  # one a line: people read it, too
    with pytest.raises(ValueError, match="Out of range float"):
        print_json({"loss": float("nan")})


def test_table_shows_every_cell_as_it_is(capsys: Capture) -> None:
    print_table([{"name": TRICKY, "[b]col": ":100:"}, {"name": "second"}], title="[red]title")
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert lines[0].rstrip() == "[red]title"  # above the first column
    assert lines[1].split() == ["name", "[b]col"]
    assert lines[2].startswith(TRICKY)
    assert lines[2].rstrip().endswith(" :100:")
    assert lines[3].strip() == "second"


def test_table_can_go_to_standard_error(capsys: Capture) -> None:
    print_table([{"name": "x"}], stderr=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.split() == ["name", "x"]


def test_table_without_rows_is_empty(capsys: Capture) -> None:
    print_table([])
    assert capsys.readouterr().out.strip() == ""


def test_table_keeps_wide_rows_whole_where_nobody_watches(capsys: Capture) -> None:
    print_table([{"name": "n" * 80, "value": "v" * 80}])
    assert f"{'n' * 80} {'v' * 80}" in re.sub(" +", " ", capsys.readouterr().out)


def test_table_on_a_terminal_is_as_wide_as_that(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_table([{"name": "word " * 20}])
    lines = without_escapes(capsys.readouterr().out).splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 40


def test_bar_is_plain_lines_without_a_terminal(capsys: Capture) -> None:
    bar = Bar(10)
    assert not (bar.is_due or bar.is_live)
    bar.move(3, "epoch 1")
    bar.line(TRICKY)
    bar.close()
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"{TRICKY}\n")


@pytest.mark.usefixtures("terminal")
def test_quiet_bar_shows_nothing(capsys: Capture) -> None:
    bar = Bar(10, quiet=True)
    assert not (bar.is_due or bar.is_live)
    bar.move(3, "epoch 1")
    bar.line("a line")
    bar.close()
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("terminal")
def test_bar_is_drawn_a_few_times_a_second(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("netwright.core.terminal.console.time.monotonic", lambda: now)
    bar = Bar(1000)
    for step in range(1, 65):
        bar.move(step, f"step {step:03d}")
        now += 1 / 64
    bar.close()
    drawn = set(re.findall(r"step (\d{3})", capsys.readouterr().err))
    # The first, then every 0.25 s: one in 16 of the steps.
    assert drawn == {"001", "017", "033", "049"}


@pytest.mark.usefixtures("terminal")
def test_a_late_bar_is_shown_with_the_first_move_after_its_time(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("netwright.core.terminal.console.time.monotonic", lambda: now)
    bar = Bar(10, after=2.0)
    now = 101.9
    bar.move(3, "early")
    assert capsys.readouterr().err == ""
    now = 102.0
    bar.move(4, "late")
    assert "late" in capsys.readouterr().err
    bar.close()
    capsys.readouterr()
    Bar(10, after=2.0).close()
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("terminal")
def test_a_bar_that_is_slow_to_draw_is_drawn_less_often(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0

    def draw(*_: object, **__: object) -> None:
        nonlocal now
        now += 0.02

    monkeypatch.setattr("netwright.core.terminal.console.time.monotonic", lambda: now)
    bar = Bar(1000)
    assert bar._progress is not None
    monkeypatch.setattr(bar._progress, "update", draw)
    bar.move(1, "a step")
    now += 3.9
    assert not bar.is_due  # two hundred times as long as the drawing took
    now += 0.2
    assert bar.is_due
    bar.close()


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("given", "shown"), [({}, "training"), ({"text": "[b]fetching"}, "[b]fet")]
)
def test_bar_says_what_is_under_way_before_it_moves(
    capsys: Capture, given: dict[str, str], shown: str
) -> None:
    bar = Bar(10, **given)  # type: ignore[arg-type]
    assert without_escapes(capsys.readouterr().err).strip().startswith(shown)
    bar.close()


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(("total", "count"), [(10, "3/10"), (None, "3/?")])
def test_bar_on_a_terminal_moves(capsys: Capture, total: int | None, count: str) -> None:
    bar = Bar(total)
    assert bar.is_due and bar.is_live
    bar.move(3, "epoch [red]:100:")
    bar.line(TRICKY)
    bar.close()
    bar.line("after the bar")
    drawn = capsys.readouterr().err
    shown = without_escapes(drawn)
    assert "epoch [red]:100:" in shown
    assert re.sub(r"\s", "", count) in re.sub(r"\s", "", shown)
    assert TRICKY in shown
    assert drawn.endswith("\x1b[1A\x1b[2Kafter the bar\n")  # in its place: one up, and cleared


def test_output_follows_a_redirected_stream(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(sys, "stdout", sys.stderr)
    print_result("x")
    assert capsys.readouterr() == ("", "x\n")


def test_an_encoding_without_greek_gets_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding="ascii"))
    print_result("φ(x)")
    assert buffer.getvalue() == b"\\u03c6(x)\n"


CODES = "\x1b]52;c;eA==\x07\x9b2J\x7f\u202e\r\b"
SEEN = "\\x1b]52;c;eA==\\x07\\x9b2J\\x7f\\u202e\\r\\x08"


def test_control_characters_are_seen_and_never_sent(capsys: Capture) -> None:
    for show in (print_message, print_warning, print_error, print_result):
        show(f"a{CODES}b")
    print_table([{f"name{CODES}": f"cell{CODES}\nline"}], title=f"title{CODES}")
    out, err = capsys.readouterr()
    assert err == f"a{SEEN}b\nnote: a{SEEN}b\nerror: a{SEEN}b\n"
    assert [line.strip() for line in out.splitlines()] == [
        f"a{SEEN}b",
        f"title{SEEN}",
        f"name{SEEN}",
        f"cell{SEEN}\\nline",
    ]


@pytest.mark.parametrize("show", [print_message, print_warning, print_error])
def test_a_name_with_a_line_end_feigns_no_second_line(
    capsys: Capture, show: Callable[[str], None]
) -> None:
    show("no column 'a\nerror: all is lost\t!'")
    assert capsys.readouterr().err.endswith("no column 'a\\nerror: all is lost\\t!'\n")


def test_lines_that_are_given_stay_lines(capsys: Capture) -> None:
    print_result("one\n\ttwo")
    assert capsys.readouterr().out == "one\n\ttwo\n"


def test_data_is_exact_in_a_pipe_and_visible_on_a_terminal(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    print_data(f"a{CODES}")
    print_data("b", end="")
    assert capsys.readouterr().out == f"a{CODES}\nb"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_data(f"a\n\t{CODES}")
    print_data("b", end="")
    assert capsys.readouterr().out == f"a\n\t{SEEN}\nb"


def test_json_escapes_what_json_need_not(capsys: Capture) -> None:
    print_json([CODES])
    shown = capsys.readouterr().out
    assert shown.isascii()
    assert "\x7f" not in shown
    assert json.loads(shown) == [CODES]


@pytest.mark.usefixtures("terminal")
def test_a_terminal_without_signs_gets_a_bar_of_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(shown, encoding="ascii"))
    bar = Bar(4)
    bar.move(2, "half")
    bar.close()
    assert "half" in without_escapes(shown.getvalue().decode("ascii"))
    assert "-----" in without_escapes(shown.getvalue().decode("ascii"))


class Full(io.StringIO):
    """A stream that takes nothing."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str, /) -> int:
        raise self.error


def test_a_full_disk_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Full(OSError(28, "No space left on device")))
    with pytest.raises(
        OutputError,
        match=r"^standard output cannot be written to: No space left "
        r"on",
    ):
        print_table([{"a": "b"}])


def test_a_closed_output_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OutputError, match=r"^standard output is closed, so nothing can be"):
        print_table([{"a": "b"}])


def test_a_reader_that_has_enough_ends_the_command_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Full(BrokenPipeError(32, "Broken pipe")))
    with pytest.raises(SystemExit) as end:
        print_result("x")
    assert end.value.code == 0


@pytest.mark.parametrize(
    "stream", [None, Full(OSError(28, "full")), Full(BrokenPipeError(32, "Broken pipe"))]
)
def test_work_goes_on_where_nobody_reads_its_progress(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    print_message("x")
    print_warning("x")
    print_table([{"a": "b"}], stderr=True)
    bar = Bar(3)
    bar.move(1, "x")
    bar.line("x")
    bar.close()
