"""Which run is to be resumed, and from which of its checkpoints."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError, DataError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import read_json
from netwright.recipes.plan.recipe import Recipe, is_imported, own_parts, parse_recipe
from netwright.recipes.plan.recipe_file import read_own_recipe
from netwright.recipes.saved.run_folder import automatic_folders, is_empty
from netwright.train.saving.checkpoint_store import check_checkpoint, newest_good
from netwright.train.saving.conditions import FREE, find_changes

AUTO, NEVER = "auto", "never"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a run goes on.

    Args:
        folder: the run folder.
        checkpoint: to go on from; None: from the beginning.
        remarks: what should be said about it.
    """

    folder: Path
    checkpoint: Path | None = None
    remarks: tuple[str, ...] = ()

    def as_text(self) -> str:
        """The two places, for another process."""
        return json.dumps([str(self.folder), str(self.checkpoint or "")])

    @classmethod
    def from_text(cls, text: str) -> "Origin":
        """What `as_text` gave."""
        folder, checkpoint = json.loads(text)
        return cls(folder=Path(folder), checkpoint=Path(checkpoint) if checkpoint else None)


def find_run(
    resume: str | Path, out: Path | None, recipe: Recipe, names: tuple[str, str]
) -> Path | None:
    """The run, or its checkpoint, to resume; None where a new run begins.

    Args:
        resume: "never"; "auto": in `out`, or in the newest unfinished run of the same recipe that
            has a folder with an automatic name; or the folder of a run or of a checkpoint.
        out: the run folder that was asked for.
        recipe: what is to be trained.
        names: of the model and the data, as in automatic folder names.
    """
    if not isinstance(resume, str | Path):
        raise ConfigError(f"resume must be 'auto', 'never' or the folder of a run, got {resume!r}")
    if resume == NEVER:
        return None
    if resume == AUTO:
        if out is None:
            return next(_unfinished(names, recipe), None)
        place = None if is_empty(out) else out
    else:
        place = Path(resume)
        if out is not None and out.resolve() != run_of(place).resolve():
            raise ConfigError(f"the run is resumed in {run_of(place)}: remove `out`")
    if place is not None and not has_file(run_of(place) / "config.yaml"):
        raise ConfigError(f"{run_of(place)} is not a run folder: it has no config.yaml")
    return place


def run_of(place: Path) -> Path:
    """The run folder of a run folder or of one of its checkpoints."""
    parent = place.parent if place.parent.name else place.resolve().parent
    return parent.parent if parent.name == "checkpoints" else place


def find_origin(place: Path, recipe: Recipe, *, starts_over: bool = False) -> Origin:
    """Where to go on in this folder: the checkpoint that it is, or the newest good one in it.

    Args:
        place: the folder of a run or of a checkpoint.
        recipe: what is to be trained; where nothing can be resumed it must be the same.
        starts_over: the model learns in one go, and there is nothing to go on from.
    """
    folder = run_of(place)
    if starts_over:
        _check_same(folder, recipe)
        return Origin(
            folder=folder, remarks=(f"{recipe.model} is trained in one step: it starts over",)
        )
    if place != folder:
        check_checkpoint(place)
        return Origin(folder=folder, checkpoint=place)
    checkpoint, remarks = newest_good(folder)
    if checkpoint is None:
        if remarks:
            reason = remarks[0].partition(";")[0]
            raise DataError(f"{folder} has no intact checkpoint: {reason}")
        _check_same(folder, recipe)
        remarks = [f"{folder} has no checkpoint yet: the run starts over"]
    return Origin(folder=folder, checkpoint=checkpoint, remarks=tuple(remarks))


def check_named(folder: Path) -> None:
    """Refuse a run that the command cannot build again: its model or data came from Python."""
    values = read_own_recipe(folder)
    if is_imported(values.get("data")):
        raise ConfigError(
            f"{folder} was imported, not trained: start a run from its weights with --from {folder}"
        )
    own = [f"a {part} ({name})" for part, name in own_parts(values).items()]
    for part, what in (("model", "a module"), ("data", "arrays")):
        section = values.get(part)
        if not (section.get("name") if isinstance(section, dict) else section):
            own.append(what)
    if own:
        raise ConfigError(
            f"{folder} was trained with {own[-1]} of your own: resume it in Python with "
            f"nw.fit(..., resume={str(folder)!r})"
        )


def _check_same(folder: Path, recipe: Recipe) -> None:
    """Refuse to begin again in the folder of another recipe: its run would be lost."""
    before, now = _course_of(folder), _course(recipe.to_mapping())
    changes = find_changes(_flat(before), _flat(now))
    if changes:
        first = next(iter(changes.values()))
        raise ConfigError(
            f"{folder} contains a run of another recipe ({first}); give another folder"
        )


def _flat(recipe: dict[str, Any]) -> dict[str, Any]:
    """Every setting by its path: model.hidden, train.lr ..."""
    flat: dict[str, Any] = {}
    for section, values in recipe.items():
        named = values if isinstance(values, dict) else {"": values}
        flat |= {f"{section}.{name}".rstrip("."): value for name, value in named.items()}
    return flat


def is_finished(folder: Path) -> bool:
    """Whether the run in a folder has nothing left to learn."""
    results = folder / "results.json"
    values = read_json(results) if has_file(results) else None
    return isinstance(values, dict) and bool(values.get("finished", True))


def _unfinished(names: tuple[str, str], recipe: Recipe) -> Iterator[Path]:
    """The unfinished runs of this recipe, newest first."""
    wanted = _course(recipe.to_mapping())
    for folder in reversed(automatic_folders(*names)):
        if not has_file(folder / "config.yaml") or is_finished(folder):
            continue
        if _course_of(folder) == wanted:
            yield folder


def _course_of(folder: Path) -> dict[str, Any]:
    """The way that the run in a folder takes; settings that came later are at their defaults."""
    values = read_own_recipe(folder)
    with suppress(ConfigError):  # with a module or arrays of its own it cannot be built by names
        values = parse_recipe(values).to_mapping()
    return _course(values)


def _course(recipe: dict[str, Any]) -> dict[str, Any]:
    """A recipe without the settings that do not change the way a run takes, or are not set."""
    settings = recipe.get("train", {})
    course = {k: v for k, v in settings.items() if k not in FREE and v is not None}
    return {**recipe, "train": course}
