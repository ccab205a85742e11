"""Ctrl-C at the start of a command: 130, and not a word; whatever is being imported."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from netwright.apps.cli.start import INTERRUPTED, is_loading

# Sends the signal when a module is about to be imported, then begins as `python -m netwright` does.
AT_IMPORT = """
import os, signal, sys
wanted = sys.argv.pop(1)
class Spy:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Spy())
from netwright.apps.cli.start import main
main()
"""
# The command is one that does what follows.
INSTEAD = """
import os, signal, sys
import netwright.apps.cli.main as command
from netwright.apps.cli.start import main
def run(arguments):
    {}
    return 0
command.run = run
main()
"""
TRAIN = ("train", "mlp", "xor", "--set", "train.epochs=1", "--set", "data.n=40", "--no-report")


def done(code: str, *words: str, folder: Path, **options: Any) -> tuple[int, str]:
    """Run Python code in a folder: its exit code, and all that it said."""
    command = [sys.executable, "-c", code, *words]
    ended = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, **options
    )
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "module",
    [
        "netwright.apps.cli.main",
        "typer",
        "netwright.core.errors",
        "netwright.core.terminal.console",
        "torch",
        "torch._C",
    ],
)
def test_while_a_module_is_imported_it_ends_at_once_and_leaves_nothing(
    tmp_path: Path, module: str
) -> None:
    assert done(AT_IMPORT, module, *TRAIN, folder=tmp_path) == (INTERRUPTED, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "body",
    [
        "os.kill(os.getpid(), signal.SIGINT)",
        # foreign code makes another exception of it
        """try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        raise RuntimeError("initialization failed") from None""",
        # a destructor cannot raise it
        """class Dying:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)
    Dying()""",
    ],
)
def test_whatever_becomes_of_the_exception_it_ends_with_130(tmp_path: Path, body: str) -> None:
    assert done(INSTEAD.format(body), folder=tmp_path) == (INTERRUPTED, "")


def test_other_exceptions_are_shown_as_ever(tmp_path: Path) -> None:
    code, said = done(INSTEAD.format("raise RuntimeError('a bug of ours')"), folder=tmp_path)
    assert code == 1
    assert said.endswith("RuntimeError: a bug of ours\n")


def test_in_the_background_where_it_is_ignored_it_stays_ignored(tmp_path: Path) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    body = "os.kill(os.getpid(), signal.SIGINT)"
    code, said = done(INSTEAD.format(body), folder=tmp_path, preexec_fn=ignore)
    assert (code, said) == (0, "")


def test_when_the_command_is_over_it_changes_nothing(tmp_path: Path) -> None:
    body = "import atexit; atexit.register(os.kill, os.getpid(), signal.SIGINT)"
    assert done(INSTEAD.format(body), folder=tmp_path) == (0, "")


def test_only_imports_of_the_command_itself_count_as_loading() -> None:
    assert not is_loading(None)
    assert not is_loading(sys._getframe())


@pytest.mark.slow
@pytest.mark.parametrize("words", [TRAIN, ("list", "models"), ("--version",)])
def test_at_any_moment_it_is_130_or_a_clean_end(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Only before `main` is called may Python itself have something to say."""
    for hundredths in range(0, 120, 4):
        folder = tmp_path / str(hundredths)
        folder.mkdir()
        process = subprocess.Popen(
            [sys.executable, "-m", "netwright", *words],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(hundredths / 100)
        os.kill(process.pid, signal.SIGINT)
        said = process.communicate()[1]
        if "Traceback" in said:
            assert not re.search(r'apps/cli/start\.py", line \d+, in main', said), said
        else:
            assert process.returncode in {0, INTERRUPTED, -signal.SIGINT}, said


COLLECTED = """
import gc, weakref
from netwright.apps.cli import start
usual, frozen, start.LOADED = gc.get_threshold(), gc.get_freeze_count(), 20_000
start.collect_after_loading()
class Node: pass
def cycle():
    node = Node()
    node.itself = node
    return weakref.ref(node)
first = cycle()
few = [[] for _ in range(2_000)]
print(gc.get_freeze_count() > frozen, first() is not None)  # more than Python waits for by itself
loaded = [[] for _ in range(20_000)]
second = cycle()
print(gc.get_freeze_count() >= frozen + 20_000, gc.get_threshold() == usual, gc.callbacks)
more = [[] for _ in range(2_000)]
print(second() is None)
"""


def test_the_collector_begins_when_all_is_loaded_and_leaves_that_out(tmp_path: Path) -> None:
    code, said = done(COLLECTED, folder=tmp_path)
    assert (code, said.split("\n")) == (0, ["False True", "True True []", "True", ""])
