"""Whether a user's own run goes on exactly: a copy of it is stopped on its way, and compared.

The copy goes on from the newest checkpoint twice: once without a stop, once stopped at a random
step and taken up by a new process. Both must end with the same bits.
"""

import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from netwright.core.errors import ConfigError, RunError
from netwright.core.files.inside import has_file
from netwright.core.files.manifest import read_folder, whole_folder
from netwright.core.files.open_tensors import read_tensors
from netwright.core.files.storage import new_folder, read_json, write_text
from netwright.recipes.plan.recipe_file import read_own_recipe, to_yaml
from netwright.recipes.saved.resume import check_named, is_finished, run_of
from netwright.train.saving.checkpoint import CHECKPOINTS, run_around
from netwright.train.saving.checkpoint_store import newest_good
from netwright.train.saving.conditions import LENGTHS
from netwright.train.watching.history import without_clock

MOST_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What came of it.

    Args:
        run: whose copy went on.
        first: the step of the checkpoint it went on from.
        stopped: the step at which it was stopped and taken up again.
        last: the step at which both were compared.
        compared: tensors and plain values that were compared.
        different: the names of those that differ.
    """

    run: Path
    first: int
    stopped: int
    last: int
    compared: int
    different: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether all are the same, bit for bit."""
        return not self.different

    def __str__(self) -> str:
        way = (
            f"from step {self.first} to {self.last}, interrupted and resumed at step {self.stopped}"
        )
        if self.holds:
            return f"{way}: all {self.compared} tensors and values are the same, bit for bit"
        named = ", ".join(self.different[:MOST_NAMED])
        count = len(self.different)
        return f"{way}: {count} of {self.compared} tensors and values differ: {named}"


def verify_resume(run: Path, *, steps: int = 200, seed: int | None = None) -> Verification:
    """Let two copies of a run go on, one of them with a stop, and compare where they end.

    Args:
        run: the folder of a run of a named model on named data.
        steps: how far to go; less where the run ends before.
        seed: of the step at which to stop; None: another one each time.
    """
    if steps < 2:
        raise ConfigError(f"steps must be at least 2, to interrupt between them, got {steps}")
    run = run_of(run)
    if not has_file(run / "config.yaml"):
        raise ConfigError(f"{run} is not a run folder: it has no config.yaml")
    check_named(run)
    checkpoint, _ = newest_good(run)
    if checkpoint is None:
        raise ConfigError(f"{run} has no checkpoint to resume from")
    state = _plain(checkpoint)
    with tempfile.TemporaryDirectory(prefix="netwright-verify-") as scratch:
        whole, parted = Path(scratch) / "whole", Path(scratch) / "parted"
        files = read_folder(checkpoint, inside=run)
        for copy in (whole, parted):
            place = copy / CHECKPOINTS / checkpoint.name
            place.parent.mkdir(parents=True)
            with new_folder(place) as staging:
                for name, content in files.items():
                    staging.write(name, content)
        settings = _settings(run, state, steps)
        first, last = state["step"], _go_on(whole, settings, state["step"] + steps)
        if last < first + 2:
            raise RunError(f"{run} has only {last - first} steps left: too few to interrupt")
        stopped = random.Random(seed).randint(first + 1, last - 1)
        _go_on(parted, settings, stopped)
        _go_on(parted, settings, last)
        ends = [_contents(copy) for copy in (whole, parted)]
    names = [*ends[0], *(name for name in ends[1] if name not in ends[0])]
    return Verification(
        run=run,
        first=first,
        stopped=stopped,
        last=last,
        compared=len(names),
        different=tuple(name for name in names if ends[0].get(name) != ends[1].get(name)),
    )


def _settings(run: Path, state: dict[str, Any], steps: int) -> dict[str, Any]:
    """The run's recipe, with room to go on where it had ended."""
    recipe = read_own_recipe(run)
    train = {**recipe["train"], "patience": None}
    if is_finished(run) or train.get("epochs") is None:
        train["epochs"] = state["epoch"] + steps
    if train.get("log_every") is None and not state.get("callbacks/StepRows/is_chosen"):
        train["log_every"] = 1  # each copy would choose by its own time
    return {**recipe, "train": train}


def _go_on(copy: Path, recipe: dict[str, Any], last: int) -> int:
    """Let a new process go on with a copy until this step; gives the step it reached."""
    write_text(copy / "config.yaml", to_yaml(recipe))
    checkpoint, _ = newest_good(copy)
    processes = 1 if checkpoint is None else _plain(checkpoint)["conditions/processes"]
    command = [sys.executable, "-P", "-m", "netwright", "train", "--resume", str(copy)]
    command += ["--no-report", "--quiet", "--nproc", str(processes), "--allow", ",".join(LENGTHS)]
    command += ["--set", f"train.max_steps={last}"]
    # Another order of hashes: nothing may depend on it.
    environment = {**os.environ, "PYTHONHASHSEED": str(random.randrange(2**32))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        words = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise RunError(f"a copy of the run could not be resumed: {words.removeprefix('error: ')}")
    reached, _ = newest_good(copy)
    if reached is None:
        raise RunError("a copy of the run wrote no checkpoint")
    step: int = read_json(reached / "state.json", inside=copy)["step"]
    return step


def _contents(copy: Path) -> dict[str, Any]:
    """The newest checkpoint by name: tensors as bytes, all else but times as plain values."""
    place, _ = newest_good(copy)
    if place is None:
        raise RunError("a copy of the run wrote no checkpoint")
    contents: dict[str, Any] = _plain(place)
    with whole_folder(place, inside=copy) as files:
        for file in (name for name in files if name.endswith(".safetensors")):
            tensors = read_tensors(files[file], place / file)
            part = file.removesuffix(".safetensors")
            contents |= {f"{part}: {name}": _bytes(tensor) for name, tensor in tensors.items()}
    return contents


def _bytes(tensor: Tensor) -> tuple[str, bytes]:
    return f"{tensor.dtype} {tuple(tensor.shape)}", tensor.flatten().view(
        torch.uint8
    ).numpy().tobytes()


def _plain(place: Path) -> dict[str, Any]:
    """Every plain value of a checkpoint's state by its path, without times, speed and memory."""
    values = read_json(place / "state.json", inside=run_around(place))
    del values["elapsed"]
    values["history"] = [without_clock(row) for row in values["history"]]
    found: dict[str, Any] = {}

    def walk(tree: Any, path: str) -> None:
        if isinstance(tree, dict) and "$pairs" in tree:
            tree = dict(tree["$pairs"])
        if isinstance(tree, dict):
            for key, value in tree.items():
                walk(value, f"{path}/{key}" if path else str(key))
        elif isinstance(tree, list):
            for index, value in enumerate(tree):
                walk(value, f"{path}/{index}")
        else:
            found[path] = tree

    walk(values, "")
    return found
