"""One small run of two ranks, to be hurt: forked from a warm process, or started by the command."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from netwright.core.errors import NetwrightError
from netwright.core.terminal.console import print_error
from netwright.recipes.fitting.fit import fit
from netwright.train.callback import Callback
from tests.forked_ranks import start_ranks

# Every kind of state: dropout draws, batch norm counts, Adam remembers, validation chooses.
MODEL: dict[str, Any] = {"hidden": (16, 8), "dropout": 0.2, "batch_norm": True}
TRAIN: dict[str, Any] = {"epochs": 6, "batch_size": 25, "save_steps": 6, "log_every": 4}
STEPS = 6 * 12  # 280 rows
TIMEOUT = 60.0  # seconds that a rank may let the other wait
LIMIT = 600.0  # seconds for what should take a few
Bug = Callable[[], None]


def train_rank(
    out: Path,
    timeout: float,
    allow: Sequence[str],
    callbacks: Sequence[Callback],
    bug: Bug | None,
    settings: Mapping[str, Any],
) -> None:
    """Train or go on; end as the command does."""
    if bug is not None:
        bug()
    try:
        fit(
            "mlp",
            "moons",
            out=out,
            resume="auto",
            allow=allow,
            callbacks=callbacks,
            quiet=True,
            rank_timeout=timeout,
            **{**MODEL, **TRAIN, **settings},
        )
    except NetwrightError as error:
        print_error(str(error))
        sys.exit(error.exit_code)


class RankRun(Protocol):
    """A run of two ranks under way; `pids` are theirs, in their order."""

    out: Path

    @property
    def pids(self) -> list[int]: ...

    def wait(self, lost: int | None = None) -> bool:
        """Whether all ranks but a lost one end in time."""
        ...

    def is_over(self, lost: int | None = None) -> bool:
        """Whether all ranks but a lost one have ended by now."""
        ...

    def said(self) -> str:
        """What they wrote to standard error."""
        ...

    def close(self, lost: int | None = None) -> int:
        """Kill what still works; how many those were, beside a lost one that nobody watches."""
        ...


class ForkedRun:
    """Two or more ranks with nobody who watches over them."""

    def __init__(
        self,
        out: Path,
        *,
        world: int = 2,
        timeout: float = TIMEOUT,
        allow: Sequence[str] = (),
        callbacks: Sequence[Callback] = (),
        bug: Bug | None = None,
        settings: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.out, self.notes = out, new_notes(out)
        given = (out, timeout, allow, callbacks, bug, dict(settings))
        self.ranks = start_ranks(self.notes, world, train_rank, *given)

    @property
    def pids(self) -> list[int]:
        return [rank.pid or 0 for rank in self.ranks]

    def wait(self, lost: int | None = None) -> bool:
        until = time.monotonic() + LIMIT
        for number, rank in enumerate(self.ranks):
            if number != lost:
                rank.join(max(0.0, until - time.monotonic()))
        return self.is_over(lost)

    def is_over(self, lost: int | None = None) -> bool:
        others = [rank for number, rank in enumerate(self.ranks) if number != lost]
        return not any(rank.is_alive() for rank in others)

    def said(self) -> str:
        return "".join(file.read_text() for file in sorted(self.notes.glob("errors-*")))

    def close(self, lost: int | None = None) -> int:
        left = [number for number, rank in enumerate(self.ranks) if rank.is_alive()]
        for rank in self.ranks:
            rank.kill()
            rank.join()
        return len([number for number in left if number != lost])


class LaunchedRun:
    """Two ranks of `netwright train --nproc 2`."""

    def __init__(self, out: Path, *, timeout: float = TIMEOUT) -> None:
        self.out, self.errors = out, new_notes(out) / "errors"
        settings = [
            f"{section}.{name}={','.join(map(str, value)) if isinstance(value, tuple) else value}"
            for section, values in (("model", MODEL), ("train", {**TRAIN, "rank_timeout": timeout}))
            for name, value in values.items()
        ]
        options = [part for setting in settings for part in ("--set", setting)]
        command = ["train", "mlp", "moons", "--nproc", "2", "--out", str(out), "--resume", "auto"]
        with self.errors.open("wb") as file:
            self.launcher = subprocess.Popen(
                [sys.executable, "-m", "netwright", *command, "-q", "--no-report", *options],
                stdout=subprocess.DEVNULL,
                stderr=file,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        self.known: dict[int, int] = {}

    @property
    def pids(self) -> list[int]:
        return [self.known[rank] for rank in sorted(self.known)]

    def find_ranks(self) -> None:
        """Look for the launcher's children; each says in its environment which rank it is."""
        launcher = self.launcher.pid
        listed = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
        for pid in listed:
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            rank = next(line for line in environment if line.startswith(b"RANK="))
            self.known[int(rank[5:])] = int(pid)

    def wait(self, lost: int | None = None) -> bool:
        try:
            self.launcher.wait(LIMIT)
        except subprocess.TimeoutExpired:
            return False
        return True

    def is_over(self, lost: int | None = None) -> bool:
        return self.launcher.poll() is not None

    def said(self) -> str:
        return self.errors.read_text()

    def close(self, lost: int | None = None) -> int:
        left = [pid for pid in self.pids if Path(f"/proc/{pid}").exists()]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.launcher.kill()
        self.launcher.wait()
        return len(left)


def new_notes(out: Path) -> Path:
    """An empty folder beside a run folder."""
    number = len(list(out.parent.glob(f"{out.name}-notes-*")))
    folder = out.parent / f"{out.name}-notes-{number}"
    folder.mkdir()
    return folder


def wait_for_step(run: RankRun, step: int) -> None:
    """Wait until a checkpoint of this step or a later one is there."""
    wait_until(run, lambda: newest_step(run.out) >= step)
    if isinstance(run, LaunchedRun):
        run.find_ranks()


def wait_until(run: RankRun, is_so: Callable[[], bool]) -> None:
    """Wait for what a run does on its way; one that has ended, or takes too long, fails."""
    until = time.monotonic() + LIMIT
    is_last = False
    while not is_so():
        assert not is_last, run.said()
        is_last = run.is_over() or time.monotonic() > until
        time.sleep(0.005)


def newest_step(out: Path) -> int:
    found = [int(path.name.split("-")[1]) for path in (out / "checkpoints").glob("step-*")]
    return max(found, default=0)


def finish(run: RankRun) -> bool:
    """Let a run come to its end; whether it did."""
    ended = run.wait()
    return run.close() == 0 and ended and (run.out / "results.json").exists()
