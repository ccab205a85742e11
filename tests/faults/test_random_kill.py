"""Kill -9 at a random moment, resume, and again: the run ends as if nothing had happened."""

import atexit
import json
import mmap
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, NoReturn

import pytest
import torch

from netwright.core.files.storage import read_json
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.saving.checkpoint_store import newest_good
from netwright.train.state import TrainState
from tests.faults.scenario import Figures, Scenario
from tests.faults.small_runs import BATCHES, left_behind, saw_every_row_once, train_small
from tests.repetition import slow_but

KILLS = 100
EARLIEST, LATEST = 0.02, 0.6  # of the time that a whole run takes
MOST_IN_A_RUN = 10  # kills; then it is left in peace
TOO_LONG = 600.0  # seconds after which a run that nobody wanted to kill is taken for hung
ROOT = Path(__file__).parents[2]


def raise_children() -> None:
    """Read (folder, bug, seconds); fork a child that trains there; kill it when its time is over.

    A process of its own, warm and without threads: importing torch takes seconds, and a fork beside
    threads may never run. It answers with the child's exit code, the seconds that it lived, and
    whether it was saving at its end.
    """
    torch.set_num_threads(1)
    os.fsync = lambda fd: None  # what is written survives a kill without it, and disks are slow
    is_saving = mmap.mmap(-1, 1)  # shared with the children
    note_saves(is_saving)
    with TemporaryDirectory() as folder:
        train_small(Path(folder) / "run")
    for line in sys.stdin:
        folder, bug, seconds = json.loads(line)
        is_saving[0] = False
        started = time.monotonic()
        child = os.fork() or train_and_exit(Path(folder), bug)
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() - started > seconds:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.001)
        lived = time.monotonic() - started
        answer = os.waitstatus_to_exitcode(ended[1]), lived, bool(is_saving[0])
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()


def train_and_exit(folder: Path, bug: str) -> NoReturn:
    try:
        exec(bug, {})
        train_small(folder)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def note_saves(is_saving: mmap.mmap) -> None:
    """Let the flag say whether a checkpoint is being written, or the pointers to it."""
    save = SaveCheckpoints.save

    def noted(self: SaveCheckpoints, state: TrainState) -> None:
        is_saving[0] = True
        save(self, state)
        is_saving[0] = False

    SaveCheckpoints.save = noted  # type: ignore[method-assign]


class Ended(NamedTuple):
    """How a child ended."""

    code: int
    seconds: float
    was_saving: bool


class Nursery:
    """The warm process and the pipe to it."""

    def __init__(self) -> None:
        program = "from tests.faults.test_random_kill import raise_children; raise_children()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},  # its threads do not survive a fork
        )
        atexit.register(self.close)

    def train(self, folder: Path, bug: str = "", seconds: float = TOO_LONG) -> Ended:
        """Train in a new child, for at most so many seconds."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{json.dumps([str(folder), bug, seconds])}\n")
        self.process.stdin.flush()
        return Ended(*json.loads(self.process.stdout.readline()))

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@cache
def nursery() -> Nursery:
    return Nursery()


def note_resume(run: Path, counts: Counter[str]) -> None:
    """Count where the next child goes on."""
    checkpoint, _ = newest_good(run)
    if checkpoint is not None:
        place = read_json(checkpoint / "state.json")["position"]
        counts["mid-epoch resumes"] += 0 < place < BATCHES


def end_of(run: Path, bug: str, moments: Iterable[float], counts: Counter[str]) -> int:
    """Train, kill at these moments and resume until the run ends by itself: its exit code."""
    for seconds in moments:
        ended = nursery().train(run, bug, seconds)
        if ended.code != -signal.SIGKILL:
            return ended.code
        counts["kills"] += 1
        counts["inside a save"] += ended.was_saving
        note_resume(run, counts)
    return nursery().train(run, bug).code


def outcomes(folder: Path, bug: str, kills: int, counts: Counter[str]) -> Iterator[bool]:
    """Run after run with kills on the way: whether it ends as one that was never killed."""
    chance = random.Random(0)
    for number in count():
        if counts["kills"] >= kills:
            return
        whole, run = folder / f"whole-{number}", folder / f"run-{number}"
        seconds = nursery().train(whole).seconds  # anew each time: a machine may become slower
        moments = [chance.uniform(EARLIEST, LATEST) * seconds for _ in range(MOST_IN_A_RUN)]
        is_finished = end_of(run, bug, moments, counts) == 0
        yield is_finished and left_behind(run) == left_behind(whole) and saw_every_row_once(run)


def measure(folder: Path, kills: int) -> Figures:
    counts: Counter[str] = Counter()
    results = list(outcomes(folder, "", kills, counts))
    return Figures(n=len(results), passed=sum(results), counts=dict(counts))


def scenario(kills: int) -> Scenario:
    return Scenario(
        code="T01",
        title="Killed at random moments",
        measure=partial(measure, kills=kills),
        least={"kills": kills, "inside a save": 0.3 * kills, "mid-epoch resumes": 0.5 * kills},
    )


SCENARIO = scenario(KILLS)


@pytest.mark.slow
def test_a_run_that_is_killed_at_random_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    half = scenario(KILLS // 2)
    figures = half.measure(tmp_path)
    assert half.is_green(figures), figures


STRIKE = """
import os, signal

def striking(call):
    def strike(source, target, **folders):
        if os.path.basename(target) == {name!r}:
            if {after!r}:
                call(source, target, **folders)
            os.kill(os.getpid(), signal.SIGKILL)
        call(source, target, **folders)
    return strike

os.rename, os.replace = striking(os.rename), striking(os.replace)
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a run that is not killed leaves."""
    run = tmp_path_factory.mktemp("whole") / "run"
    nursery().train(run)
    return left_behind(run)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    "name",
    slow_but(
        ["config.yaml", "step-000002", "last.json", "results.json"],
        [
            "config.yaml",
            "env.json",
            "metrics.jsonl",
            "step-000002",
            "last.json",
            "best.json",
            "step-000030-2",  # of the best epoch
            "step-000045",  # the last
            "model",
            "results.json",
        ],
    ),
)
def test_a_kill_beside_the_moment_when_a_file_gets_its_name_is_survived(
    tmp_path: Path, whole: dict[str, Any], name: str, when: str
) -> None:
    killed = nursery().train(tmp_path / "run", STRIKE.format(name=name, after=when == "after"))
    assert killed.code == -signal.SIGKILL
    assert nursery().train(tmp_path / "run").code == 0
    assert left_behind(tmp_path / "run") == whole


BUGS = {
    "generators are not restored": """
from netwright.train import state as train_state
train_state.set_random_state = lambda state: None
""",
    "the schedule is not restored": """
from torch.optim.lr_scheduler import LambdaLR
LambdaLR.load_state_dict = lambda self, values: None
""",
    "the place in the data is not restored": """
from netwright.train import checkpoint
restore = checkpoint._restore_place
def forget(state, ranks, changes):
    remarks = restore(state, ranks, changes)
    state.position = 0
    return remarks
checkpoint._restore_place = forget
""",
    "the optimizer's moments are dropped": """
from netwright.train import checkpoint
checkpoint.restore_optimizer = lambda optimizer, saved, with_settings: None
""",
    "a save is not atomic": """
from contextlib import contextmanager
from netwright.core.files.inside import open_folder
from netwright.core.files.storage import MANIFEST, Staging, as_json
from netwright.train import checkpoint, checkpoint_store
@contextmanager
def in_place(path, **options):
    path.mkdir()
    with open_folder(path) as folder:
        staging = Staging(folder, path)
        yield staging
        staging.write(MANIFEST, as_json({"sha256": dict.fromkeys(checkpoint.FILES, "")}))
checkpoint.new_folder = in_place
checkpoint_store.check_checkpoint = lambda path: None
""",
}


@pytest.mark.parametrize("bug", slow_but(["a save is not atomic"], BUGS))
def test_a_planted_bug_is_found(tmp_path: Path, bug: str) -> None:
    assert not all(outcomes(tmp_path, BUGS[bug], KILLS, Counter()))
