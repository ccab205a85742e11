"""Every command and every line of Python in the README runs, in order, as it is printed."""

import re
import shlex
from pathlib import Path

import pytest
from PIL import Image

from netwright.apps.cli.main import run

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)
FLOWERS = "petal_length,petal_width,species\n" + "".join(
    f"{1.0 + step * 0.1:.1f},{0.2 + step * 0.05:.2f},{'setosa' if step < 20 else 'virginica'}\n"
    for step in range(40)
)
NOTES = "We met at noon. We spoke of the garden, and of rain.\n" * 30
REVIEWS = "sentence\tlabel\n" + "a fine film\tgood\na dull film\tbad\n" * 20
VISITS = "day,visits\n" + "".join(f"{day},{10.5 + day % 7}\n" for day in range(1, 91))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the files that the README speaks of."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flowers.csv").write_text(FLOWERS, encoding="utf-8")
    (tmp_path / "new.csv").write_text("petal_length,petal_width\n4.7,1.4\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text(NOTES, encoding="utf-8")
    (tmp_path / "reviews.tsv").write_text(REVIEWS, encoding="utf-8")
    (tmp_path / "visits.csv").write_text(VISITS, encoding="utf-8")
    for shade, animal in ((60, "cat"), (180, "dog")):
        (tmp_path / "photos" / animal).mkdir(parents=True)
        for number in range(20):
            photo = Image.new("RGB", (12, 10), (shade + number, number, shade))
            photo.save(tmp_path / "photos" / animal / f"{number}.png")
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
