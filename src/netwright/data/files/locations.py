"""Where data sets lie: the folders of NETWRIGHT_DATA in turn, then netwright's own cache.

    NETWRIGHT_DATA=/srv/data:~/data     /srv/data/mnist/..., then ~/data/mnist/...
    the cache                           $NETWRIGHT_HOME/data/mnist/..., where NETWRIGHT_HOME is
                                        by default $XDG_CACHE_HOME/netwright or ~/.cache/netwright

The folders of NETWRIGHT_DATA belong to the user and are only read; downloads go to the cache.
"""

import os
from pathlib import Path

from netwright.core.errors import ConfigError


def search_path() -> list[Path]:
    """The folders that NETWRIGHT_DATA lists."""
    listed = os.environ.get("NETWRIGHT_DATA", "").split(os.pathsep)
    return [Path(folder).expanduser() for folder in listed if folder]


def home_folder() -> Path:
    """Where netwright keeps what can be had again; the folder need not be there yet."""
    home = os.environ.get("NETWRIGHT_HOME")
    if home:
        return Path(home).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(shared).expanduser() / "netwright"


def cache_folder(dataset: str) -> Path:
    """Where downloads of this data set go; the folder need not be there yet."""
    return home_folder() / "data" / dataset


def made_cache(dataset: str, use: str) -> Path:
    """The same folder, made where it is not there; `use` says what happens in it."""
    folder = cache_folder(dataset)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{folder}, where {use}, cannot be made: {error.strerror}; set NETWRIGHT_HOME to a "
            f"folder that can be written to"
        ) from None
    return folder


def find_file(dataset: str, file: str) -> Path | None:
    """The first place that holds this file of the data set, or None."""
    folders = [folder / dataset for folder in search_path()] + [cache_folder(dataset)]
    places = (folder / file for folder in folders)
    return next((place for place in places if place.is_file()), None)
