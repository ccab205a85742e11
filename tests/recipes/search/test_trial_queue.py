"""Trials handed out to processes: never one too many, never twice, those of the dead again."""

import itertools
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from optuna.storages.journal import JournalFileBackend

from netwright.core.files.process_lock import ProcessLock
from netwright.recipes.search.plan import SearchPlan
from netwright.recipes.search.search import work
from netwright.recipes.search.space import Value
from netwright.recipes.search.trial_queue import TrialQueue, Tried
from tests.odd_files import is_untouched, outside_of
from tests.recipes.search.search_plans import plan

pytestmark = pytest.mark.usefixtures("undrawn")

DONE = Tried(value=1.0, notes={"seconds": 0.5})


def states(queue: TrialQueue) -> list[str]:
    return [trial.state.name for trial in queue.study.trials]


def take(queue: TrialQueue) -> tuple[int, Mapping[str, Value]]:
    taken = queue.take()
    assert taken is not None
    return taken[0].number, taken[1]


def test_trials_in_the_hands_of_others_count_so_there_is_never_one_too_many(tmp_path: Path) -> None:
    with TrialQueue(tmp_path, plan(trials=2)) as one, TrialQueue(tmp_path, plan(trials=2)) as other:
        first, second = one.take(), other.take()
        assert first is not None
        assert second is not None
        assert one.take() is other.take() is None
        one.finish(first[0], DONE)
        other.finish(second[0], Tried(value=None, notes={"why": "pruned"}))
        assert one.take() is None
        assert states(one) == ["COMPLETE", "PRUNED"]
        assert one.study.trials[1].user_attrs["why"] == "pruned"


@pytest.mark.parametrize("storage", ["journal", "sqlite"])
def test_the_trial_of_a_dead_process_is_handed_out_again(tmp_path: Path, storage: str) -> None:
    with TrialQueue(tmp_path, plan(storage=storage)) as dead:
        number, settings = take(dead)
    # The block is left with the trial running; a kill leaves the file too, which nobody holds.
    (tmp_path / "locks" / dead.process).touch()
    with TrialQueue(tmp_path, plan(storage=storage)) as other:
        assert take(other) == (number + 1, settings)
        assert states(other) == ["FAIL", "RUNNING"]


def test_a_living_process_keeps_its_trial(tmp_path: Path) -> None:
    with TrialQueue(tmp_path, plan()) as one, TrialQueue(tmp_path, plan()) as other:
        _, settings = take(one)
        assert take(other)[1] != settings
        assert states(other) == ["RUNNING", "RUNNING"]


def test_a_trial_that_was_killed_before_it_had_an_owner_is_handed_out_again(tmp_path: Path) -> None:
    with TrialQueue(tmp_path, plan(trials=1)) as queue:
        queue.study.ask()
        number, settings = take(queue)
        assert (number, list(settings)) == (1, ["train.lr", "model.dropout"])
        assert states(queue) == ["FAIL", "RUNNING"]


def test_what_is_given_back_is_tried_next(tmp_path: Path) -> None:
    with TrialQueue(tmp_path, plan()) as queue:
        taken = queue.take()
        assert taken is not None
        queue.give_back(taken[0])
        assert take(queue) == (1, taken[1])


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_settings_depend_on_seed_number_and_history_alone(tmp_path: Path, sampler: str) -> None:
    def tried(name: str, *, fresh: bool, seed: int = 0) -> list[dict[str, Value]]:
        (tmp_path / name).mkdir()
        planned = plan(trials=14, sampler=sampler, seed=seed)
        found, queue = [], TrialQueue(tmp_path / name, planned)
        for _ in range(14):
            queue = TrialQueue(tmp_path / name, planned) if fresh else queue
            taken = queue.take()
            assert taken is not None
            queue.finish(taken[0], Tried(value=float(taken[1]["model.dropout"]), notes={}))
            found.append(taken[1])
        return found

    alone = tried("alone", fresh=False)
    assert tried("by many processes", fresh=True) == alone
    assert tried("other seed", fresh=False, seed=1) != alone


def test_a_grid_is_tried_once_each_and_ends_by_itself(tmp_path: Path) -> None:
    planned = plan(["model.hidden=1..3", "train.lr=0.1|0.2"], sampler="grid", trials=50)
    seen = []
    with TrialQueue(tmp_path, planned) as queue:
        first = queue.take()
        assert first is not None
        queue.give_back(first[0])  # it comes again, and is still tried once
        while (taken := queue.take()) is not None:
            seen.append(tuple(taken[1].values()))
            queue.finish(taken[0], DONE)
    assert seen[0] == tuple(first[1].values())
    assert sorted(seen) == list(itertools.product((1, 2, 3), ("0.1", "0.2")))


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_the_same_settings_are_handed_out_once_and_an_exhausted_space_ends(
    tmp_path: Path, sampler: str
) -> None:
    planned = plan(["model.hidden=1..4", "train.lr=0.1|0.2|0.3"], sampler=sampler, trials=50)
    seen: list[tuple[Value, ...]] = []
    with TrialQueue(tmp_path, planned) as queue, TrialQueue(tmp_path, planned) as other:
        held = other.take()  # in the hands of another process: not handed out either
        assert held is not None
        while (taken := queue.take()) is not None:
            assert not queue.is_exhausted or len(seen) == 10
            seen.append(tuple(taken[1].values()))
            queue.finish(taken[0], Tried(value=float(taken[1]["model.hidden"]), notes={}))
        assert queue.is_exhausted
        other.give_back(held[0])
        assert not queue.is_exhausted
        assert take(queue)[1] == held[1]
    assert sorted([*seen, tuple(held[1].values())]) == list(
        itertools.product((1, 2, 3, 4), ("0.1", "0.2", "0.3"))
    )


def test_a_vast_grid_is_not_built(tmp_path: Path) -> None:
    space = [f"model.{name}=1..1000000" for name in ("hidden",)] + ["train.epochs=1..1000000000"]
    with TrialQueue(tmp_path, plan(space, sampler="grid")) as queue:
        assert take(queue)[1] != take(queue)[1]
        assert not queue.is_exhausted


class Killed(BaseException):
    """What stands for the end of the process: nothing in the code catches it."""


@contextmanager
def killed_at(write: int, *, is_written: bool) -> Iterator[None]:
    """A process that dies before, or right after, one of the lines that it adds to the journal."""
    append, writes = JournalFileBackend.append_logs, itertools.count()
    is_dead = False

    def cut_off(backend: JournalFileBackend, logs: list[dict[str, Any]]) -> None:
        nonlocal is_dead
        dies = is_dead or next(writes) == write
        if not dies or (is_written and not is_dead):
            append(backend, logs)
        if dies:
            is_dead = True  # what a `finally` would still write is not written
            raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JournalFileBackend, "append_logs", cut_off)
        yield


def made(queue: TrialQueue) -> list[tuple[dict[str, Value], str, float | None, dict[int, float]]]:
    """What was tried and what came of it, but for what a kill leaves."""
    return [
        (trial.params, trial.state.name, trial.value, trial.intermediate_values)
        for trial in queue.study.trials
        if trial.state.name != "FAIL"
    ]


def learn(trial: Any, settings: Mapping[str, Value]) -> Tried:
    """Nine epochs; a trial with a high dropout is worse in each, and half of them end early."""
    worth = float(settings["model.dropout"])
    for epoch in range(1, 10 - round(10 * worth)):
        trial.report(worth + 1 / epoch, epoch)
        if trial.should_prune():
            return Tried(value=None, notes={"why": "pruned"})
    return Tried(value=worth, notes={"epochs": 9})


def run_killed(folder: Path, planned: SearchPlan, kills: list[tuple[int, bool]]) -> TrialQueue:
    """Processes that die one after the other, and one that ends the search."""
    folder.mkdir()
    for write, is_written in kills:
        with suppress(Killed), killed_at(write, is_written=is_written):
            work(TrialQueue(folder, planned), learn)
    queue = TrialQueue(folder, planned)
    work(queue, learn)
    return queue


@pytest.mark.parametrize(
    ("sampler", "pruner"),
    [
        ("tpe", "hyperband"),
        *(
            pytest.param(*pair, marks=pytest.mark.slow)
            for pair in (("tpe", "none"), ("random", "median"), ("grid", "hyperband"))
        ),
    ],
)
def test_a_search_killed_at_any_write_makes_the_same_trials(
    tmp_path: Path, sampler: str, pruner: str
) -> None:
    space = ["model.dropout=0|0.1|0.2|0.3|0.4|0.5", "train.lr=0.1|0.2|0.3"]
    usual = {} if sampler != "grid" else {"space": space}
    planned = plan(trials=13, sampler=sampler, pruner=pruner, **usual)
    alone = made(run_killed(tmp_path / "alone", planned, []))
    assert len(alone) == 13
    if pruner != "none":
        assert {state for _, state, *_ in alone} == {"COMPLETE", "PRUNED"}
    # Writes of one trial: queued, taken, owner, two settings, reports, notes, value.
    kills = [(write, is_written) for write in range(1, 30, 2) for is_written in (False, True)]
    queue = run_killed(tmp_path / "killed", planned, kills)
    assert made(queue) == alone
    assert "FAIL" in states(queue)


def test_a_kill_while_a_trial_is_queued_again_loses_and_doubles_nothing(tmp_path: Path) -> None:
    planned = plan(trials=3)
    alone = made(run_killed(tmp_path / "alone", planned, []))
    for number, kill in enumerate(itertools.product(range(5), (False, True))):
        # The first dies in its first trial, the second while it queues that trial again.
        queue = run_killed(tmp_path / str(number), planned, [(9, True), kill])
        assert made(queue) == alone


def killed_for_good(folder: Path, planned: SearchPlan, objective: Callable[..., Tried]) -> None:
    """A search by a process that really is killed, in its third trial."""
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            work(TrialQueue(folder, planned), objective)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def test_a_search_goes_on_after_a_real_kill_and_dead_locks_are_removed(tmp_path: Path) -> None:
    def deadly(trial: Any, settings: Mapping[str, Value]) -> Tried:
        if trial.number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return learn(trial, settings)

    planned, folder = plan(trials=4, sampler="tpe"), tmp_path / "killed"
    folder.mkdir()
    killed_for_good(folder, planned, deadly)
    left = sorted(path.name for path in (folder / "locks").iterdir())
    assert left[1:] == ["journal", "study"]
    queue = TrialQueue(folder, planned)
    with queue:
        at_work = sorted(path.name for path in (folder / "locks").iterdir())
        assert at_work == [queue.process, "journal", "study"]
    work(queue, learn)
    assert made(queue) == made(run_killed(tmp_path / "alone", planned, []))
    assert sorted(path.name for path in (folder / "locks").iterdir()) == ["journal", "study"]


def test_locks_of_the_living_and_files_of_others_stay(tmp_path: Path) -> None:
    with TrialQueue(tmp_path, plan()) as living:
        for name in ("notes", "12-of-mine"):
            (tmp_path / "locks" / name).touch()
        with TrialQueue(tmp_path, plan()):
            names = {path.name for path in (tmp_path / "locks").iterdir()}
            assert {living.process, "notes", "12-of-mine"} <= names
        _, settings = take(living)
        with TrialQueue(tmp_path, plan()) as other:
            assert take(other)[1] != settings


@pytest.mark.parametrize("sampler", ["random", "grid"])
def test_several_processes_one_of_them_killed_make_what_one_makes(
    tmp_path: Path, sampler: str
) -> None:
    space = ["model.dropout=0|0.1|0.2|0.3", "train.lr=0.1|0.2|0.3"]
    planned = plan(space, trials=8, sampler=sampler)
    alone = made(run_killed(tmp_path / "alone", planned, []))
    folder = tmp_path / "several"
    folder.mkdir()
    with TrialQueue(folder, planned) as one:
        taken = one.take()
        assert taken is not None
        with TrialQueue(folder, planned) as dead:
            take(dead)
        work(TrialQueue(folder, planned), learn)
        one.finish(taken[0], learn(taken[0], taken[1]))
    several = made(one)

    def settings(trials: list[Any]) -> list[tuple[Value, ...]]:
        return sorted(tuple(params.values()) for params, *_ in trials)

    assert settings(several) == settings(alone)


@pytest.mark.parametrize(
    "name", ["../../outside/file", "{outside}/file", "study", ".", "", 3, None]
)
def test_a_process_is_a_name_of_ours_whatever_the_journal_says(tmp_path: Path, name: Any) -> None:
    folder = tmp_path / "search"
    folder.mkdir()
    outside = outside_of(folder)
    with TrialQueue(folder, plan(trials=1)) as queue:
        told = name.format(outside=outside) if isinstance(name, str) else name
        queue.study.ask().set_user_attr("process", told)
        held = ProcessLock(outside / "file")
        with held:  # a file outside is not asked whether somebody holds it
            assert take(queue)[0] == 1
        assert states(queue) == ["FAIL", "RUNNING"]
    assert is_untouched(outside)
