"""The data of a saved run, loaded again: where it lies, and whether it is still what it was."""

import glob
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netwright.core.errors import DataError
from netwright.core.files.inside import has_file, has_folder
from netwright.data.dataset import Data
from netwright.data.files.addresses import is_address
from netwright.data.fingerprint import fingerprint
from netwright.data.preprocessing import Preprocessor
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.plan.recipe_file import read_own_recipe
from netwright.recipes.plan.sources import load_named, reload_named
from netwright.recipes.saved.results_file import read_results
from netwright.recipes.saved.resume import AUTO, NEVER, run_of
from netwright.recipes.saved.run_folder import SavedModel


def load_run_data(
    section: Mapping[str, Any], preprocessor: Preprocessor, contents: Mapping[str, Any]
) -> Data:
    """What a run was trained on; data that is gone, or has changed since, is refused.

    Args:
        section: of the data, in the run's recipe.
        preprocessor: fitted on it when the run was trained.
        contents: split -> its fingerprint at that time.
    """
    settings = dict(section)
    name = settings.pop("name")
    if "imported" in settings:
        raise DataError(
            f"this run was imported from {settings['imported']}, without data: give data to "
            "evaluate on"
        )
    if not name:
        raise DataError("this run was trained on arrays that are not saved with it; give data=")
    path = settings.get("path", "")
    if path and not (is_address(path) or Path(path).exists() or glob.glob(path)):
        raise DataError(
            f"the run's data {path} does not exist here: change to the folder in which it was "
            f"trained, or give other data"
        )
    known = _as_learned(name, settings, preprocessor, contents)
    if known is not None:
        return known
    loaded = load_named(name, settings)
    if _has_changed(loaded, preprocessor, contents):
        raise DataError(
            f"{loaded.name} has changed since the run was trained on it: pass it explicitly as "
            f"data to evaluate on it"
        )
    return loaded


def resumed_data(recipe: Recipe, resume: str | Path) -> Data | None:
    """The data of a run that goes on, as it has read it; None where it is to be loaded anew.

    Args:
        recipe: what is to be trained.
        resume: "auto", "never", or the folder of a run or of one of its checkpoints.
    """
    if not isinstance(resume, str | Path) or resume in {AUTO, NEVER} or not recipe.data:
        return None
    folder = run_of(Path(resume))
    if not has_folder(folder / "model") or not has_file(folder / "results.json"):
        return None
    try:
        contents = read_results(folder).get("contents", {})
        preprocessor = SavedModel(folder / "model").preprocessor
    except DataError:  # it goes on from a checkpoint, and writes these again
        return None
    settings = recipe.to_mapping()["data"]
    before = read_own_recipe(folder).get("data")
    if not isinstance(before, dict) or _reads_otherwise(before, settings):
        return None
    return _as_learned(settings.pop("name"), settings, preprocessor, contents)


def _reads_otherwise(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether a setting was changed; the file may have moved, and an older run has fewer."""
    return any(before[name] != now.get(name) for name in before if name != "path")


def _as_learned(
    name: str, settings: dict[str, Any], preprocessor: Preprocessor, contents: Mapping[str, Any]
) -> Data | None:
    """The data encoded by the run's own preprocessor; None where its rows are not those of then.

    What is inferred anew may differ from what the version that trained the run has inferred.
    """
    if not contents:
        return None
    try:
        loaded = reload_named(name, settings, preprocessor)
    except DataError:  # not as the run read it
        return None
    if loaded is None or {part: fingerprint(rows) for part, rows in loaded.splits()} != contents:
        return None
    return loaded


def _has_changed(loaded: Data, then: Preprocessor, contents: Mapping[str, Any]) -> bool:
    """Whether this is no longer what the run learned from: encoded or divided otherwise."""
    now = loaded.preprocessor
    # Equal where that of an older version lacks what is only told of new rows.
    if now != then and now.to_json() != then.to_json():
        return True
    return any(
        fingerprint(split) != contents[name] for name, split in loaded.splits() if name in contents
    )
