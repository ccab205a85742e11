"""Kill -9 of the command itself, each time in a new process with another hash seed."""

import os
import random
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from unittest import mock

import pytest

from netwright.apps.cli import main
from netwright.train.saving.checkpoint_store import (
    CheckpointStore,
    Choose,
    list_checkpoints,
    newest_good,
)
from tests.faults.scenario import Figures, Scenario
from tests.faults.small_runs import content, left_behind
from tests.forked_ranks import FORKS

KILLS, EPOCHS, STEPS = 6, 8, 72
JITTER = 0.03  # seconds, a few steps and saves
TOO_LONG = 600.0  # seconds
COMMAND = (
    f"train mlp moons --epochs {EPOCHS} --optimizer adamw --seed 5 --device cpu --quiet --no-report"
    " --resume auto --set model.batch_norm=true --set model.hidden=16 --set train.schedule=cosine"
    " --set train.save_steps=2 --set train.save_every=1 --set train.keep=1000 --out"
).split()
MAIN = "from netwright.apps.cli.main import main; main()"


class Command:
    """Starts the command, as a person would after every kill; `bug` is code that runs first."""

    def __init__(self, bug: str = "") -> None:
        self.bug, self.hash_seeds = bug, count(1)

    def start(self, run: Path) -> "subprocess.Popen[bytes]":
        hash_seed = str(next(self.hash_seeds))
        return subprocess.Popen(
            [sys.executable, "-c", self.bug + MAIN, *COMMAND, str(run)],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": "1"},
        )

    def finish(self, run: Path) -> bool:
        return self.start(run).wait(TOO_LONG) == 0

    def kill_after(self, run: Path, step: int, seconds: float) -> bool:
        """Start, wait for the checkpoint of a step and a moment more; whether the kill landed."""
        process = self.start(run)
        deadline = time.monotonic() + TOO_LONG
        while process.poll() is None and time.monotonic() < deadline:
            if any(place.name >= f"step-{step:06d}" for place in list_checkpoints(run)):
                time.sleep(seconds)
                break
            time.sleep(0.002)
        process.kill()
        return process.wait() < 0


def measure(folder: Path, kills: int = KILLS, bug: str = "") -> Figures:
    """Compare what each kill leaves, and the end, with a run that was not killed."""
    command, chance = Command(bug), random.Random(0)
    whole, run = folder / "whole", folder / "run"
    command.finish(whole)
    results, landed = [], 0
    for number in range(1, kills + 1):
        step = number * STEPS // (kills + 1)
        landed += command.kill_after(run, step, chance.uniform(0, JITTER))
        newest, _ = newest_good(run)
        results.append(
            newest is not None and content(newest) == content(whole / newest.relative_to(run))
        )
    results.append(command.finish(run) and left_behind(run) == left_behind(whole))
    return Figures(n=len(results), passed=sum(results), counts={"kills landed": landed})


SCENARIO = Scenario(
    code="T02", title="The command is killed", measure=measure, least={"kills landed": KILLS}
)


def train_until_killed(run: Path) -> None:
    """Train as the command does; kill -9 falls between a checkpoint and the word that it is there.

    In a process of its own, which it ends.
    """
    add = CheckpointStore.add

    def killed(store: CheckpointStore, place: Path, *, choose: Choose) -> None:
        if place.name >= f"step-{STEPS // 2:06d}":
            os.kill(os.getpid(), signal.SIGKILL)
        add(store, place, choose=choose)

    mock.patch.object(CheckpointStore, "add", killed).start()
    main.run([*COMMAND, str(run)])


def test_a_killed_training_goes_on_exactly_in_a_new_process(tmp_path: Path) -> None:
    """The killed one is a fork, which begins at once; the new one is the command."""
    whole, run = tmp_path / "whole", tmp_path / "run"
    killed = FORKS.Process(target=train_until_killed, args=(run,))
    killed.start()
    assert main.run([*COMMAND, str(whole)]) == 0
    killed.join(TOO_LONG)
    assert killed.exitcode == -signal.SIGKILL
    assert not (run / "results.json").exists()
    assert Command().finish(run)
    assert left_behind(run) == left_behind(whole)


@pytest.mark.slow
def test_a_command_that_is_killed_goes_on_exactly_in_a_new_process(tmp_path: Path) -> None:
    figures = measure(tmp_path, kills=1)
    assert figures.passed == figures.n == 2
    assert figures.counts["kills landed"] == 1


@pytest.mark.slow
def test_a_command_may_be_killed_many_times(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures
    assert figures.n == KILLS + 1


HASHED_SEEDS = """
from netwright.core import seeding
seeding.derive_seed = lambda seed, *path: abs(hash((str(seed), *map(str, path))))
"""


@pytest.mark.slow
def test_planted_bug_seeds_that_depend_on_the_process_are_found(tmp_path: Path) -> None:
    assert measure(tmp_path, kills=1, bug=HASHED_SEEDS).passed == 0
