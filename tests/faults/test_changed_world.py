"""T14: the world changes between a run and its resume: each change is refused by its difference.

A refusal leaves the run as it was. Where it is possible to go on, `allow` with the name that the
refusal gives goes on.
"""

import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import netwright as nw
from netwright.apps.cli.main import run
from netwright.core import version
from netwright.core.errors import ConfigError, NetwrightError
from netwright.core.files.folder_lock import LOCK
from netwright.core.files.storage import read_json
from netwright.recipes.fitting import gradient_fit
from netwright.train.callback import Callback
from netwright.train.saving import checkpoint
from netwright.train.saving.checkpoint import load_checkpoint
from netwright.train.state import TrainState
from tests.faults.scenario import Figures, Scenario
from tests.repetition import slow_but
from tests.train.toy_runs import toy_data

SETTINGS: dict[str, Any] = {
    "hidden": (8,),
    "epochs": 3,
    "save_every": 1,
}
STOP_AT = 7  # of 6 steps an epoch: in the second


def write_table(path: Path, *, lines: Sequence[str] | None = None) -> None:
    """Sixty rows: the class says whether size exceeds 5."""
    rows = [f"{row / 6:.3f},{'big' if row > 30 else 'small'}" for row in range(60)]
    path.write_text("\n".join(["size,kind", *(lines or rows)]) + "\n", encoding="utf-8")


def write_arrays(folder: Path) -> None:
    """Five thousand rows, so that one is easily overlooked: the class says whether x0 > 2.5."""
    folder.mkdir()
    first = np.arange(5000, dtype=np.float32) / 1000
    np.save(folder / "inputs.npy", np.stack((first, -first), axis=1))
    np.save(folder / "targets.npy", (first > 2.5).astype(np.int64))


def edit_array(folder: Path) -> None:
    """Change the last bit of one number."""
    inputs = np.load(folder / "inputs.npy", mmap_mode="r+")
    inputs[3, 1] = np.nextafter(inputs[3, 1], np.float32(9))
    inputs.flush()


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What a run learns from.

    Args:
        name: of the file or folder.
        write: writes it.
        settings: with it; they make 6 steps an epoch.
    """

    name: str
    write: Callable[[Path], None]
    settings: dict[str, Any]


TABLE = Stored(name="table.csv", write=write_table, settings={"target": "kind", "batch_size": 8})
ARRAYS = Stored(
    name="arrays", write=write_arrays, settings={"standardize": False, "batch_size": 600}
)


def edit(path: Path, change: Callable[[list[str]], Sequence[str]]) -> None:
    """Change the rows of a table."""
    write_table(path, lines=change(path.read_text(encoding="utf-8").splitlines()[1:]))


def exchange_number(rows: list[str]) -> list[str]:
    return [row.replace("2.500,", "2.501,") for row in rows]


def rename_class(rows: list[str]) -> list[str]:
    return [row.replace("big", "huge") for row in rows]


@dataclass(frozen=True, kw_only=True)
class Change:
    """Something that is not as it was.

    Args:
        difference: a pattern of what the refusal says of it.
        allow: the names under which it may be allowed; empty where it cannot be gone on.
        settings: other settings, for `nw.fit`.
        words: the same, as typed.
        data: what happens to the data on disk.
        version: of netwright.
    """

    difference: str
    allow: str = ""
    settings: dict[str, Any] | None = None
    words: tuple[str, ...] = ()
    data: Callable[[Path], object] | None = None
    version: str = ""


CHANGES = {
    "batch size": Change(
        difference="batch_size was 8, is 4",
        allow="batch_size",
        settings={"batch_size": 4},
        words=("--batch-size", "4"),
    ),
    "one number of the data": Change(
        difference="the train split has different rows",
        allow="data",
        data=lambda path: edit(path, exchange_number),
    ),
    "two rows more": Change(
        difference="the train split had 42 rows, has 44",
        allow="data",
        data=lambda path: edit(path, lambda rows: [*rows, "9.9,big", "9.8,big"]),
    ),
    "order of the data": Change(
        difference="the train split has different rows",  # the rows are split by their place
        allow="data",
        data=lambda path: edit(path, lambda rows: rows[::-1]),
    ),
    "classes": Change(
        difference="the classes were big, small, are huge, small",
        allow="classes",
        data=lambda path: edit(path, rename_class),
    ),
    "width of the model": Change(
        difference=r"the model has changed: '\S+' was 8x1 \S+, is 16x1 \S+",
        settings={"hidden": (16,)},
        words=("--set", "model.hidden=16"),
    ),
    "activation": Change(
        difference=r"the model has changed: '\S+' was ReLU\(\), is Tanh\(\)",
        allow="layers",
        settings={"activation": "tanh"},
        words=("--set", "model.activation=tanh"),
    ),
    "optimizer": Change(
        difference="optimizer was adam, is momentum",
        allow="optimizer",
        settings={"optimizer": "momentum"},
        words=("--optimizer", "momentum"),
    ),
    "schedule": Change(
        difference="epochs was not set, is 3; schedule was constant, is cosine",
        allow="epochs,schedule",
        settings={"schedule": "cosine"},
        words=("--set", "train.schedule=cosine"),
    ),
    "precision": Change(
        difference="precision was fp32, is bf16-mixed",
        allow="precision",
        settings={"precision": "bf16-mixed"},
        words=("--precision", "bf16-mixed"),
    ),
    "version": Change(difference=r"netwright was \S+, is 99\.0", allow="netwright", version="99.0"),
    "deleted file": Change(difference=r"table\.csv", data=Path.unlink),
}
ARRAY_CHANGES = {
    "one bit of the data": Change(
        difference="the train split has different rows", allow="data", data=edit_array
    ),
    "factor": Change(
        difference="the train split has different rows",
        allow="data",
        settings={"factor": 10.0},
        words=("--set", "data.factor=10"),
    ),
    "standardize": Change(
        difference="the train split has different rows",
        allow="data",
        settings={"standardize": True},
        words=("--set", "data.standardize=true"),
    ),
}


class EditFile(Callback):
    """Changes a number in a file while the run reads from its own memory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_step_end(self, state: TrainState) -> None:
        if state.step == 2:
            edit(self.path, exchange_number)


class Stop(Callback):
    """Ends the first part of the run."""

    def on_step_end(self, state: TrainState) -> None:
        if state.step == STOP_AT:
            state.cut_short("enough")


class World:
    """A run that was stopped in its second epoch, and the data that it learns from.

    Args:
        folder: an empty one.
        callbacks: of the first part of the run.
        stored: the data.
    """

    def __init__(self, folder: Path, *callbacks: Callback, stored: Stored = TABLE) -> None:
        folder.mkdir()
        self.folder, self.copy = folder, folder.with_name(f"{folder.name}-copy")
        self.stored, self.data, self.run = stored, folder / stored.name, folder / "run"
        stored.write(self.data)
        self.fit(out=self.run, callbacks=[*callbacks, Stop()])
        shutil.copytree(folder, self.copy)

    def put_back(self) -> None:
        """As it was when the run was stopped; a recipe knows its data by the full path."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.copy, self.folder)

    def fit(self, **settings: Any) -> nw.Run:
        everything = {**SETTINGS, **self.stored.settings, **settings}
        return nw.fit("mlp", self.data, quiet=True, **everything)

    def files(self) -> dict[Path, bytes]:
        found = {path: path.read_bytes() for path in self.run.rglob("*") if path.is_file()}
        return {path: content for path, content in found.items() if path.name != LOCK}

    def resume(self, change: Change, *, by_command: bool, allow: str = "") -> str:
        """Go on; the sentence of the refusal, or an empty one where the run came to its end."""
        refusal = (self._type if by_command else self._call)(change, allow)
        if not refusal and read_json(self.run / "results.json")["epochs"] != SETTINGS["epochs"]:
            return "it did not come to its end"
        return refusal

    def _call(self, change: Change, allow: str) -> str:
        try:
            self.fit(resume=self.run, allow=allow.split(","), **(change.settings or {}))
        except NetwrightError as error:
            return str(error)
        return ""

    def _type(self, change: Change, allow: str) -> str:
        words = ["train", "--resume", str(self.run), "--quiet", "--no-report", *change.words]
        with redirect_stderr(StringIO()) as told, redirect_stdout(StringIO()):
            code = run([*words, *(["--allow", allow] if allow else [])])
        return " ".join(told.getvalue().split()) if code else ""


def holds(world: World, change: Change, *, by_command: bool) -> dict[str, bool]:
    """Change the world: what is detected, what stays as it was, whether it can be allowed."""
    before = world.files()
    with pytest.MonkeyPatch.context() as patch:
        if change.version:
            patch.setattr(version, "VERSION", change.version)
        if change.data is not None:
            change.data(world.data)
        sentence = world.resume(change, by_command=by_command)
        found = {
            "detected": re.search(change.difference, sentence) is not None,
            "untouched": world.files() == before,
        }
        if change.allow:
            found["advised"] = sentence.endswith(f"to resume anyway, allow {change.allow}")
            found["gone on"] = not world.resume(change, by_command=by_command, allow=change.allow)
        return found


def measure(folder: Path, step: int = 1) -> Figures:
    """One in so many of all changes, from the last on, by a function and by the command."""
    whole = World(folder / "whole")
    edited = World(folder / "edited", EditFile(folder / "edited" / "table.csv"))
    arrays = World(folder / "arrays", stored=ARRAYS)
    worlds = [(whole, change) for change in CHANGES.values()]
    worlds += [(arrays, change) for change in ARRAY_CHANGES.values()]
    worlds.append((edited, replace(CHANGES["one number of the data"], data=None)))
    outcomes: list[dict[str, bool]] = []
    for world, change in worlds[::-step]:
        for by_command in (False, True):
            world.put_back()
            outcomes.append(holds(world, change, by_command=by_command))
    names = ("detected", "untouched", "advised", "gone on")
    return Figures(
        n=len(outcomes),
        passed=sum(all(found.values()) for found in outcomes),
        counts={name: sum(found.get(name, False) for found in outcomes) for name in names},
    )


SCENARIO = Scenario(
    code="T14",
    title="A changed world at resume",
    measure=measure,
    least={"detected": 2 * (len(CHANGES) + len(ARRAY_CHANGES) + 1)},
)


def test_a_change_is_told_by_its_difference_or_allowed_by_its_name(tmp_path: Path) -> None:
    figures = measure(tmp_path, step=4)
    assert figures.passed == figures.n == figures.counts["detected"] == 8, figures
    assert figures.counts["gone on"] == figures.counts["advised"] == 6


@pytest.mark.slow
def test_every_change_is_told_by_its_difference_or_allowed_by_its_name(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures
    changes = [*CHANGES.values(), *ARRAY_CHANGES.values()]
    assert figures.passed == figures.n == 2 * (len(changes) + 1), figures.counts
    allowed = 2 * sum(bool(change.allow) for change in changes) + 2
    assert figures.counts == {
        "detected": figures.n,
        "untouched": figures.n,
        "advised": allowed,
        "gone on": allowed,
    }


def test_rows_in_another_order_are_told_as_such(tmp_path: Path) -> None:
    data = toy_data()
    settings: dict[str, Any] = {"hidden": (4,), "epochs": 2, "batch_size": 4, "quiet": True}
    nw.fit("mlp", data, out=tmp_path / "run", max_steps=3, **settings)
    turned = replace(data, train=data.train.take(torch.arange(20).flip(0)))
    with pytest.raises(
        ConfigError, match="the train split has its rows in a different order; to resume"
    ):
        nw.fit("mlp", turned, resume=tmp_path / "run", **settings)
    ended = nw.fit("mlp", turned, resume=tmp_path / "run", allow=["data"], **settings)
    assert ended.results["epochs"] == 2


@pytest.mark.parametrize("stored", [TABLE, ARRAYS], ids=lambda stored: stored.name)
def test_an_unchanged_world_is_gone_on_with_exactly(tmp_path: Path, stored: Stored) -> None:
    """Non-vacuity: a refusal of everything would pass all of the above."""
    world = World(tmp_path / "world", stored=stored)
    uninterrupted = world.fit(out=tmp_path / "uninterrupted")
    nothing = Change(difference="")
    for by_command in (False, True):
        world.put_back()
        assert world.resume(nothing, by_command=by_command) == ""
        weights = load_file(world.run / "model" / "model.safetensors")
        for name, weight in uninterrupted.model.state_dict().items():
            assert torch.equal(weights[name], weight.cpu())


@pytest.mark.slow
@pytest.mark.parametrize("by_command", slow_but([False], [False, True]))
def test_planted_bug_conditions_that_are_always_equal_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_command: bool
) -> None:
    monkeypatch.setattr(checkpoint, "find_changes", lambda before, now: {})
    world = World(tmp_path / "world")
    for name in ("batch size", "one number of the data", "classes", "optimizer", "precision"):
        world.put_back()
        assert not holds(world, CHANGES[name], by_command=by_command)["detected"]


def test_planted_bug_a_recipe_that_is_written_before_the_refusal_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def eager(folder: Path, state: TrainState, *parts: Any, **names: Any) -> list[str]:
        (folder.parent.parent / "config.yaml").write_text("written too early")
        return load_checkpoint(folder, state, *parts, **names)

    world = World(tmp_path / "world")
    monkeypatch.setattr(gradient_fit, "load_checkpoint", eager)
    assert not holds(world, CHANGES["optimizer"], by_command=False)["untouched"]
