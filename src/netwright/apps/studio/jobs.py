"""Commands that the studio starts: each is a process of its own, which outlives the studio.

What a process prints goes to a file in the folder, `.studio/`; the last line of one that failed is
the sentence that says why.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from netwright.apps.server.refusal import try_later
from netwright.core.files.inside import parent_of
from netwright.core.files.storage import make_folder, read_bytes

LOGS = ".studio"
MOST_RUNNING = 8
MOST_KEPT = 20
LOG_BYTES = 20_000  # of a file that are read for its last line


@dataclass(frozen=True)
class Job:
    """A command that was started.

    Args:
        words: the command, as one types it.
        log: the file that it prints to.
        process: of the command.
    """

    words: str
    log: Path
    process: "subprocess.Popen[bytes]"

    def to_json(self) -> dict[str, str | int | None]:
        """What the page shows of it."""
        code = self.process.poll()
        return {
            "command": self.words,
            "pid": self.process.pid,
            "code": code,
            "said": "" if code in {None, 0, 143} else self.last_line(),
        }

    def last_line(self) -> str:
        """What it printed last."""
        try:
            lines = read_bytes(self.log).decode("utf-8", "replace")[-LOG_BYTES:].split("\n")
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


class Jobs:
    """The commands that this studio has started.

    Args:
        folder: where they run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._jobs: list[Job] = []

    def start(self, arguments: Sequence[str], words: str) -> Job:
        """Start `netwright ARGUMENTS` in the folder."""
        if sum(job.process.poll() is None for job in self._jobs) >= MOST_RUNNING:
            raise try_later(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"{MOST_RUNNING} commands of this studio are running: wait for one to end",
            )
        make_folder(self.folder / LOGS)
        log = self.folder / LOGS / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(3).hex()}.log"
        with parent_of(log, self.folder) as parent:
            handle = parent.new_file(log.name)
        try:
            process = subprocess.Popen(
                # -P: the folder holds data, not code
                [sys.executable, "-P", "-m", "netwright", *arguments],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=handle,
                stderr=handle,
                env={**os.environ, "NO_COLOR": "1"},
                start_new_session=True,  # Ctrl-C in the studio's terminal is not for it
            )
        finally:
            with suppress(OSError):
                os.close(handle)
        job = Job(words, log, process)
        self._jobs = [*self._jobs[-MOST_KEPT:], job]
        return job

    def to_json(self) -> list[dict[str, str | int | None]]:
        """All of them, the newest first."""
        return [job.to_json() for job in reversed(self._jobs)]
