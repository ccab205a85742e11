"""A table that lies elsewhere: copied whole into the cache, and read as the same files here.

It lies beside converted tables (`kept_tables.py`), under the same bound. The name of a copy
follows from the sizes and stamps of its files, so that a table that has changed is copied anew,
and from what the table is called, which says where in the copy it lies.
"""

import hashlib
import os
from pathlib import Path

from netwright.core.errors import ConfigError, DataError
from netwright.core.files.storage import new_folder
from netwright.core.limits import FILES
from netwright.data.files.addresses import is_address
from netwright.data.files.file_names import shown
from netwright.data.files.locations import made_cache
from netwright.data.files.remote_files import fetch, list_remote
from netwright.data.files.shard import PARQUET, Shard, is_shard
from netwright.data.tables.cached.kept_tables import lock_of, make_room, mark_used

CACHE_GB = 100.0
TEXTS = tuple(f"{ending}{packed}" for ending in (".csv", ".tsv", ".tab") for packed in ("", ".gz"))


def local_table(path: str | os.PathLike[str], cache_gb: float = CACHE_GB) -> Path:
    """Where the table of a path or address is read from; what lies elsewhere is copied.

    Args:
        path: of a file or folder, or an address: of a file, of a folder of parquet files, or a
            pattern.
        cache_gb: GB of the tables in the cache.
    """
    if not is_address(os.fspath(path)):
        return Path(path).expanduser()
    address = os.fspath(path).rstrip("/")
    shards = _find(address)
    place = _place(address, shards)
    known_by = hashlib.sha256(repr((str(place), shards)).encode()).hexdigest()[:16]
    folder = made_cache("tables", "a table is copied to") / known_by
    with lock_of(folder):  # ranks of one run ask for it at once
        if not folder.is_dir():
            _copy(shards, folder, place, cache_gb)
        mark_used(folder)
    return folder / place


def _find(address: str) -> list[Shard]:
    """The file of a table, or its parquet files."""
    shards, _ = list_remote(address, lambda name: is_shard(name, (*TEXTS, *PARQUET)))
    names = [_name(shard) for shard in shards]
    if not shards:
        raise DataError(
            f"{shown(address)} holds no table, wanted .csv, .tsv, either with .gz, or .parquet"
        )
    FILES.check(shown(address), len(shards))
    if len(shards) > 1 and not all(name.lower().endswith(PARQUET) for name in names):
        raise DataError(
            f"{shown(address)} holds {len(shards):,} files, wanted one, or .parquet files alone"
        )
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise DataError(f"{shown(address)} holds {shown(twice)} in two folders, wanted one folder")
    return shards


def _place(address: str, shards: list[Shard]) -> Path:
    """Where a table lies in the folder of its copy: as its file, or as the folder of its files."""
    if len(shards) == 1:
        return Path(_name(shards[0]))
    parts = address.partition("://")[2].split("/")
    names = [part for part in parts if part.strip(".") and not any(mark in part for mark in "*?[")]
    return Path(names[-1] if names else "table")


def _copy(shards: list[Shard], folder: Path, place: Path, cache_gb: float) -> None:
    size = sum(shard.size for shard in shards)
    if size > cache_gb * 1e9:
        raise ConfigError(
            f"{shards[0].name} and what belongs to it have {size / 1e9:.3g} GB, more than "
            f"data.cache_gb={cache_gb:g} in which tables are kept: set it higher"
        )
    make_room(folder.parent, size, cache_gb * 1e9)
    with new_folder(folder, needs=size) as staging:
        target = staging.path / place
        if len(shards) > 1:
            target.mkdir()
        for shard in shards:
            fetch(shard, target / _name(shard) if len(shards) > 1 else target)


def _name(shard: Shard) -> str:
    return shard.address.rpartition("/")[2]
