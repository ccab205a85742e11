"""The guides for engineers run as they are printed, and no program is longer than the other's."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_lessons import DOCS, run_lesson

GUIDES = sorted(DOCS.glob("[a-z]*.md"))
COMING_FROM = DOCS / "coming-from.md"


def lines_of(block: str) -> int:
    """Lines of code, without empty ones and imports, which the other side does not show."""
    lines = [line.strip() for line in block.splitlines()]
    return sum(bool(line) and not line.startswith(("import ", "from ")) for line in lines)


def programs() -> Iterator[tuple[str, str, str]]:
    """The title of each job, the program of the other library, and ours."""
    page = COMING_FROM.read_text(encoding="utf-8")
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        theirs, ours = re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)
        yield section.partition("\n")[0], theirs, ours


def test_there_are_ten_programs_of_at_most_the_same_length() -> None:
    found = list(programs())
    assert len(found) == 10
    for title, theirs, ours in found:
        assert lines_of(ours) <= lines_of(theirs), title


@pytest.mark.slow
@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_the_guide_runs(
    guide: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    run_lesson(guide, capsys)


def test_each_guide_is_linked_from_the_readme() -> None:
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    for guide in GUIDES:
        assert f"(docs/{guide.name})" in readme
