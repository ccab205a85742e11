"""T16: old checkpoints go, and nothing else: not the best, not the last, not a file of others.

Runs save, die, go on in the same and in other folders, while users put their files everywhere and
deleting fails. After each operation what is there is compared with a reckoning made beside it.
"""

import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import NetwrightError
from netwright.core.files.storage import read_json, write_json
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.saving import checkpoint_store
from netwright.train.saving.checkpoint import save_checkpoint
from netwright.train.saving.checkpoint_store import (
    CheckpointStore,
    Choose,
    check_checkpoint,
    newest_good,
)
from tests.faults.scenario import Figures, Scenario
from tests.faults.test_io_faults import quick_disk
from tests.repetition import slow_but
from tests.train.toy_runs import toy_start

OPERATIONS = 200


class Run:
    """A run folder, and what ought to be in it.

    Args:
        folder: which is made.
        keep: how many of the newest are to stay.
        origin: a checkpoint of another run to go on from.
    """

    def __init__(self, folder: Path, keep: int, origin: Path | None = None) -> None:
        folder.mkdir()
        self.folder, self.keep = folder, keep
        self.places = folder / "checkpoints"
        self.state, self.early = toy_start(), EarlyStopping()
        self.own: list[str] = []  # as they were written
        self.best: str | None = None
        self.users: dict[Path, str] = {}
        self.stuck: set[str] = set()
        self.faults: list[str] = []
        self.start_process(origin)

    def start_process(self, origin: Path | None) -> None:
        """A new process, which goes on from a checkpoint."""
        self.saving = SaveCheckpoints(
            self.folder, best=self.early, keep=self.keep, origin=origin, watched=[self.early]
        )
        if origin is not None and origin.parent == self.places:
            self.own = [*(name for name in self.own if name != origin.name), origin.name]
            self.state.step = int(origin.name.split("-")[1])
        self.early.best_step = -1
        with self.watched():
            self.saving.on_fit_start(self.state)

    def save(self, draw: random.Random) -> None:
        """One more checkpoint: of a new step or, rarely, of the same; it may be the best."""
        self.state.step += draw.choice([0, 1, 1, 1, 7])
        self.state.samples += 1
        name = self.saving.store.place_for(self.state.step).name
        self.early.best_step = self.state.step if draw.random() < 0.3 else -1
        self.own.append(name)
        if self.early.best_step >= 0:
            self.best = name
        with self.watched():
            self.saving.save(self.state)

    def die_before_pointing(self, draw: random.Random) -> None:
        """A kill between a checkpoint and its pointer; the next process finds it."""
        self.state.step += 1
        self.state.samples += 1
        place = self.saving.store.place_for(self.state.step)
        save_checkpoint(place, self.state, [self.early])
        if newest_good(self.folder)[0] != place:  # users' folders of such names are passed over
            self.faults.append(f"{place.name} was not found")
        self.start_process(place)

    def go_on_from_older(self, draw: random.Random) -> None:
        """A new process from any checkpoint that there is."""
        there = [name for name in self.own if self.is_whole(name)]
        self.start_process(self.places / draw.choice(there) if there else None)

    def get_stuck(self, draw: random.Random) -> None:
        """For some time a checkpoint cannot be deleted."""
        self.stuck = {draw.choice(self.own)} if self.own and not self.stuck else set()
        self.save(draw)

    def put_file(self, draw: random.Random) -> None:
        """A user's file: in the run, among the checkpoints, inside one of them or of their name."""
        number = len(self.users)
        inside = [self.places / name for name in self.own if (self.places / name).is_dir()]
        foreign = self.places / f"step-{900 + number:06d}"
        folder = draw.choice(
            [self.folder, self.places, foreign, self.places / "mine", *inside[-1:]]
        )
        folder.mkdir(parents=True, exist_ok=True)
        name = draw.choice(["notes.txt", "model.safetensors", "state.json"])
        file = folder / (f"{number}-{name}" if folder in inside else name)
        self.users[file] = f"of user {number}"
        file.write_text(self.users[file])
        self.save(draw)

    def kept(self) -> set[str]:
        return {*self.own[-self.keep :], *([self.best] if self.best else [])}

    def is_whole(self, name: str) -> bool:
        try:
            check_checkpoint(self.places / name)
        except NetwrightError:
            return False
        return True

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look at the pointers after every single act, and let the stuck ones not be deleted."""
        remove, unlink = checkpoint_store._remove, os.unlink

        def looked_at(act: Callable[..., Any]) -> Callable[..., Any]:
            def acted(*args: Any) -> Any:
                done = act(*args)
                self.check_pointers()
                return done

            return acted

        def refusing(name: str, *, dir_fd: int) -> None:
            here, places = os.stat(dir_fd), (self.places / stuck for stuck in self.stuck)
            if any(os.path.samestat(here, place.stat()) for place in places if place.exists()):
                raise PermissionError(13, "Permission denied")
            unlink(name, dir_fd=dir_fd)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(checkpoint_store, "write_json", looked_at(write_json))
            patch.setattr(checkpoint_store, "_remove", looked_at(remove))
            patch.setattr(os, "unlink", refusing)
            yield

    def check_pointers(self) -> None:
        """A kill right now would leave pointers to what is whole."""
        for pointer in ("last.json", "best.json"):
            if (self.folder / pointer).exists():
                name = read_json(self.folder / pointer)["checkpoint"]
                if not self.is_whole(name):
                    self.faults.append(f"{pointer} names {name}, which is not whole")

    def check(self) -> list[str]:
        """What is not as it ought to be."""
        for file, text in self.users.items():
            if not file.is_file() or file.read_text() != text:
                self.faults.append(f"{file} of a user is gone")
        for name in self.kept():
            if not self.is_whole(name):
                self.faults.append(f"{name} was to be kept")
        used = {file.parent.name for file in self.users}
        for name in set(self.own) - self.kept() - self.stuck - used:
            if (self.places / name).exists():
                self.faults.append(f"{name} was to go")
        faults, self.faults = self.faults, []
        return faults

    def may_go(self, path: Path) -> bool:
        """Whether this file or folder was the run's own, and is not wanted any more."""
        place = path if path.parent == self.places else path.parent
        return (
            place.parent == self.places
            and place.name in set(self.own) - self.kept()
            and path not in self.users
        )


KINDS: dict[str, tuple[Callable[[Run, random.Random], None], int]] = {
    "saves": (Run.save, 10),
    "kills": (Run.die_before_pointing, 2),
    "older ones gone on from": (Run.go_on_from_older, 2),
    "stuck deletions": (Run.get_stuck, 3),
    "user files": (Run.put_file, 3),
}


def operate(folder: Path, operations: int, counts: dict[str, float]) -> Iterator[bool]:
    """Do the operations on four runs; whether each left what it should."""
    draw, runs = random.Random(0), [Run(folder / f"keep-{keep}", keep) for keep in (1, 2, 3)]
    for run in runs:
        run.save(draw)
    for number in range(operations):
        if number == operations // 2:  # one more run, which goes on from a checkpoint of another
            origin = runs[0].places / runs[0].own[-1]
            runs.append(Run(folder / "another", 1, origin))
        before = set(folder.rglob("*"))
        names, weights = zip(*((name, part[1]) for name, part in KINDS.items()), strict=True)
        (kind,) = draw.choices(names, weights)
        KINDS[kind][0](draw.choice(runs), draw)
        gone = before - set(folder.rglob("*"))
        wrong = [path for path in gone if not any(run.may_go(path) for run in runs)]
        counts[kind] = counts.get(kind, 0) + 1
        counts["deleted"] += len(gone)
        counts["wrong deletions"] += len(wrong)
        yield not wrong and not [fault for run in runs for fault in run.check()]


def measure(folder: Path, operations: int = OPERATIONS) -> Figures:
    counts: dict[str, float] = {"wrong deletions": 0, "deleted": 0}
    with quick_disk():
        held = list(operate(folder, operations, counts))
    return Figures(n=len(held), passed=sum(held), counts=counts)


SCENARIO = Scenario(
    code="T16",
    title="Retention of checkpoints",
    measure=measure,
    least={"deleted": 301, **dict.fromkeys(KINDS, 10)},
)


def test_only_a_runs_own_old_checkpoints_are_deleted(tmp_path: Path) -> None:
    few = OPERATIONS // 4
    figures = measure(tmp_path, few)
    assert figures.passed == figures.n == few, figures
    assert figures.counts["deleted"] > few
    assert figures.counts["wrong deletions"] == 0


@pytest.mark.slow
def test_only_old_checkpoints_are_deleted_whatever_happens(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures
    assert (figures.n, figures.counts["wrong deletions"]) == (OPERATIONS, 0)


@pytest.mark.parametrize("keep", [1, 2])
def test_while_one_is_written_there_are_one_more_than_are_kept(tmp_path: Path, keep: int) -> None:
    """With `keep=1` a save that fails would otherwise leave none."""
    run, draw, seen = Run(tmp_path / "run", keep), random.Random(0), list[int]()
    for _ in range(6):
        run.save(draw)

    def counted(*args: Any) -> None:
        seen.append(sum(run.is_whole(name) for name in set(run.own)))
        write_json(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint_store, "write_json", counted)
        run.state.step += 1
        run.state.samples += 1
        run.own.append(checkpoint_store.step_name(run.state.step))
        run.saving.save(run.state)
    assert seen[0] >= keep + 1
    assert run.check() == []


def all_but_the_newest(store: CheckpointStore, place: Path, *, choose: Choose) -> None:
    for other in store.path.glob("*"):
        if other != place and other.is_dir():
            shutil.rmtree(other, ignore_errors=True)


def without_the_best(store: CheckpointStore, place: Path, *, choose: Choose) -> None:
    store.best = None


def by_their_names(store: CheckpointStore, place: Path, *, choose: Choose) -> None:
    """Whatever is called like a checkpoint counts as the run's own."""
    for other in sorted(store.path.glob("step-*"))[: -store.keep]:
        if other.name not in {store.best, place.name}:
            shutil.rmtree(other, ignore_errors=True)


@pytest.mark.parametrize(
    "bug",
    slow_but([all_but_the_newest], [all_but_the_newest, without_the_best, by_their_names]),
)
def test_planted_bug_deleting_too_much_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: Callable[..., None]
) -> None:
    add = CheckpointStore.add

    def also(store: CheckpointStore, place: Path, *, choose: Choose) -> None:
        bug(store, place, choose=choose)
        add(store, place, choose=choose)

    monkeypatch.setattr(CheckpointStore, "add", also)
    figures = measure(tmp_path, 40)
    assert figures.passed < figures.n
    assert figures.counts["wrong deletions"] > 0


@pytest.mark.slow
def test_planted_bug_a_purge_that_stops_at_the_first_failure_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove, failed = checkpoint_store._remove, list[Path]()

    def impatient(place: Path) -> bool:
        if not failed and not remove(place):
            failed.append(place)
        return not failed

    monkeypatch.setattr(checkpoint_store, "_remove", impatient)
    assert measure(tmp_path, 60).passed < 60


def test_planted_bug_a_pointer_that_moves_too_late_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = CheckpointStore._point_to_last

    def late(store: CheckpointStore) -> None:
        for name in store.saved[: -store.keep]:
            if name != store.best:
                checkpoint_store._remove(store.path / name)
        point(store)

    monkeypatch.setattr(CheckpointStore, "_point_to_last", late)
    assert measure(tmp_path, 20).passed < 20
