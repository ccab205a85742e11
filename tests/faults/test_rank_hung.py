"""One of two ranks hangs, stopped or in an endless loop: the other names it after the timeout."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from netwright.recipes.fitting import training
from netwright.train.callback import Callback
from netwright.train.ranks import joined
from netwright.train.state import TrainState
from tests.faults.rank_runs import (
    Bug,
    ForkedRun,
    LaunchedRun,
    RankRun,
    wait_for_step,
    wait_until,
)
from tests.faults.scenario import Figures, Scenario
from tests.faults.test_sharded_save import call_all, hurt_in_save

TIMEOUT, SHORT_TIMEOUT = 10.0, 2.0
LONG_TIMEOUT = 4.0  # of a run that does not keep its own
REACTION = 60.0  # seconds after it in which the rank must be named
STEP = 12
Hang = Callable[[Path, float, int], tuple[RankRun, float]]  # the run, and when its rank hung


class EndlessLoop(Callback):
    """One rank never comes back from a step; it leaves a sign when that begins."""

    def __init__(self, rank: int, sign: Path) -> None:
        self.rank, self.sign = rank, sign

    def on_step_end(self, state: TrainState) -> None:
        while state.ranks.rank == self.rank and state.step > STEP:
            self.sign.touch()


def stop(run: RankRun, victim: int) -> tuple[RankRun, float]:
    wait_for_step(run, STEP)
    began = time.monotonic()
    os.kill(run.pids[victim], signal.SIGSTOP)
    return run, began


def launched_and_stopped(out: Path, timeout: float, victim: int) -> tuple[RankRun, float]:
    return stop(LaunchedRun(out, timeout=timeout), victim)


def forked_and_stopped(
    out: Path, timeout: float, victim: int, bug: Bug | None = None, **settings: Any
) -> tuple[RankRun, float]:
    return stop(ForkedRun(out, timeout=timeout, bug=bug, settings=settings), victim)


def sharded_and_stopped(
    out: Path, timeout: float, victim: int, bug: Bug | None = None
) -> tuple[RankRun, float]:
    return forked_and_stopped(out, timeout, victim, bug, parallel="shard")


def sharded_and_stopped_in_a_save(
    out: Path, timeout: float, victim: int, bug: Bug | None = None
) -> tuple[RankRun, float]:
    """A rank of a sharded run stops before it writes its part of the third checkpoint."""
    sign = out.with_name(f"{out.name}-stops")
    stops = partial(hurt_in_save, victim, STEP // 6, "_write", partial(stop_itself, sign))
    bugs: list[Bug] = [stops] if bug is None else [bug, stops]
    run = ForkedRun(
        out, timeout=timeout, bug=partial(call_all, bugs), settings={"parallel": "shard"}
    )
    wait_until(run, sign.exists)
    return run, time.monotonic()


def stop_itself(sign: Path, work: Callable[[], Any]) -> Any:
    sign.touch()
    os.kill(os.getpid(), signal.SIGSTOP)
    return work()


def forked_and_looping(out: Path, timeout: float, victim: int) -> tuple[RankRun, float]:
    sign = out.with_name(f"{out.name}-loops")
    run = ForkedRun(out, timeout=timeout, callbacks=[EndlessLoop(victim, sign)])
    wait_for_step(run, STEP)
    wait_until(run, sign.exists)
    return run, time.monotonic()


def sentence(victim: int, timeout: float) -> str:
    return f"error: rank {victim} does not answer for {timeout:g} s, in "


def measure_hangs(folder: Path, timeout: float, hangs: Sequence[tuple[Hang, int]]) -> Figures:
    """Let ranks hang; the other says which one it is, and in what, and the run is over."""
    seconds, named, ended, orphans = [], [], [], []
    for number, (hang, victim) in enumerate(hangs):
        run, began = hang(folder / f"hung-{number}", timeout, victim)
        until = began + timeout + REACTION
        while sentence(victim, timeout) not in run.said() and time.monotonic() < until:
            if run.is_over(lost=victim):
                break
            time.sleep(0.02)
        seconds.append(time.monotonic() - began)
        named.append(sentence(victim, timeout) in run.said())
        ended.append(run.wait(lost=victim))
        orphans.append(run.close(lost=victim))
    in_time = [
        was_named and timeout - 1 <= taken < timeout + REACTION
        for was_named, taken in zip(named, seconds, strict=True)
    ]
    return Figures(
        n=len(hangs),
        passed=sum(
            good and over and not left
            for good, over, left in zip(in_time, ended, orphans, strict=True)
        ),
        counts={
            "named in time": sum(in_time),
            "ended": sum(ended),
            "orphans": sum(orphans),
            "timeout in seconds": timeout,
            "worst detection in seconds": round(max(seconds), 1),
        },
    )


def measure(folder: Path) -> Figures:
    """Ranks of the command that are stopped, and ranks in a loop."""
    hangs: list[tuple[Hang, int]] = [
        (hang, victim) for hang in (launched_and_stopped, forked_and_looping) for victim in (0, 1)
    ]
    return measure_hangs(folder, TIMEOUT, hangs)


SCENARIO = Scenario(
    code="T32", title="One of two ranks hung", measure=measure, least={"named in time": 4}
)


@pytest.mark.parametrize(
    ("hang", "victim"),
    [
        pytest.param(forked_and_stopped, 0, marks=pytest.mark.slow),
        pytest.param(forked_and_looping, 1, marks=pytest.mark.slow),
        pytest.param(sharded_and_stopped, 1, marks=pytest.mark.slow),
        pytest.param(sharded_and_stopped_in_a_save, 0, marks=pytest.mark.slow),
        pytest.param(sharded_and_stopped_in_a_save, 1, marks=pytest.mark.slow),
    ],
)
def test_a_rank_that_hangs_is_named_after_the_timeout(
    hang: Hang, victim: int, tmp_path: Path
) -> None:
    figures = measure_hangs(tmp_path, SHORT_TIMEOUT, [(hang, victim)])
    assert figures.passed == figures.n == 1, figures.counts


@pytest.mark.slow
def test_the_command_names_a_rank_that_hangs_and_ends_it(tmp_path: Path) -> None:
    figures = measure_hangs(tmp_path, SHORT_TIMEOUT, [(launched_and_stopped, 1)])
    assert figures.passed == figures.n == 1, figures.counts


@pytest.mark.slow
def test_hung_ranks_of_the_command_are_named_after_ten_seconds(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures


def patience_without_end() -> None:
    patient = partial(joined, LONG_TIMEOUT)
    mock.patch.object(training, "joined", lambda timeout, **more: patient(**more)).start()


@pytest.mark.slow
@pytest.mark.parametrize("hang", [forked_and_stopped, sharded_and_stopped_in_a_save])
def test_planted_bug_a_timeout_that_nobody_keeps_is_found(hang: Any, tmp_path: Path) -> None:
    hurt = partial(hang, bug=patience_without_end)
    figures = measure_hangs(tmp_path, SHORT_TIMEOUT, [(hurt, 1)])
    assert (figures.passed, figures.counts["named in time"]) == (0, 0)
    said = "".join(file.read_text() for file in tmp_path.glob("hung-0-notes-*/errors-*"))
    assert sentence(1, LONG_TIMEOUT) in said
