"""Ranks that save a checkpoint together: one is killed, has no room, or its part rots.

The files are written by threads while training goes on, and each step of a save is hurt. No
checkpoint is half there under its name, who is lost or failed is named, and the run goes on to the
bits of one that nobody hurt.
"""

import errno
import itertools
import json
import os
import random
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from netwright.core.errors import NetwrightError
from netwright.core.files import manifest, storage
from netwright.train import state as train_state
from netwright.train.callback import Callback
from netwright.train.saving import shared_save
from netwright.train.saving.checkpoint_store import list_checkpoints, newest_good
from netwright.train.saving.part_files import part_name
from netwright.train.saving.shared_save import SharedSave
from netwright.train.state import TrainState
from tests.faults.rank_runs import Bug, ForkedRun, finish
from tests.faults.scenario import Figures, Scenario
from tests.faults.test_corruption import flip, truncate, zero_tail
from tests.faults.test_rank_killed import contents

Work = Callable[[], Any]
SHARDED = {"parallel": "shard", "epochs": 2}
STOP = 20  # of 24 steps, with a save every six
# What each rank does in a save: the first before training goes on, the others in a thread. In the
# last one the first rank gives the folder its name and points to it.
STEPS = ("_begin", "_write", "_close")
PLACES = [(step, death) for step in STEPS for death in ("before", "after")]
DAMAGES = (flip, truncate, zero_tail, None)  # None: the file is gone
SAVES, OTHERS, IN_A_RUN = 30, 30, 4  # kills inside a save, and at any step; of one run
SMALL = 100  # bytes: less than a rank's part


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_before(work: Work) -> Any:
    die()
    return work()


def die_after(work: Work) -> Any:
    given = work()
    die()
    return given


def without_room(work: Work) -> Any:
    """The disk is full for this thread after a few bytes of a file, which nothing tells before."""
    fill, writer = storage._fill, threading.get_ident()

    def overflow(handle: int, pieces: Iterable[storage.Piece]) -> None:
        if threading.get_ident() != writer:
            fill(handle, pieces)
            return
        with os.fdopen(handle, "wb") as file:
            file.write(bytes(next(iter(pieces)))[:SMALL])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with mock.patch.object(storage, "_fill", overflow):
        return work()


def hurt_in_save(victim: int, number: int, step: str, harm: Callable[[Work], Any]) -> None:
    """Let the harm come to one rank in a step of its save of this number, from 0."""
    if int(os.environ["RANK"]) != victim:
        return
    done, calls = getattr(SharedSave, step), itertools.count()

    def hurt(save: SharedSave, *given: Any) -> Any:
        work = partial(done, save, *given)
        return harm(work) if next(calls) == number else work()

    mock.patch.object(SharedSave, step, hurt).start()


class DieAt(Callback):
    """Ends one rank at a step of its life."""

    def __init__(self, victim: int, step: int) -> None:
        self.victim, self.left = victim, step

    def on_batch_end(self, state: TrainState) -> None:
        self.left -= 1
        if not self.left and state.ranks.rank == self.victim:
            die()


class StopAt(Callback):
    def on_step_end(self, state: TrainState) -> None:
        if state.step == STOP:
            state.cut_short("stop")


def is_clean(out: Path) -> bool:
    """Whether whatever has the name of a checkpoint is whole."""
    return newest_good(out)[1] == []


def whole_run(out: Path, world: int) -> Path:
    assert finish(ForkedRun(out, world=world, settings=SHARDED))
    return out


def survive(run: ForkedRun, victim: int) -> dict[str, bool]:
    """What came of a run of which one rank ended itself."""
    ended = run.wait(lost=victim)
    landed = run.ranks[victim].exitcode == -signal.SIGKILL
    # A kill may come when the others have nothing left to ask of the victim.
    named = not landed or f"rank {victim} is gone, in " in run.said()
    return {"landed": landed, "named": ended and named and not run.close(victim)}


def measure_kills(
    folder: Path, whole: Path, plans: Iterator[list[tuple[int, Any]]], bug: Bug | None = None
) -> Figures:
    """Kill and go on as planned; each run ends as the whole one."""
    happened, identical, world = [], [], 2
    for number, plan in enumerate(plans):
        out = folder / f"killed-{number}"
        for victim, harm in plan:
            calls = [harm] if isinstance(harm, Callback) else []
            hurt = _both(bug, None if calls else harm)
            run = ForkedRun(out, world=world, callbacks=calls, bug=hurt, settings=SHARDED)
            happened.append({**survive(run, victim), "clean": is_clean(out)})
        last = ForkedRun(out, world=world, bug=bug, settings=SHARDED)
        identical += [finish(last) and contents(out) == contents(whole)] * len(plan)
    return Figures(
        n=len(happened),
        passed=sum(
            all(one.values()) and same for one, same in zip(happened, identical, strict=True)
        ),
        counts={
            "kills landed": sum(one["landed"] for one in happened),
            "rank named": sum(one["named"] for one in happened),
            "no half checkpoint": sum(one["clean"] for one in happened),
            "identical": sum(identical),
        },
    )


def _both(first: Bug | None, second: Bug | None) -> Bug:
    return partial(call_all, [bug for bug in (first, second) if bug is not None])


def call_all(bugs: list[Bug]) -> None:
    for bug in bugs:
        bug()


def kill_plans(saves: int, others: int, a_run: int) -> Iterator[list[tuple[int, Any]]]:
    """Kills at every place of a save, then at random steps."""
    chosen = random.Random(36)
    plan: list[tuple[int, Any]] = []
    for number in range(saves + others):
        victim = chosen.randrange(2)
        if number < saves:
            step, when = PLACES[number % len(PLACES)]
            death = die_before if when == "before" else die_after
            plan.append((victim, partial(hurt_in_save, victim, 0, step, death)))
        else:  # before the second save of this life, so that there are lives for all kills
            plan.append((victim, DieAt(victim, chosen.randrange(1, 6))))
        if len(plan) == a_run or number == saves + others - 1:
            yield plan
            plan = []


def meet_full_disk(folder: Path, whole: Path, bug: Bug | None = None) -> Figures:
    """Each rank in turn has no room for its part of the third save."""
    good = []
    for victim in range(2):
        out = folder / f"full-{victim}"
        hurt = partial(hurt_in_save, victim, 2, "_write", without_room)
        run = ForkedRun(out, bug=_both(bug, hurt), settings=SHARDED)
        ended, said = run.wait(), run.said()
        told = said.count(f"rank {victim} could not save a checkpoint: ") == 2
        told = told and said.count("cannot be written: No space left on device") == 2
        left = [path.name for path in (out / "checkpoints").iterdir()]
        is_kept = left == [path.name for path in list_checkpoints(out)] and len(left) == 2
        failed = run.close() == 0 and ended and told and is_kept and is_clean(out)
        again = finish(ForkedRun(out, settings=SHARDED))
        good.append(failed and again and contents(out) == contents(whole))
    return Figures(n=2, passed=sum(good), counts={})


def rot(folder: Path, whole: Path, damages: tuple[Any, ...], bug: Bug | None = None) -> Figures:
    """A part of the newest checkpoint is damaged: the one before is taken, and it is said."""
    good, chosen = [], random.Random(36)
    for number, damage in enumerate(damages):
        out = folder / f"rotten-{number}"
        stopped = ForkedRun(out, callbacks=[StopAt()], settings=SHARDED)
        assert stopped.wait(), stopped.said()
        newest, before = list_checkpoints(out)[-1], list_checkpoints(out)[-2]
        file = newest / part_name(number % 2, 2)
        if damage is None:
            file.unlink()
        else:
            file.write_bytes(damage(file.read_bytes(), chosen))
        if bug is not None:
            bug()
        place, remarks = newest_good(out)
        named = [remark for remark in remarks if remark.startswith(str(file))]
        again = finish(ForkedRun(out, bug=bug, settings=SHARDED))
        same = again and contents(out) == contents(whole)
        good.append(place == before and len(named) == 1 and same)
    return Figures(n=len(damages), passed=sum(good), counts={})


def measure(folder: Path) -> Figures:
    """All of it."""
    whole = whole_run(folder / "whole", 2)
    kills = measure_kills(folder, whole, kill_plans(SAVES, OTHERS, IN_A_RUN))
    others = [meet_full_disk(folder, whole), rot(folder, whole, DAMAGES)]
    return Figures(
        n=kills.n + sum(one.n for one in others),
        passed=kills.passed + sum(one.passed for one in others),
        counts={**kills.counts, "full disks": others[0].passed, "damages": others[1].passed},
    )


SCENARIO = Scenario(
    code="T36",
    title="Ranks that save together",
    measure=measure,
    least={"kills landed": SAVES + OTHERS, "full disks": 2, "damages": len(DAMAGES)},
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole_run(tmp_path_factory.mktemp("shards") / "whole", 2)


def test_a_rank_killed_in_a_save_leaves_no_half_checkpoint(whole: Path, tmp_path: Path) -> None:
    killed = [(1, partial(hurt_in_save, 1, 1, "_write", die_after))]
    figures = measure_kills(tmp_path, whole, iter([killed]))
    assert figures.passed == figures.counts["kills landed"] == figures.n == 1, figures


@pytest.mark.slow
def test_kills_at_every_place_of_a_save_lose_nothing(whole: Path, tmp_path: Path) -> None:
    figures = measure_kills(tmp_path, whole, kill_plans(len(PLACES), 2, 4))
    assert figures.passed == figures.counts["kills landed"] == figures.n, figures


@pytest.mark.slow
@pytest.mark.long
def test_sixty_kills_half_of_them_in_a_save_lose_nothing(whole: Path, tmp_path: Path) -> None:
    figures = measure_kills(tmp_path, whole, kill_plans(SAVES, OTHERS, IN_A_RUN))
    assert figures.passed == figures.counts["kills landed"] == figures.n == 60, figures


@pytest.mark.slow
def test_a_full_disk_is_told_by_all_and_costs_no_checkpoint(whole: Path, tmp_path: Path) -> None:
    figures = meet_full_disk(tmp_path, whole)
    assert figures.passed == figures.n == 2, figures


@pytest.mark.slow
def test_a_damaged_part_is_named_and_passed_over(whole: Path, tmp_path: Path) -> None:
    figures = rot(tmp_path, whole, DAMAGES)
    assert figures.passed == figures.n == len(DAMAGES), figures


def generators_stay() -> None:
    mock.patch.object(train_state, "set_random_state").start()


@pytest.mark.slow
def test_planted_bug_generators_not_restored_is_found(whole: Path, tmp_path: Path) -> None:
    killed = [(1, partial(hurt_in_save, 1, 1, "_write", die_after))]
    figures = measure_kills(tmp_path, whole, iter([killed]), generators_stay)
    assert figures.counts["kills landed"] == figures.n == 1
    assert figures.passed == 0


def parts_are_not_waited_for() -> None:
    """The first rank names the folder whether the others have written their files or not."""
    mock.patch.object(SharedSave, "_sum_of", lambda save, rank: "").start()


def test_planted_bug_parts_that_are_not_waited_for_is_found(whole: Path, tmp_path: Path) -> None:
    killed = [(1, partial(hurt_in_save, 1, 1, "_write", die_before))]
    figures = measure_kills(tmp_path, whole, iter([killed]), parts_are_not_waited_for)
    assert figures.counts["kills landed"] == figures.n == 1
    assert figures.counts["no half checkpoint"] == figures.passed == 0


def errors_are_kept_to_oneself() -> None:
    """Who fails says nothing, and the first rank gives the folder its name."""

    def each(ranks: Any, work: Work) -> list[Any]:
        given: Any = ""
        try:
            given = work()
        except NetwrightError:
            pass
        gathered = ranks.gather(json.dumps(given).encode())
        return [json.loads(one) for one in gathered]

    mock.patch.object(shared_save, "_each", each).start()


@pytest.mark.slow
def test_planted_bug_errors_kept_from_others_are_found(whole: Path, tmp_path: Path) -> None:
    figures = meet_full_disk(tmp_path, whole, errors_are_kept_to_oneself)
    assert figures.passed == 0


def sums_are_not_compared() -> None:
    mock.patch.object(manifest, "_check_sum").start()


@pytest.mark.slow
def test_planted_bug_sums_not_compared_is_found(whole: Path, tmp_path: Path) -> None:
    try:
        figures = rot(tmp_path, whole, (flip,), sums_are_not_compared)
    finally:
        mock.patch.stopall()
    assert figures.passed == 0
