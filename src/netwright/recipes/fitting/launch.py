"""Start several processes of one command on this machine, watch over them, and leave none behind.

Nothing listens here: the processes meet in a private file. torch is not imported either, so that
they start at once. See `netwright.train.ranks` for what they are to each other.
"""

import ctypes
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from netwright.core.errors import ConfigError, PeerError
from netwright.core.terminal.console import print_error, print_message
from netwright.core.terminal.interrupts import EXIT_CODES, Interrupt

LOST_PEER = PeerError.exit_code  # of a rank that lost another one, and is not to blame
ENDED_WELL = {0, *EXIT_CODES.values()}
MOST_OF_A_CORE = 8  # processes: a slip of the finger would take the memory of the whole machine
LAST_WORDS = 1.5  # seconds in which the others may end by themselves after one has failed
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
ADVICE = "the run is saved up to its last checkpoint: resume it with --resume auto"


@dataclass(frozen=True)
class Rank:
    """One of the processes.

    Args:
        number: its rank, from 0.
        process: the process itself, first of its own process group.
        errors: the file of its standard error; rank 0 writes to the launcher's.
    """

    number: int
    process: subprocess.Popen[bytes]
    errors: Path

    @property
    def code(self) -> int | None:
        """The exit code, -N where signal N killed it, None while it works."""
        return self.process.poll()

    def __str__(self) -> str:
        return f"rank {self.number} (process {self.process.pid})"


def launch(arguments: list[str], processes: int, timeout: float) -> int:
    """Run `netwright ARGUMENTS` in several processes that form one group; give its exit code.

    Rank 0 speaks for all. When one fails, the others are ended, and one sentence names it. Ctrl-C
    and SIGTERM are passed on once; a second one ends all at once.

    Args:
        arguments: of the command, as they were typed; one that asks for several processes is
            for the command to ignore where RANK is set.
        processes: how many.
        timeout: seconds that the others may need when the first has come to its end; rank 0, which
            writes for all, has as many as it wants when only it is left.
    """
    if processes < 1:
        raise ConfigError(f"there must be 1 process or more, got {processes}")
    most = MOST_OF_A_CORE * (cores := os.cpu_count() or 1)
    if processes > most:
        raise ConfigError(
            f"at most {most} processes may be started on this machine, {MOST_OF_A_CORE} for each "
            f"of its {cores} cores, got {processes}"
        )
    ranks: list[Rank] = []
    with tempfile.TemporaryDirectory(prefix="netwright-") as folder, Interrupt() as interrupt:
        try:
            for number in range(processes):
                if ranks and interrupt.signal is not None:  # passed on to those that began
                    break
                ranks.append(_start(arguments, number, processes, Path(folder)))
            late = _watch(ranks, interrupt, timeout)
            return _conclude(ranks, late, timeout)
        finally:
            _kill(ranks)


def rank_environment(number: int, processes: int, folder: Path) -> dict[str, str]:
    """The variables by which a process knows which of several on this machine it is.

    Args:
        number: from 0.
        processes: how many there are.
        folder: private, in which they meet.
    """
    return {
        "RANK": str(number),
        "LOCAL_RANK": str(number),
        "WORLD_SIZE": str(processes),
        "LOCAL_WORLD_SIZE": str(processes),
        "NETWRIGHT_RENDEZVOUS": str(folder / "meeting"),
    }


def _start(arguments: list[str], number: int, processes: int, folder: Path) -> Rank:
    errors = folder / f"rank-{number}"
    threads = max(1, (os.cpu_count() or 1) // processes)
    environment = {
        "OMP_NUM_THREADS": str(threads),
        **os.environ,
        **rank_environment(number, processes, folder),
    }
    with errors.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "netwright", *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=None if number == 0 else subprocess.DEVNULL,
            stderr=None if number == 0 else file,
            process_group=0,  # Ctrl-C in a terminal reaches the launcher alone, which passes it on
            preexec_fn=_bind_to_launcher(),  # noqa: PLW1509 - no threads here
        )
    return Rank(number, process, errors)


def _bind_to_launcher() -> Callable[[], None] | None:
    """What a new process does first: on Linux it asks to be killed when the launcher ends."""
    if sys.platform != "linux":
        return None
    launcher, libc = os.getpid(), ctypes.CDLL(None)

    def bind() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != launcher:  # it ended before we asked
            os._exit(1)

    return bind


def _watch(ranks: list[Rank], interrupt: Interrupt, timeout: float) -> list[Rank]:
    """Wait for all; give those that are late when another has failed, or ended long ago."""
    is_passed_on = False
    patience = until = math.inf
    while working := [rank for rank in ranks if rank.code is None]:
        if interrupt.signal is not None and not is_passed_on:
            is_passed_on = True
            for rank in working:
                rank.process.send_signal(interrupt.signal)
        before, patience = patience, _patience(ranks, timeout)
        now = time.monotonic()
        if patience != before:
            until = now + patience
        if now >= until:
            break
        time.sleep(0.05)
    return working


def _patience(ranks: list[Rank], timeout: float) -> float:
    """Seconds that the ranks which still work may need, from the moment that this changes."""
    codes = [rank.code for rank in ranks]
    ended = {code for code in codes if code is not None}
    if ended - ENDED_WELL:
        return LAST_WORDS
    only_first_works = None not in codes[1:]
    return timeout if ended and not only_first_works else math.inf


def _conclude(ranks: list[Rank], late: list[Rank], timeout: float) -> int:
    """Say what went wrong, in the words of the rank to blame; the exit code of all."""
    codes = {rank: code for rank in ranks if rank not in late and (code := rank.code) is not None}
    killed = [rank for rank, code in codes.items() if code < 0]
    failed = [rank for rank, code in codes.items() if code not in {*ENDED_WELL, LOST_PEER}]
    bereft = [rank for rank, code in codes.items() if code == LOST_PEER]
    for rank in killed[:1] or failed[:1] or bereft[:1]:
        for line in rank.errors.read_text(errors="replace").splitlines():
            print_message(f"rank {rank.number}: {line}")
    if killed:
        name = signal.Signals(-codes[killed[0]]).name
        print_error(f"{killed[0]} was killed by {name}; {ADVICE}")
        return 1
    if failed:
        return codes[failed[0]]
    if bereft:
        print_message(ADVICE)
        return 1
    if late:  # the last of them: rank 0 is never late alone
        print_error(f"{late[-1]} did not exit within {timeout:g} s after the others; {ADVICE}")
        return 1
    return max(codes.values())


def _kill(ranks: list[Rank]) -> None:
    """End what is left of the ranks and of the processes that they started; stopped ones too."""
    for rank in ranks:
        try:
            os.killpg(rank.process.pid, signal.SIGKILL)
        except ProcessLookupError:  # nobody is left
            pass
        rank.process.wait()
