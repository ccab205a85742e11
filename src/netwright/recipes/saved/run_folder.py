"""The files a run leaves: a plain folder that can be copied, mailed and opened elsewhere.

config.yaml      the resolved recipe              metrics.jsonl   one row a measurement
env.json         versions and device              results.json    test metrics and baseline
checkpoints/     the whole state, by step         best.json, last.json   pointers into it
model/           the best weights, with all that is needed to predict
layers.jsonl     what each layer did at the steps that the doctor watched
path.safetensors a few snapshots of the weights along the way, where they are small enough
profile.json     where the time and memory of an update went, where that was asked for
"""

import re
import shlex
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from netwright.core.adapted_module import AdaptedModule, module_name
from netwright.core.devices import pick_device
from netwright.core.errors import ConfigError, DataError, NetwrightError
from netwright.core.field_kinds import check_fields
from netwright.core.files.folder_lock import LOCK
from netwright.core.files.inside import check_entries, has_file, has_folder, open_folder
from netwright.core.files.json_text import json_value, parse_json
from netwright.core.files.manifest import whole_folder
from netwright.core.files.open_tensors import read_tensors
from netwright.core.files.storage import (
    MANIFEST,
    as_json,
    is_left_over,
    new_folder,
    read_bytes,
    read_record,
    write_json,
    write_text,
)
from netwright.core.files.tensor_content import TensorContent
from netwright.data.catalog import PREPROCESSORS
from netwright.data.dataset import Data
from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import DataSpec
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.plan.recipe_file import to_yaml
from netwright.recipes.saved.environment import describe_environment
from netwright.recipes.saved.fitting_parts import check_fitting
from netwright.recipes.saved.known_files import MODEL, RUN
from netwright.train.saving.checkpoint import read_model
from netwright.train.saving.checkpoint_store import newest_good
from netwright.train.tasks.catalog import task_from_json
from netwright.train.tasks.task import Task

FORMAT = 1
RUNS = "runs"  # where folders without a name of their own are made
FIRST_STEPS = 10  # a run that fails in these has learned nothing
# What is there before anything is saved.
BEGUN = {"config.yaml", "env.json", "metrics.jsonl", "layers.jsonl", LOCK}


def create_run_folder(out: Path | None, model: str, data: str) -> Path:
    """A new, empty folder: `out`, or the next free runs/MODEL-DATA-NNN."""
    if out is None:
        return next_folder(RUNS, model, data)
    check_free(out)
    make_if_absent(out)
    return out


def check_free(out: Path) -> None:
    """Refuse a folder that holds something already."""
    if not is_empty(out):
        raise ConfigError(f"{out} already exists and is not empty; give another folder")


def next_folder(parent: str, *names: str) -> Path:
    """A new folder: the next free PARENT/NAME-NAME-NNN."""
    name = "-".join(map(_plain_name, names))
    return _first_free(Path(parent) / f"{name}-{number:03d}" for number in count(1))


def automatic_folders(model: str, data: str) -> list[Path]:
    """The folders runs/MODEL-DATA-NNN that are there, oldest first."""
    name = f"{_plain_name(model)}-{_plain_name(data)}"
    found = [
        (int(match[1]), folder)
        for folder in Path(RUNS).glob(f"{name}-*")
        if (match := re.fullmatch(re.escape(name) + r"-(\d+)", folder.name))
    ]
    return [folder for _, folder in sorted(found)]


def is_empty(folder: Path) -> bool:
    """Whether a run may begin here: there is nothing, or what a kill left before it had begun."""
    if not folder.exists():
        return True
    return folder.is_dir() and all(
        file.name == LOCK or is_left_over(file.name) for file in folder.iterdir()
    )


def claim_folder(wanted: Path) -> Path:
    """A new folder of this name; where it is taken, NAME-002, NAME-003 and so on."""
    others = (wanted.with_name(f"{wanted.name}-{number:03d}") for number in count(2))
    return _first_free(chain([wanted], others))


def _first_free(folders: Iterable[Path]) -> Path:
    return next(folder for folder in folders if make_if_absent(folder))


def make_if_absent(folder: Path) -> bool:
    """Make the folder; False where it was there."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return False
    except OSError as error:
        place = error.filename or folder
        raise ConfigError(f"no folder can be created at {place}: {error.strerror}") from None
    return True


def check_own(folder: Path) -> None:
    """Refuse a run folder that holds, where a run writes, anything but files and folders.

    So a link that a stranger has put there is told before a run begins, not at its end.
    """
    check_entries(folder, sorted({*RUN.files, *RUN.folders}))


def let_go_of(folder: Path, *, was_there: bool) -> None:
    """Take a folder away in which a run failed before it had come anywhere.

    What was measured after more than a few steps stays, and so does all that can be resumed.

    Args:
        folder: of the run.
        was_there: it was there before, and empty: so it is again.
    """
    with open_folder(folder) as here:
        names = {name for name in here.names() if not is_left_over(name)}
    if names <= BEGUN and not any(map(_is_worth_keeping, _lines(folder / "metrics.jsonl"))):
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # others have runs there
            if was_there:
                folder.mkdir()
            else:
                Path(RUNS).rmdir()


def _lines(file: Path) -> list[bytes]:
    return read_bytes(file).splitlines() if has_file(file) else []


def _is_worth_keeping(line: bytes) -> bool:
    """Whether a row was measured after the first steps; what is no row is not ours to remove."""
    try:
        row = json_value(line)
        return bool(row["epoch"]) or row["step"] > FIRST_STEPS
    except (ValueError, TypeError, KeyError):
        return True


def write_recipe(folder: Path, recipe: Recipe) -> None:
    """Write what is trained, and where: `config.yaml` and `env.json`."""
    write_text(folder / "config.yaml", to_yaml(recipe.to_mapping()))
    write_json(folder / "env.json", describe_environment(pick_device(recipe.train.device)))


def check_run_folder(folder: Path) -> None:
    """Refuse what is not a run folder, or is one of another format."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a run folder: there is no such folder")
    if not has_file(folder / "config.yaml"):
        raise ConfigError(f"{folder} is not a run folder: it has no config.yaml")
    if not has_folder(folder / "model"):
        raise ConfigError(
            f"{folder} contains an unfinished run, which has no model; resume it with "
            f"`netwright train --resume {shlex.quote(str(folder))}`"
        )
    if not has_file(folder / "results.json"):
        raise ConfigError(f"{folder} is an incomplete run folder: it has no results.json")


def save_model(
    folder: Path, model: nn.Module, section: Mapping[str, Any], data: Data, task: Task
) -> None:
    """Write `model/`: weights, settings, spec, task and preprocessing.

    Args:
        folder: of the run.
        model: with its best weights.
        section: its name and settings, as in `config.yaml`.
        data: what it learned from.
        task: what it learned.
    """
    write_model(
        folder,
        model,
        section,
        name=data.name,
        spec=data.spec,
        preprocessor=data.preprocessor,
        task=task,
        guess=task.baseline(data.train),
    )


def write_model(
    folder: Path,
    model: nn.Module,
    section: Mapping[str, Any],
    *,
    name: str,
    spec: DataSpec,
    preprocessor: Preprocessor,
    task: Task,
    guess: Tensor,
) -> None:
    """The same where the data itself is not at hand.

    Args:
        folder: of the run.
        model: with its best weights.
        section: its name and settings, as in `config.yaml`.
        name: of the data.
        spec: of the data.
        preprocessor: encodes new inputs.
        task: what the model is for.
        guess: the trivial prediction (C,) that it is compared with.
    """
    described = {
        "format": FORMAT,
        "name": section["name"],
        "settings": {key: value for key, value in section.items() if key != "name"},
        "class": module_name(model),
        "data": name,
        "spec": spec.to_json(),
        "task": task.to_json(),
        "baseline": guess.tolist(),
        **({"unmeasured": task.unmeasured} if task.unmeasured else {}),
        **({"own_loss": task.own_loss.name} if task.own_loss is not None else {}),
        **_adapting(model),
    }
    encoder = {"kind": preprocessor.kind, **preprocessor.to_json()}
    with new_folder(folder / "model", replace=True) as staging:  # a resumed run ends again
        staging.write("model.safetensors", TensorContent(model.state_dict()))
        staging.write("config.json", as_json(described))
        staging.write("preprocessor.json", as_json(encoder))


def _adapting(model: nn.Module) -> dict[str, Any]:
    """How a module of several inputs or outputs is called."""
    if not isinstance(model, AdaptedModule):
        return {}
    return {"adapted": {"part": model.part, "whole": model.gives_whole}}


class SavedModel:
    """`model/` read back: what is needed to predict, on any machine.

    Everything is taken from the very files that were compared with the manifest.
    """

    def __init__(self, folder: Path) -> None:
        with whole_folder(folder) as files:
            for name in sorted(MODEL.files - {MANIFEST}):
                if name not in files:
                    raise DataError(
                        f"{folder} contains no complete model: its manifest lacks {name}"
                    )
            described, preprocessor = (
                parse_json(read_record(files[name], folder / name), folder / name)
                for name in ("config.json", "preprocessor.json")
            )
            self.weights = read_tensors(files["model.safetensors"], folder / "model.safetensors")
        form = described.get("format") if isinstance(described, dict) else None
        if form != FORMAT:
            raise DataError(f"{folder} has format {form!r:.20}, not {FORMAT}")
        self.described: Mapping[str, Any] = described
        try:
            self.spec = DataSpec.from_json(self.described["spec"])
            self.task: Task = task_from_json(self.described["task"])
            self.task.unmeasured = str(self.described.get("unmeasured", ""))
            self.preprocessor = _preprocessor(preprocessor)
            self.guess = torch.tensor(self.described["baseline"])
            for record in (self.spec, self.preprocessor):
                check_fields(record)
            self.preprocessor.check_numbers()
            check_fitting(self.spec, self.preprocessor, self.task, self.guess)
        except NetwrightError:
            raise
        except Exception as error:  # whatever a forged description makes them stumble over
            raise DataError(
                f"{folder} does not contain a valid saved model: {error!r:.100}"
            ) from None


def read_weights(run: Path) -> dict[str, Tensor]:
    """The best weights of a run; of one that has not finished those of its newest checkpoint."""
    if has_folder(run / "model"):
        return SavedModel(run / "model").weights
    checkpoint, _ = newest_good(run)
    if checkpoint is None:
        published = run / "model.safetensors"
        raise ConfigError(
            f"{run} contains no weights: it has neither a model nor a checkpoint"
            + (f"; did you mean {published}?" if has_file(published) else "")
        )
    return read_model(checkpoint)


def _preprocessor(values: dict[str, Any]) -> Preprocessor:
    kind = values.pop("kind")
    return PREPROCESSORS.load(kind).from_json(values)


def _plain_name(text: str) -> str:
    """A part of a folder's name: letters, digits and dashes."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()[:40] or "run"
