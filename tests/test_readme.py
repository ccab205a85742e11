"""Every command and every line of Python in the README runs, in order, as it is printed."""

import re
import shlex
from pathlib import Path

import pytest

from netwright.apps.cli.main import run

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder: what the README speaks of, its own commands write."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_runs(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands = [
        line.removeprefix("$ ")
        for language, text in BLOCKS
        if language == "console"
        for line in text.splitlines()
        if line.startswith("$ ")
    ]
    assert len(commands) >= 10
    for command in commands:
        program, *words = shlex.split(command)
        assert program == "netwright"
        assert run(words) == 0, f"{command}\n{capsys.readouterr().err}"


@pytest.mark.parametrize("block", [text for language, text in BLOCKS if language == "python"])
def test_every_line_of_python_runs(
    desk: Path, block: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out


def test_the_make_targets_exist() -> None:
    makefile = (Path(__file__).parent.parent / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\S+)", README, flags=re.MULTILINE):
        assert f"\n{target}:" in makefile
