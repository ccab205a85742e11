"""Which run is to be gone on with, and from which of its checkpoints."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError, DataError
from netwright.core.storage import read_json
from netwright.recipes.recipe import Recipe
from netwright.recipes.recipe_file import read_recipe_file
from netwright.recipes.run_folder import automatic_folders, is_empty
from netwright.train.checkpoint_store import check_checkpoint, newest_good
from netwright.train.conditions import FREE

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


def find_origin(
    resume: str | Path, out: Path | None, recipe: Recipe, names: tuple[str, str]
) -> Origin | None:
    """Where to go on; None where a new run begins.

    Args:
        resume: "never"; "auto": in `out`, or in the newest unfinished run of the same recipe that
            has a folder with an automatic name; or the folder of a run or of a checkpoint.
        out: the run folder that was asked for.
        recipe: what is to be trained.
        names: of the model and the data, as in automatic folder names.
    """
    if resume == NEVER:
        return None
    if resume != AUTO:
        place = Path(resume)
        if out is not None and out.resolve() != run_of(place).resolve():
            raise ConfigError(f"the run goes on in {run_of(place)}: leave `out` away")
        return origin_at(place)
    if out is not None:
        return None if is_empty(out) else origin_at(out)
    newest = next(_unfinished(names, recipe), None)
    return None if newest is None else origin_at(newest)


def run_of(place: Path) -> Path:
    """The run folder of a run folder or of one of its checkpoints."""
    return place.parent.parent if place.parent.name == "checkpoints" else place


def origin_at(place: Path) -> Origin:
    """Where to go on in this folder: the checkpoint that it is, or the newest good one in it."""
    folder = run_of(place)
    if not (folder / "config.yaml").is_file():
        raise ConfigError(f"{folder} is not a run folder: it has no config.yaml")
    if place != folder:
        check_checkpoint(place)
        return Origin(folder=folder, checkpoint=place)
    checkpoint, remarks = newest_good(folder)
    if checkpoint is None and remarks:
        raise DataError(f"{folder} has no checkpoint that is whole: {remarks[0].partition(';')[0]}")
    if checkpoint is None:
        remarks = [f"{folder} has no checkpoint yet: the run begins again"]
    return Origin(folder=folder, checkpoint=checkpoint, remarks=tuple(remarks))


def is_finished(folder: Path) -> bool:
    """Whether the run in a folder has nothing left to learn."""
    results = folder / "results.json"
    return results.is_file() and bool(read_json(results).get("finished", True))


def _unfinished(names: tuple[str, str], recipe: Recipe) -> Iterator[Path]:
    """The unfinished runs of this recipe, newest first."""
    wanted = _course(recipe.to_mapping())
    for folder in reversed(automatic_folders(*names)):
        config = folder / "config.yaml"
        if not config.is_file() or is_finished(folder):
            continue
        if _course(read_recipe_file(config)) == wanted:
            yield folder


def _course(recipe: dict[str, Any]) -> dict[str, Any]:
    """A recipe without the settings that do not change the way a run takes."""
    settings = recipe.get("train", {})
    return {**recipe, "train": {k: v for k, v in settings.items() if k not in FREE}}
