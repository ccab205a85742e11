"""Every command and every line of Python in the README runs, in order, as it is printed."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from netwright.apps.cli.main import app, run
from netwright.recipes.fitting import verify_resume
from tests.in_process import IN_PROCESS
from tests.repetition import slow_but
from tests.undrawn import undrawn  # noqa: F401 - a fixture

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)
TRAINING = {"train", "compare", "search", "cross-validate"}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder: what the README speaks of, its own commands write."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands() -> list[list[str]]:
    """The words of each command after its name."""
    printed = [
        shlex.split(line.removeprefix("$ "))
        for language, text in BLOCKS
        if language == "console"
        for line in text.splitlines()
        if line.startswith("$ ")
    ]
    assert len(printed) >= 10
    assert {program for program, *_ in printed} == {"netwright"}
    return [words for _, *words in printed]


def shortened(words: list[str]) -> list[str]:
    """A command with one epoch and no report; one that is cut on its way has to stay as it is."""
    is_cut = "--resume" in words or any(word.startswith("train.max_steps=") for word in words)
    epochs = ["--epochs", "1"] if words[0] in TRAINING and not is_cut else []
    report = ["--no-report"] if words[0] == "train" and "--no-report" not in words else []
    return [*words, *epochs, *report]


def test_every_command_and_its_options_are_known() -> None:
    group = typer.main.get_command(app)
    for words in commands():
        command = group.get_command(typer.Context(group), words[0])  # type: ignore[attr-defined]
        assert command is not None, words
        command.make_context(words[0], list(words[1:])).close()  # a wrong option is refused here


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_every_command_runs_for_an_epoch(
    desk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify_resume, "subprocess", IN_PROCESS)
    for words in commands():
        assert run(shortened(words)) == 0, f"{words}\n{capsys.readouterr().err}"


@pytest.mark.slow
def test_every_command_runs(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in commands():
        assert run(words) == 0, f"{words}\n{capsys.readouterr().err}"


PYTHON = [text for language, text in BLOCKS if language == "python"]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("block", slow_but(PYTHON[::2], PYTHON))
def test_every_line_of_python_runs_undrawn(
    desk: Path, block: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("block", PYTHON)
def test_every_line_of_python_runs(
    desk: Path, block: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out


def test_the_make_targets_exist() -> None:
    makefile = (Path(__file__).parent.parent / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\S+)", README, flags=re.MULTILINE):
        assert f"\n{target}:" in makefile
