"""One command in a process of its own, on a terminal of its own, with limits.

The process is forked from one that has imported everything, which takes a hundredth of the time
that a new Python would. It may have 1 GB more memory than it is born with, so many seconds of the
processor, and files of so many bytes. Nothing here depends on how fast the machine is: a process
hangs when it has used up its seconds of CPU, or when it sleeps and nobody is there to wake it.
"""

import atexit
import os
import pty
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
import tty
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from netwright.apps.cli.main import main
from tests.memory_limit import limit_memory

GIGABYTE = 1 << 30
MEMORY = GIGABYTE  # bytes more than at the start
CPU_SECONDS = 60
ASLEEP_SECONDS = 30  # a process that sleeps as long, without any use of CPU, is not woken again
LARGEST_FILE = GIGABYTE // 4
MOST_KEPT = 1 << 20  # bytes of output
NOT_STARTED = 71  # the exit code where the jail itself failed


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a command.

    Args:
        code: its exit code; negative: the signal that killed it.
        output: what came to the terminal, standard output and standard error together.
        size: the bytes of all output.
        is_hung: it was killed because it would not have ended.
        seconds: of the processor.
    """

    code: int
    output: bytes
    size: int
    is_hung: bool
    seconds: float


def run_jailed(
    arguments: list[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    fresh: bool = False,
    before: Callable[[], None] | None = None,
) -> Outcome:
    """Type a command in a folder, and wait for its end.

    Args:
        arguments: what follows `netwright`.
        folder: the working directory.
        environment: variables that are set for it.
        fresh: start a new Python instead of forking this one.
        before: is called in the new process first.
    """
    terminal, end = pty.openpty()
    tty.setraw(end)  # bytes arrive as they were written
    child = os.fork()
    if child == 0:
        os.close(terminal)
        _be_jailed(end, arguments, folder, environment, fresh=fresh, before=before)
    os.close(end)
    try:
        return _watched(child, terminal)
    finally:
        os.close(terminal)


def _be_jailed(
    end: int,
    arguments: list[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    fresh: bool,
    before: Callable[[], None] | None,
) -> None:
    """What the new process does; it never comes back."""
    try:
        os.setsid()
        for stream in (1, 2):
            os.dup2(end, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout = open(1, "w", encoding="utf-8", buffering=1, closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)
        os.environ.update(environment)
        os.chdir(folder)
        tempfile.tempdir = None
        atexit._clear()  # what the other process has to clear away is not ours
        _set_limits()
        if before is not None:
            before()
        if fresh:
            os.execv(sys.executable, [sys.executable, "-m", "netwright", *arguments])
        main(arguments)
    except BaseException:  # not of the command, which ends the process
        with suppress(BaseException):
            traceback.print_exc()
    finally:
        os._exit(NOT_STARTED)


def _set_limits() -> None:
    limit_memory(MEMORY)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _watched(child: int, terminal: int) -> Outcome:
    """Read what a process writes until it ends; kill it where it would not."""
    ended = os.pidfd_open(child)
    output, size, is_hung = b"", 0, False
    seen, since = (-1, ""), time.monotonic()
    sources = [terminal, ended]
    while True:
        ready, _, _ = select.select(sources, [], [], 0.05)
        if terminal in ready:
            part = _read(terminal)
            size += len(part)
            output += part[: max(0, MOST_KEPT - len(output))]
            if part:
                continue
            sources.remove(terminal)  # closed: it would be ready for ever
        if ended in ready:
            break
        now = _busy(child)
        if now != seen or now[1] != "S":
            seen, since = now, time.monotonic()
        elif time.monotonic() - since > ASLEEP_SECONDS:
            is_hung = True
            os.killpg(child, signal.SIGKILL)
    os.close(ended)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # its own children
    _, code, used = os.wait4(child, 0)
    status = os.waitstatus_to_exitcode(code)
    while part := _left(terminal):
        size += len(part)
        output += part[: max(0, MOST_KEPT - len(output))]
    return Outcome(
        code=status,
        output=output,
        size=size,
        is_hung=is_hung or status in {-signal.SIGXCPU, -signal.SIGKILL},
        seconds=used.ru_utime + used.ru_stime,
    )


def _left(terminal: int) -> bytes:
    """What is there to be read without a wait."""
    ready, _, _ = select.select([terminal], [], [], 0)
    return _read(terminal) if ready else b""


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other end is closed
        return b""


def _busy(child: int) -> tuple[int, str]:
    """How much CPU a process has used, and its state: S sleeps."""
    try:
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return -1, ""
    return int(fields[11]) + int(fields[12]), fields[0]
