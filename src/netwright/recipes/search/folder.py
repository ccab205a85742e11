"""The folder of a search: a new one, or one that another process works in already."""

import sys
from pathlib import Path

from netwright.core.errors import ConfigError
from netwright.core.files.inside import check_entries, has_file
from netwright.core.files.storage import make_folder
from netwright.recipes.saved.known_files import SEARCH
from netwright.recipes.saved.run_folder import make_if_absent, next_folder
from netwright.recipes.search.plan import FILE, SearchPlan, check_same_search, write_plan
from netwright.recipes.search.storage import DATABASE_FILES
from netwright.recipes.search.workers import LOCKS, study_lock

PARENT = "searches"
OURS = sorted({*SEARCH.files, *DATABASE_FILES, *SEARCH.folders})  # all that a search writes


def enter_search_folder(out: Path | None, plan: SearchPlan, data: str) -> Path:
    """Write the plan into a new folder, or join the search of one; another search is refused.

    Args:
        out: the folder; by default the next free searches/MODEL-DATA-NNN.
        plan: what is searched.
        data: what the data is called.
    """
    folder = next_folder(PARENT, plan.recipe.model or "module", data) if out is None else out
    if out is not None and not _may_be_entered(out):
        raise ConfigError(f"{out} already exists and contains no search; give another folder")
    make_if_absent(folder)
    make_folder(folder / LOCKS)
    check_entries(folder, OURS)
    with study_lock(folder):  # of several that start at once, one writes
        if has_file(folder / FILE):
            check_same_search(folder, plan)
            _check_alone(folder)
        write_plan(folder, plan)  # which may have more trials than before
    return folder


def _may_be_entered(folder: Path) -> bool:
    """Whether there is a search, or nothing but what another process has just begun with."""
    if not folder.exists():
        return True
    names = {file.name for file in folder.iterdir()} if folder.is_dir() else {""}
    return FILE in names or names <= {LOCKS}


def _check_alone(folder: Path) -> None:
    """Refuse to join where a process that is at work cannot be told from one that was killed."""
    at_work = sorted((folder / LOCKS).glob("*-*"))
    if sys.platform == "win32" and at_work:
        raise ConfigError(
            f"{folder} cannot be joined: on Windows only one process can search at a time; if "
            f"none is running, delete {at_work[0]}"
        )
