"""What is done to a run from outside: it is asked to stop, or moved to the bin of its folder."""

import os
import signal
import time
from pathlib import Path

from netwright.core.errors import ConfigError, RunError
from netwright.core.files.folder_lock import FolderLock, owner_of
from netwright.core.files.inside import open_folder
from netwright.core.files.storage import make_folder
from netwright.recipes.saved.run_list import look_at_run, run_names

BIN = ".bin"


def find_listed(top: Path, name: str) -> Path:
    """The folder of a run by the name that `list_runs` gave it; nothing else is reached by one."""
    if name not in run_names(top):
        raise ConfigError(f"there is no run {name!r:.200} in {top}")
    return top / name


def stop_run(folder: Path) -> None:
    """Ask the process that trains a run to save and end, as Ctrl-C does; twice: to end at once."""
    owner = owner_of(folder)
    if owner is None:
        raise ConfigError(f"{folder} is not being trained")
    if not owner.is_here:
        raise ConfigError(f"{folder} is being trained on {owner.host}: stop it there")
    try:
        os.kill(owner.pid, signal.SIGTERM)
    except OSError as error:
        raise RunError(f"process {owner.pid} cannot be stopped: {error.strerror}") from None


def move_to_bin(top: Path, name: str) -> Path:
    """Move a run that nobody trains to the hidden folder .bin of the folder that lists it.

    Moving it back restores it; nothing is deleted.
    """
    folder = find_listed(top, name)
    place = Path(BIN) / f"{name.replace('/', '-')}-{time.strftime('%Y%m%d-%H%M%S')}"
    listed = look_at_run(top, name)
    if listed.state == "unreadable":
        raise ConfigError(f"{folder} is not moved, since it may be no run: {listed.trouble}")
    if listed.state == "training":
        raise ConfigError(f"{folder} is being trained: stop it first")
    make_folder(top / BIN)
    with (
        FolderLock(folder),
        open_folder(folder.parent, top) as source,
        open_folder(top / BIN, top) as target,
    ):
        try:
            source.move(folder.name, target, place.name)
        except OSError as error:
            raise RunError(f"{folder} cannot be moved: {error.strerror}") from None
    return top / place
