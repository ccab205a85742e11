"""The data of a saved run, loaded again: where it lies, and whether it is still what it was."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netwright.core.errors import DataError
from netwright.data.dataset import Data
from netwright.data.fingerprint import fingerprint
from netwright.data.preprocessing import Preprocessor
from netwright.recipes.plan.sources import load_named


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
    if path and not Path(path).exists():
        raise DataError(
            f"the run's data {path} does not exist here: change to the folder in which it was "
            f"trained, or give other data"
        )
    loaded = load_named(name, settings)
    if _has_changed(loaded, preprocessor, contents):
        raise DataError(
            f"{loaded.name} has changed since the run was trained on it: pass it explicitly as "
            f"data to evaluate on it"
        )
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
