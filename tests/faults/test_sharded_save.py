"""Ranks that save a checkpoint together: one is killed, has no room, or its part rots.

No checkpoint is half there under its name, who is lost or failed is named, and the run goes on to
the bits of one that nobody hurt.
"""

import json
import os
import random
import resource
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from netwright.core.errors import NetwrightError
from netwright.core.files import manifest
from netwright.train import state as train_state
from netwright.train.callback import Callback
from netwright.train.saving import part_files
from netwright.train.saving.checkpoint_store import list_checkpoints, newest_good
from netwright.train.state import TrainState
from tests.faults.rank_runs import Bug, ForkedRun, finish
from tests.faults.scenario import Figures, Scenario
from tests.faults.test_corruption import flip, truncate, zero_tail
from tests.faults.test_rank_killed import contents

Work = Callable[[], Any]
SHARDED = {"parallel": "shard", "epochs": 2}
STOP = 20  # of 24 steps, with a save every six
# A save has three parts that ranks do together: begin, write their files, give the folder its name.
PLACES = [(part, death) for part in range(3) for death in ("before", "after")]
DAMAGES = (flip, truncate, zero_tail, None)  # None: the file is gone
SAVES, OTHERS, IN_A_RUN = 30, 30, 4  # kills inside a save, and at any step; of one run
SMALL = 1500  # bytes: less than a rank's part


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
    """No file may grow over a size, which nothing tells beforehand."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, before[1]))
    try:
        return work()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def hurt_in_save(victim: int, number: int, part: int, harm: Callable[[Work], Any]) -> None:
    """Let the harm come to one rank in a part of its save of this number, from 0."""
    if int(os.environ["RANK"]) != victim:
        return
    each, calls = part_files._each, iter(range(10**6))

    def hurt(ranks: Any, work: Work) -> list[Any]:
        is_place = next(calls) == 3 * number + part
        return each(ranks, partial(harm, work) if is_place else work)

    mock.patch.object(part_files, "_each", hurt).start()


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
            part, when = PLACES[number % len(PLACES)]
            death = die_before if when == "before" else die_after
            plan.append((victim, partial(hurt_in_save, victim, 0, part, death)))
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
        hurt = partial(hurt_in_save, victim, 2, 1, without_room)
        run = ForkedRun(out, bug=_both(bug, hurt), settings=SHARDED)
        ended, said = run.wait(), run.said()
        told = said.count(f"rank {victim} could not save a checkpoint: ") == 2
        told = told and said.count("cannot be written: File too large") == 2
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
        file = newest / part_files.part_name(number % 2, 2)
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
    killed = [(1, partial(hurt_in_save, 1, 1, 1, die_after))]
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
    killed = [(1, partial(hurt_in_save, 1, 1, 1, die_after))]
    figures = measure_kills(tmp_path, whole, iter([killed]), generators_stay)
    assert figures.counts["kills landed"] == figures.n == 1
    assert figures.passed == 0


def errors_are_kept_to_oneself() -> None:
    """Who fails says nothing, and the others give the folder its name."""

    def each(ranks: Any, work: Work) -> list[Any]:
        given: Any = ""
        try:
            given = work()
        except NetwrightError:
            pass
        gathered = ranks.gather(json.dumps(given).encode())
        return [json.loads(one) for one in gathered]

    mock.patch.object(part_files, "_each", each).start()


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
