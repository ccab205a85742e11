"""The lessons run from start to end as they are printed, and print what they say they print."""

import itertools
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netwright.apps.cli.main import COMMANDS, run
from tests.repetition import for_each

DOCS = Path(__file__).parent.parent / "docs"
LESSONS = sorted(DOCS.glob("[0-9]-*.md"))
QUICK = "1"  # lessons that train little; all are run by `make test-slow`
NEEDS = {"4": "mnist/train-images-idx3-ubyte.gz", "8": "islr/NYSE.csv"}  # lesson -> real data
NUMBER = re.compile(r"\d+(?:\.\d+)?")
NEGATIVE_ZERO = re.compile(r"-(?=0(?:\.0+)?(?![\d.]))")  # which sign a zero has, too


def run_lesson(lesson: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run the blocks of a page in order; a block of text is what was printed last."""
    names: dict[str, Any] = {}
    printed = ""
    blocks = re.findall(r"```(\w+)\n(.*?)```", lesson.read_text(encoding="utf-8"), re.DOTALL)
    for language, block in blocks:
        if language == "py":  # a program of another library, to compare with
            continue
        if language == "text":
            check_alike(printed, block)
            continue
        capsys.readouterr()
        if language == "python":
            exec(compile(block, lesson.name, "exec"), names)
        elif language == "console":
            for line in block.splitlines():
                program, *words = shlex.split(line.removeprefix("$ "))
                assert program == "netwright"
                assert run(words) == 0, f"{line}\n{capsys.readouterr().err}"
        printed = capsys.readouterr().out


def check_alike(printed: str, promised: str) -> None:
    """The same words; numbers may differ a little from machine to machine."""
    printed, promised = NEGATIVE_ZERO.sub("", printed), NEGATIVE_ZERO.sub("", promised)
    assert NUMBER.sub("N", printed) == NUMBER.sub("N", promised)
    values = [[float(number) for number in NUMBER.findall(text)] for text in (printed, promised)]
    assert values[0] == pytest.approx(values[1], rel=0.03)


@pytest.mark.parametrize(
    "lesson",
    [
        pytest.param(lesson, marks=() if lesson.name[0] in QUICK else pytest.mark.slow)
        for lesson in LESSONS
    ],
    ids=lambda path: path.stem,
)
def test_the_lesson_runs(
    lesson: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    real_data: Callable[[str], Path],
) -> None:
    if lesson.name[0] in NEEDS:
        real_data(NEEDS[lesson.name[0]])
    monkeypatch.chdir(tmp_path)
    run_lesson(lesson, capsys)
    for picture in re.findall(r"\(pictures/(\S+)\)", lesson.read_text(encoding="utf-8")):
        assert (tmp_path / picture).is_file(), "a picture on the page is made by the page"
        assert (DOCS / "pictures" / picture).is_file()


@for_each("lesson", LESSONS, ids=lambda path: path.stem)
def test_the_code_of_a_lesson_can_be_read_and_its_commands_are_there(lesson: Path) -> None:
    text = lesson.read_text(encoding="utf-8")
    for language, block in re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL):
        if language == "python":
            compile(block, lesson.name, "exec")
        if language == "console":
            for line in block.splitlines():
                assert shlex.split(line.removeprefix("$ "))[1] in COMMANDS


def test_there_are_nine_and_each_leads_on() -> None:
    assert [lesson.name[0] for lesson in LESSONS] == list("123456789")
    for lesson, following in itertools.pairwise(LESSONS):
        assert f"]({following.name})" in lesson.read_text(encoding="utf-8")
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    for lesson in LESSONS:
        assert f"(docs/{lesson.name})" in readme


def test_links_and_pictures_exist() -> None:
    for page in [*LESSONS, DOCS.parent / "README.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), (page.name, target)


@for_each(
    ("printed", "same"),
    [
        ("right on 100%\n", True),
        ("right on 99%\n", True),
        ("right on 90%\n", False),
        ("100%", False),
    ],
)
def test_the_comparison_of_printed_text_can_fail(printed: str, same: bool) -> None:
    if same:
        check_alike(printed, "right on 100%\n")
    else:
        with pytest.raises(AssertionError):
            check_alike(printed, "right on 100%\n")
