"""Two runs in one folder: exactly one wins, and a dead owner never stands in the way."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from netwright.core.files.folder_lock import LOCK
from tests.faults.scenario import Figures, Scenario

RACES, STALE = 20, 10

# Reads folders and answers "won" or the refusal; an empty line ends the hold, "fork" leaves a
# child behind that has nothing to do with the folder.
CONTENDER = """
import os, sys, time
from contextlib import ExitStack
from pathlib import Path
from netwright.core.errors import RunError
from netwright.core.files.folder_lock import FolderLock
held = ExitStack()
for line in sys.stdin:
    said = ""
    if line == "fork\\n":
        child = os.fork()
        if not child:
            os.close(0), os.close(1), time.sleep(60), os._exit(0)
        said = child
    elif line == "\\n":
        held.close()
    else:
        try:
            held.enter_context(FolderLock(Path(line[:-1])))
            said = "won"
        except RunError as error:
            said = error
    print(said, flush=True)
"""


class Contender:
    """Another process that takes locks when it is told to."""

    def __init__(self, bug: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", bug + CONTENDER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, line: Path | str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def tell(self, line: Path | str) -> str:
        self.ask(line)
        return self.answer()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def contenders(count: int, bug: str) -> Iterator[list[Contender]]:
    started = [Contender(bug) for _ in range(count)]
    try:
        yield started
    finally:
        for contender in started:
            contender.kill()


def race(folder: Path, pair: list[Contender]) -> bool:
    """Start two at once; whether one won, and the other was told who."""
    folder.mkdir()
    for contender in pair:
        contender.ask(folder)
    answers = [contender.answer() for contender in pair]
    for contender in pair:
        contender.tell("")
    if sorted(answer == "won" for answer in answers) != [False, True]:
        return False
    winner = pair[answers.index("won")].process.pid
    owner = f"process {winner} on {os.uname().nodename}"
    refusal = f"{folder} is in use by {owner}; wait for it to end, or give another folder"
    return refusal in answers and (folder / LOCK).read_bytes() == b""


def is_freed(folder: Path, owner: Contender, heir: Contender, number: int) -> bool:
    """Kill an owner; whether the next one gets the folder at once.

    Every second owner leaves a child behind; every third has its number in the file replaced by
    that of a process that lives.
    """
    folder.mkdir()
    owner.tell(folder)
    child = int(owner.tell("fork")) if number % 2 else None
    owner.kill()
    try:
        if json.loads((folder / LOCK).read_text())["pid"] != owner.process.pid:
            return False  # it was not the owner: nothing was tried
        if number % 3 == 0:
            reused = {"pid": os.getpid(), "host": os.uname().nodename}
            (folder / LOCK).write_text(json.dumps(reused))
        answer = heir.tell(folder)
        heir.tell("")
        return answer == "won"
    finally:
        if child is not None:
            os.kill(child, signal.SIGKILL)


def measure(folder: Path, bug: str = "") -> Figures:
    """Make every race and every stale lock; `bug` is code that runs first in every contender."""
    with contenders(2, bug) as pair:
        won = sum(race(folder / f"race-{number}", pair) for number in range(RACES))
    with contenders(STALE + 1, bug) as (heir, *owners):
        freed = sum(
            is_freed(folder / f"stale-{number}", owner, heir, number)
            for number, owner in enumerate(owners)
        )
    return Figures(
        n=RACES + STALE,
        passed=won + freed,
        counts={"single winners": won, "stale locks freed": freed},
    )


SCENARIO = Scenario(
    code="T13",
    title="Two runs in one folder",
    measure=measure,
    least={"single winners": RACES, "stale locks freed": STALE},
)


def test_one_of_two_owners_wins_and_a_dead_one_never_blocks(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures


@pytest.mark.slow
def test_planted_bug_no_lock_is_found(tmp_path: Path) -> None:
    figures = measure(tmp_path, "import fcntl; fcntl.flock = lambda *args: None\n")
    assert figures.counts["single winners"] == 0


@pytest.mark.slow
def test_planted_bug_children_keep_the_lock_is_found(tmp_path: Path) -> None:
    figures = measure(tmp_path, "import os; os.register_at_fork = lambda **hooks: None\n")
    assert figures.counts == {"single winners": RACES, "stale locks freed": STALE // 2}


PID_FILE = """
import os, sys
from types import ModuleType
from netwright.core.errors import RunError

class FolderLock:
    def __init__(self, folder):
        self.path = folder / ".lock"
    def __enter__(self):
        try:
            with self.path.open("x") as file:
                file.write('{"pid": %d, "host": "%s"}' % (os.getpid(), os.uname().nodename))
        except FileExistsError:
            raise RunError("it is in use") from None
    def __exit__(self, *error):
        self.path.unlink()

broken = sys.modules["netwright.core.files.folder_lock"] = ModuleType("broken")
broken.FolderLock = FolderLock
"""


@pytest.mark.slow
def test_planted_bug_a_file_as_lock_is_found(tmp_path: Path) -> None:
    figures = measure(tmp_path, PID_FILE)
    assert figures.passed == 0
