"""Make the pictures of the lessons and of the README again: `make pictures` (needs Chromium).

The lessons' own code draws theirs; the README shows a real report and a part of the
ledger in a real browser.
"""

import contextlib
import re
import shlex
import shutil
import tempfile
from pathlib import Path

from tests.browser import browsing

import netwright as nw
from netwright.apps.cli.main import run
from netwright.theory.catalog import CLAIMS
from netwright.theory.ledger import check_claim
from netwright.theory.ledger_page import ledger_page

DOCS = Path(__file__).parent
PICTURES = DOCS / "pictures"


def draw_lesson(lesson: Path, desk: Path) -> None:
    """Run the code and the commands of a page, and keep the pictures that it shows."""
    page = lesson.read_text(encoding="utf-8")
    wanted = re.findall(r"\(pictures/(\S+)\)", page)
    names: dict[str, object] = {}
    for language, block in re.findall(r"```(python|console)\n(.*?)```", page, re.DOTALL):
        if wanted and language == "python":
            exec(compile(block, lesson.name, "exec"), names)
        elif wanted:
            for line in block.splitlines():
                run(shlex.split(line)[2:])
    for name in wanted:
        shutil.copy(desk / name, PICTURES / name)


def draw_report(desk: Path) -> None:
    """The first screen of the report that `netwright train` leaves."""
    page = nw.fit("mlp", "digits", quiet=True, out=desk / "run").report()
    with browsing() as browser:
        browser.open(page, width=1200, height=900)
        browser.screenshot(PICTURES / "report.png", height=1480)


def draw_ledger(desk: Path) -> None:
    """Two claims of the ledger, one that holds and one that does not."""
    entries = [check_claim(name, CLAIMS.load(name)) for name in ("novikoff", "nesterov-misprint")]
    page = desk / "ledger.html"
    page.write_text(ledger_page(entries, seed=0, size="quick"), encoding="utf-8")
    with browsing() as browser:
        browser.open(page, width=1200, height=900)
        browser.screenshot(PICTURES / "ledger.png", height=1480)


def main() -> None:
    """Draw everything in a folder of its own."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for lesson in sorted(DOCS.glob("[0-9]-*.md")):
            draw_lesson(lesson, Path(folder))
        draw_report(Path(folder))
        draw_ledger(Path(folder))


if __name__ == "__main__":
    main()
