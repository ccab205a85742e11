"""A list of shards, and their bytes: of files here, or of copies of files that lie elsewhere.

A shard is known by address, size and a stamp that changes with it. Whoever reads one that is not
what was listed is told so: rows of two versions never come into one epoch.
"""

import glob
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from netwright.core.errors import DataError
from netwright.core.files.regular_file import open_regular
from netwright.core.limits import FILES
from netwright.data.files.file_names import shown
from netwright.data.files.folder_links import check_no_links
from netwright.data.files.remote_files import list_remote
from netwright.data.files.shard import SAMPLES, Shard, is_shard
from netwright.data.loading.open_files import Handle, OpenFiles, read_into

PACKED = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst")


class ShardFiles:
    """The bytes of shards, read by position.

    Args:
        shards: in their order.
        opened: a shard -> a descriptor of its bytes here.
    """

    def __init__(
        self, shards: Sequence[Shard], opened: Callable[[Shard], int] | None = None
    ) -> None:
        self.shards = tuple(shards)
        self._files = OpenFiles(
            partial(_checked, opened or open_shard), are_copies=opened is not None
        )

    def __len__(self) -> int:
        return len(self.shards)

    def read(self, number: int, start: int, size: int) -> bytes:
        """These bytes of a shard."""
        shard, content = self.shards[number], bytearray(size)
        with self._files.using(shard) as handle:
            if read_into(handle, memoryview(content), start) < size:
                raise DataError(f"{shard.name} has become shorter while it was read")
        return bytes(content)

    def using(self, number: int) -> Handle:
        """A shard for who reads much of it: `with files.using(3) as handle`."""
        return self._files.using(self.shards[number])


def open_shard(shard: Shard) -> int:
    """A descriptor of a file here."""
    try:
        with open_regular(shard.address) as file:
            return os.dup(file.fileno())
    except OSError as error:
        raise DataError(f"{shard.name} cannot be read: {error.strerror}") from None


def _checked(opened: Callable[[Shard], int], shard: Shard) -> int:
    handle = opened(shard)
    status = os.fstat(handle)
    is_copy = "://" in shard.address  # which was compared when it was fetched
    if status.st_size != shard.size or not (is_copy or stamp_of(status) == shard.stamp):
        os.close(handle)
        raise DataError(
            f"{shard.name} has changed since its samples were counted: start the run again"
        )
    return handle


def stamp_of(status: os.stat_result) -> str:
    """When a file here was changed."""
    return str(status.st_mtime_ns)


def find_shards(path: str, endings: Sequence[str] = SAMPLES) -> list[Shard]:
    """The shards at a path: a file, a folder of them, or a pattern such as shards/train-*.tar."""
    where = os.path.expanduser(path)
    if os.path.isdir(where):
        found = [str(file) for file in sorted(Path(where).rglob("*")) if file.is_file()]
        check_no_links(Path(file) for file in found if is_shard(file, endings))
    else:
        found = [where] if os.path.exists(where) else sorted(glob.glob(where))
    shards = [local_shard(file) for file in found if is_shard(file, endings)]
    check_found(path, shards, found)
    return shards


def find_remote(address: str) -> list[Shard]:
    """The shards at an address: a file, a folder, or a pattern."""
    shards, found = list_remote(address, is_shard)
    check_found(address, shards, found)
    return shards


def local_shard(path: str) -> Shard:
    """A file here as a shard."""
    status = os.stat(path)
    return Shard(path, status.st_size, stamp_of(status))


def check_found(path: str, shards: Sequence[Shard], found: Sequence[str]) -> None:
    """Refuse a place without shards, with too many, or with two kinds of them."""
    if not shards:
        packed = next((name for name in found if name.lower().endswith(PACKED)), "")
        hint = f": unpack {shown(packed)} to .tar, of which any sample is read" if packed else ""
        raise DataError(f"{shown(path)} holds no .tar and no .parquet file{hint}")
    FILES.check(shown(path), len(shards))
    if len({shard.is_tar for shard in shards}) > 1:
        raise DataError(f"{shown(path)} holds .tar and .parquet files, wanted one of both kinds")
