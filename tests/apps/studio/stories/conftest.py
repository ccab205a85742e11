"""A studio of an empty folder, and a real browser without a network that was let in."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.studio.browser import CHROMIUM, Browser

STORY = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium"),
]
SHORT = ("--epochs", "3", "--quiet", "--no-report")
PICTURES = "Number(document.querySelector('#stage').dataset.pictures || 0)"


def typed(folder: Path, *words: str) -> "subprocess.Popen[bytes]":
    """A command in a terminal of its own."""
    return subprocess.Popen([sys.executable, "-m", "netwright", *words], cwd=folder)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A studio of an empty folder."""
    pytest.importorskip("uvicorn")
    from tests.apps.studio.test_opening import first_line

    words = [sys.executable, "-m", "netwright", "studio", "work", "--port", "0"]
    (tmp_path / "work").mkdir()
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        yield first_line(process).split(": ", 1)[1].strip()
    finally:
        process.terminate()
        process.wait(60)
        if process.stderr is not None:
            process.stderr.close()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


@pytest.fixture
def browser(tmp_path: Path, address: str) -> Iterator[Browser]:
    """A browser that was let in; at its end nothing went wrong and nothing left the machine."""
    with Browser(tmp_path / "profile") as page:
        page.go(address)
        yield page
        assert page.troubles == []
        home = address.partition("/enter")[0]
        assert all(one.startswith((home, "data:", "about:", "blob:")) for one in page.requests)


def home(address: str) -> str:
    return address.partition("/enter")[0]
