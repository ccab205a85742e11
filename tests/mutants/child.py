"""A forked process for one piece of work: with limits, an own folder, and an answer in JSON."""

import contextlib
import gc
import json
import os
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.memory_limit import limit_memory

GIGABYTE = 1024**3
MEMORY = 6 * GIGABYTE  # above what the process has at its start


@dataclass(frozen=True)
class Answer:
    """What became of the work.

    Args:
        value: what it gave; None where the process ended without an answer.
        timed_out: whether it was stopped at its limit of time.
    """

    value: Any
    timed_out: bool = False


class Child:
    """A forked process that does the work in a new folder, which is its current one.

    Args:
        work: takes the folder, gives what JSON can hold.
        cpu: seconds of computing after which it is stopped; with them its memory is limited.
        wall: seconds after which it is stopped.
    """

    def __init__(
        self, work: Callable[[Path], Any], *, cpu: float | None = None, wall: float | None = None
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mutant-"))
        self.end = None if wall is None else time.monotonic() + wall
        self.process = os.fork()
        if self.process == 0:
            _run(work, self.folder, cpu)

    def poll(self) -> Answer | None:
        """The answer, if the process has ended or its time is over."""
        done, status = os.waitpid(self.process, os.WNOHANG)
        late = self.end is not None and time.monotonic() > self.end
        if not done and not late:
            return None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)  # and whatever it left behind
        if not done:
            os.waitpid(self.process, 0)
        try:
            if not done or _was_stopped(status):
                return Answer(None, timed_out=True)
            answer = self.folder / "answer.json"
            return Answer(json.loads(answer.read_text()) if answer.exists() else None)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def wait(self) -> Answer:
        """The answer, when it comes."""
        pause = 0.002
        while (answer := self.poll()) is None:
            time.sleep(pause)
            pause = min(0.05, 1.5 * pause)
        return answer


def run_all(works: Iterable[Callable[[Path], Any]], jobs: int) -> Iterator[Answer]:
    """The answers of these works as they come, so many processes at a time."""
    waiting, running = list(works)[::-1], list[Child]()
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(Child(waiting.pop()))
        answers = [(child, child.poll()) for child in running]
        running = [child for child, answer in answers if answer is None]
        yield from (answer for _, answer in answers if answer is not None)
        time.sleep(0.01)


def _was_stopped(status: int) -> bool:
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) in {signal.SIGXCPU, signal.SIGKILL}


def _run(work: Callable[[Path], Any], folder: Path, cpu: float | None) -> None:
    """In the child: never returns."""
    try:
        gc.freeze()  # what is there already would be copied page by page when it is gone over
        os.setsid()
        output = os.open(folder / "output.txt", os.O_WRONLY | os.O_CREAT)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(folder)
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        if cpu is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 5))
            limit_memory(MEMORY)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        answer = json.dumps(work(folder))
        (folder / "answer.part").write_text(answer)
        os.replace(folder / "answer.part", folder / "answer.json")
    finally:
        os._exit(0)
