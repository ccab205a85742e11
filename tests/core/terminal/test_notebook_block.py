"""One block in a notebook: drawn in its place, escaped, and only where there is a notebook."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from netwright.core.terminal.console import Bar
from netwright.core.terminal.notebook_block import MOST_LINES, NotebookBlock, notebook_display


class Notebook:
    """Stands in for IPython's display: what each block shows, after each drawing."""

    def __init__(self) -> None:
        self.blocks: list[list[dict[str, str]]] = []

    def display(self, content: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        drawings = [content]
        self.blocks.append(drawings)
        return SimpleNamespace(update=lambda content, raw: drawings.append(content))

    @property
    def shown(self) -> str:
        """The one block, as it looks now."""
        (drawings,) = self.blocks
        return drawings[-1]["text/html"]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    made, shell = Notebook(), SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=made.display))
    return made


@pytest.mark.parametrize("shell", [None, SimpleNamespace(name="in a terminal")])
def test_a_shell_in_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch, shell: Any) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert notebook_display() is None
    monkeypatch.delitem(sys.modules, "IPython")
    assert notebook_display() is None


def test_epochs_are_lines_of_one_block(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("netwright.core.terminal.console.time.monotonic", lambda: now)
    bar = Bar(40)
    assert bar.is_live
    assert "training" in notebook.shown
    for epoch in range(1, 5):
        now += 1
        bar.move(10 * epoch, f"epoch {epoch}")
        bar.line(f"epoch {epoch} is over")
    assert "value='40' max='40'" in notebook.shown
    assert "epoch 3 is over" in notebook.shown
    bar.close()
    bar.line("and why")
    assert "<progress" not in notebook.shown
    assert "epoch 4 is over\nand why</pre>" in notebook.shown
    assert capsys.readouterr() == ("", "")


def test_it_is_drawn_a_few_times_a_second(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("netwright.core.terminal.console.time.monotonic", lambda: now)
    bar = Bar(64)
    for step in range(64):
        bar.move(step, "epoch 1")
        bar.line(f"line {step}")
        now += 1 / 64
    (drawings,) = notebook.blocks
    assert len(drawings) == 1 + 4  # the first, then every 0.25 s
    bar.close()
    assert all(f"line {step}" in notebook.shown for step in range(64))


@pytest.mark.usefixtures("notebook")
def test_a_quiet_bar_shows_none(notebook: Notebook) -> None:
    bar = Bar(10, quiet=True)
    bar.move(3, "epoch 1")
    bar.line("a line")
    bar.close()
    assert not (bar.is_live or notebook.blocks)


def test_text_of_data_stays_text() -> None:
    notebook = Notebook()
    block = NotebookBlock(notebook.display, None, "<script>\x1b[2J")
    block.lines.append("<img src=x>\u202e\nfeigned")
    block.draw()
    assert "0/? <code>&lt;script&gt;\\x1b[2J</code>" in notebook.shown
    assert "&lt;img src=x&gt;\\u202e\\nfeigned" in notebook.shown
    assert "value=" not in notebook.shown  # nobody knows how much there is to do
    assert notebook.blocks[0][-1]["text/plain"].endswith("<script>\\x1b[2J")


def test_of_many_lines_the_last_are_shown() -> None:
    notebook = Notebook()
    block = NotebookBlock(notebook.display, 1, "")
    block.lines += [f"line {number}." for number in range(MOST_LINES + 7)]
    block.close()
    assert "... 7 earlier lines\nline 7.\n" in notebook.shown
    assert f"line {MOST_LINES + 6}." in notebook.shown


def test_ipython_itself_updates_one_output(monkeypatch: pytest.MonkeyPatch) -> None:
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    publishers = pytest.importorskip("IPython.core.displaypub")
    shell = interactive.InteractiveShell.instance()
    try:
        shell.kernel = object()
        publisher = publishers.CapturingDisplayPublisher()
        monkeypatch.setattr(shell, "display_pub", publisher)
        bar = Bar(2)
        bar.line("epoch 1")
        bar.close()
    finally:
        interactive.InteractiveShell.clear_instance()
    first, *others = publisher.outputs
    assert not first["update"]
    assert others
    assert all(output["update"] for output in others)
    assert {output["transient"]["display_id"] for output in publisher.outputs} == {
        first["transient"]["display_id"]
    }
    assert "epoch 1" in publisher.outputs[-1]["data"]["text/html"]
