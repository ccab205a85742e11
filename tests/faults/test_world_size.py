"""A run goes on with one rank, then with two again: each example once an epoch, all on loopback."""

import os
import socket
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from netwright.data.loading.loader import Loader
from netwright.data.loading.worker_loader import build_loader
from netwright.train import trainer
from netwright.train.callback import Callback
from netwright.train.state import TrainState
from tests.faults.rank_runs import (
    STEPS,
    TRAIN,
    Bug,
    ForkedRun,
    LaunchedRun,
    RankRun,
    finish,
    wait_for_step,
)
from tests.faults.scenario import Figures, Scenario

PARTS = ((2, 17), (1, 40), (2, STEPS))  # how many ranks, until which step: two stops in an epoch
ROWS = 280
LISTENS = "0A"  # in /proc/net/tcp
LOOPBACK = {"0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"}


class Rows(Callback):
    """Writes down the rows that each rank saw, and stops at a step."""

    def __init__(self, notes: Path, last: int) -> None:
        self.notes, self.last = notes, last

    def on_batch_end(self, state: TrainState) -> None:
        if state.batch is not None:
            with (self.notes / f"rows-{state.ranks.rank}").open("a") as file:
                file.writelines(f"{state.epoch} {row}\n" for row in state.batch.rows.tolist())

    def on_step_end(self, state: TrainState) -> None:
        if state.step == self.last < STEPS:
            state.cut_short("the world changes")


def listeners(pids: Iterable[int]) -> list[str]:
    """The addresses, in hexadecimal, on which processes wait for connections."""
    found = []
    for pid in pids:
        held = set()
        for name in os.listdir(f"/proc/{pid}/fd"):
            with suppress(FileNotFoundError):  # closed meanwhile
                held.add(os.readlink(f"/proc/{pid}/fd/{name}"))
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                _, address, _, state, *rest = line.split()
                if state == LISTENS and f"socket:[{rest[5]}]" in held:
                    found.append(address.partition(":")[0])
    return found


def train_in_parts(folder: Path, bug: Bug | None) -> tuple[Counter[str], list[str]]:
    """How often each "epoch row" was seen, and the listeners while two ranks were training."""
    notes, out = folder / "notes", folder / "run"
    notes.mkdir()
    heard: list[str] = []
    before = 0
    for world, last in PARTS:
        watched = Rows(notes, last)
        allow = ["processes"] if before else []
        run = ForkedRun(out, world=world, allow=allow, callbacks=[watched], bug=bug)
        if world > 1:
            heard += hear(run, before + 6)
        assert run.wait(), run.said()
        assert run.close() == 0
        assert not run.said(), run.said()
        before = last
    seen: Counter[str] = Counter()
    for file in notes.iterdir():
        seen.update(file.read_text().splitlines())
    return seen, heard


def hear(run: RankRun, step: int) -> list[str]:
    """The listeners of a run that trains."""
    wait_for_step(run, step)
    watching = [run.launcher.pid] if isinstance(run, LaunchedRun) else []
    return listeners([*watching, *run.pids])


def figures_of(seen: Counter[str], heard: list[str]) -> Figures:
    wanted = {f"{epoch} {row}" for epoch in range(TRAIN["epochs"]) for row in range(ROWS)}
    once = [key for key in wanted if seen[key] == 1]
    inside = [address for address in heard if address in LOOPBACK]
    return Figures(
        n=len(wanted | set(seen)) + len(heard),
        passed=len(once) + len(inside),
        counts={
            "examples": len(wanted),
            "lost": sum(seen[key] == 0 for key in wanted),
            "duplicated": sum(count > 1 for count in seen.values()),
            "listeners": len(heard),
            "non-loopback listeners": len(heard) - len(inside),
        },
    )


def measure(folder: Path) -> Figures:
    """Two ranks, one, two again; and the sockets of the command too."""
    seen, heard = train_in_parts(folder, None)
    command = LaunchedRun(folder / "command")
    heard += hear(command, 6)
    assert finish(command), command.said()
    return figures_of(seen, heard)


SCENARIO = Scenario(
    code="T34",
    title="Two ranks, one, two; sockets",
    measure=measure,
    least={"examples": ROWS * TRAIN["epochs"], "listeners": 6},
)


def test_each_example_comes_once_an_epoch_and_nothing_listens_beyond_loopback(
    tmp_path: Path,
) -> None:
    figures = figures_of(*train_in_parts(tmp_path, None))
    assert figures.passed == figures.n, figures.counts
    assert figures.counts["examples"] == ROWS * TRAIN["epochs"]
    assert figures.counts["listeners"] >= 4


@pytest.mark.slow
def test_the_command_listens_on_loopback_only(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures


def every_rank_takes_all() -> None:
    def build_whole(*given: Any, **settings: Any) -> Loader:
        return build_loader(*given, **{**settings, "rank": 0, "world": 1})

    mock.patch.object(trainer, "build_loader", build_whole).start()


def listen_to_all() -> None:
    socket.create_server(("", 0)).detach()


@pytest.mark.parametrize(
    ("bug", "count"),
    [
        pytest.param(every_rank_takes_all, "duplicated", marks=pytest.mark.slow),
        pytest.param(listen_to_all, "non-loopback listeners", marks=pytest.mark.slow),
    ],
)
def test_planted_bug_is_found(bug: Bug, count: str, tmp_path: Path) -> None:
    figures = figures_of(*train_in_parts(tmp_path, bug))
    assert figures.passed < figures.n
    assert figures.counts[count] > 0
