"""One of two ranks is killed: the other names it and ends, and the run goes on to the same bits."""

import json
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

from netwright.train import ranks
from netwright.train import state as train_state
from netwright.train.watching.history import without_clock
from tests.faults.rank_runs import (
    STEPS,
    Bug,
    ForkedRun,
    LaunchedRun,
    RankRun,
    finish,
    wait_for_step,
)
from tests.faults.scenario import Figures, Scenario

KILLS = 3
MOST_SECONDS = 120.0
Start = Callable[[Path], RankRun]


def contents(out: Path) -> dict[str, bytes]:
    """The weights, the whole last state, and the history without its clock."""
    last = out / "checkpoints" / json.loads((out / "last.json").read_text())["checkpoint"]
    files = [out / "model" / "model.safetensors", *sorted(last.glob("*.safetensors"))]
    lines = (out / "metrics.jsonl").read_text().splitlines()
    history = [without_clock(json.loads(line)) for line in lines]
    return {
        "history": json.dumps(history).encode(),
        **{file.name: file.read_bytes() for file in files},
    }


def kill_one(run: RankRun, victim: int, step: int, delay: float) -> dict[str, float]:
    """Kill a rank in the middle; what came of it."""
    wait_for_step(run, step)
    time.sleep(delay)
    pid = run.pids[victim]
    os.kill(pid, signal.SIGKILL)
    began = time.monotonic()
    ended = run.wait(lost=victim)
    seconds = time.monotonic() - began
    said = run.said()
    named = f"rank {victim} is gone, in " in said
    named = named or f"rank {victim} (process {pid}) was killed by SIGKILL; " in said
    return {
        "landed": not (run.out / "results.json").exists(),
        "named": ended and named,
        "seconds": seconds,
        "orphans": run.close(lost=victim),
    }


def measure(
    folder: Path, start: Start = LaunchedRun, kills: int = KILLS, whole: Path | None = None
) -> Figures:
    """Kill ranks at random steps; each run goes on, and ends as the whole one that nobody hurt."""
    whole = whole or whole_run(folder / "whole", start)
    chosen = random.Random(31)
    happened, identical = [], []
    for number in range(kills):
        out = folder / f"killed-{number}"
        victim, step = chosen.randrange(2), chosen.randrange(STEPS // 10, STEPS * 2 // 3)
        happened.append(kill_one(start(out), victim, step, chosen.uniform(0, 0.1)))
        identical.append(finish(start(out)) and contents(out) == contents(whole))
    good = [
        bool(one["landed"] and one["named"] and not one["orphans"])
        and one["seconds"] <= MOST_SECONDS
        for one in happened
    ]
    return Figures(
        n=kills,
        passed=sum(g and same for g, same in zip(good, identical, strict=True)),
        counts={
            "kills landed": sum(one["landed"] for one in happened),
            "rank named": sum(one["named"] for one in happened),
            "identical": sum(identical),
            "orphans": sum(one["orphans"] for one in happened),
            "worst detection in seconds": round(max(one["seconds"] for one in happened), 1),
        },
    )


def whole_run(out: Path, start: Start) -> Path:
    assert finish(start(out))
    return out


SCENARIO = Scenario(
    code="T31", title="One of two ranks killed", measure=measure, least={"kills landed": KILLS}
)


def with_bug(bug: Bug) -> Start:
    return lambda out: ForkedRun(out, bug=bug)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole_run(tmp_path_factory.mktemp("ranks") / "whole", ForkedRun)


def test_a_killed_rank_is_named_and_the_run_goes_on_to_the_same_bits(
    whole: Path, tmp_path: Path
) -> None:
    figures = measure(tmp_path, ForkedRun, kills=1, whole=whole)
    assert figures.passed == figures.counts["kills landed"] == figures.n == 1, figures


@pytest.mark.slow
def test_any_killed_rank_is_named_and_the_run_goes_on_to_the_same_bits(
    whole: Path, tmp_path: Path
) -> None:
    figures = measure(tmp_path, ForkedRun, whole=whole)
    assert SCENARIO.is_green(figures), figures


@pytest.mark.slow
def test_the_command_names_a_killed_rank_and_leaves_no_process(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures


def generators_stay() -> None:
    mock.patch.object(train_state, "set_random_state").start()


@pytest.mark.slow
def test_planted_bug_generators_not_restored_is_found(whole: Path, tmp_path: Path) -> None:
    figures = measure(tmp_path, with_bug(generators_stay), kills=1, whole=whole)
    assert figures.counts["kills landed"] == figures.counts["rank named"] == 1
    assert figures.passed == 0


def nobody_is_named() -> None:
    mock.patch.object(ranks, "_is_of_connection", return_value=False).start()


@pytest.mark.slow
def test_planted_bug_raw_errors_of_torch_are_found(whole: Path, tmp_path: Path) -> None:
    figures = measure(tmp_path, with_bug(nobody_is_named), kills=1, whole=whole)
    assert figures.counts["kills landed"] == figures.counts["identical"] == 1
    assert figures.passed == 0
