"""Files that lie elsewhere: listed, and copied into a folder of bounded size when they are read.

A copy is whole or absent, and shared by all processes of the machine; the least used ones are
removed when there is no more room. A process that has one open reads on, until it opens another.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError, DataError
from netwright.core.files.process_lock import ProcessLock
from netwright.core.files.storage import PREFIX, SUFFIX, write_pieces
from netwright.data.files.addresses import system_of, telling_of
from netwright.data.files.file_names import shown
from netwright.data.files.shard import Shard

PIECE = 2**22  # bytes that are copied at a time
WANTED = ".wanted"  # ends the name of a file that stands for a copy under way
ROOM = "room.lock"  # is held by whoever counts the copies, or changes what was reserved


class RemoteFiles:
    """Copies of shards in a folder.

    Args:
        folder: of the copies.
        most: bytes of all copies together.
    """

    def __init__(self, folder: Path, most: int) -> None:
        self.folder, self.most = folder, most

    def open(self, shard: Shard) -> int:
        """A descriptor of the copy of a shard, which is fetched where it is not there."""
        path = self.folder / hashlib.sha256(repr(shard).encode()).hexdigest()[:32]
        while True:
            with contextlib.suppress(FileNotFoundError):  # or another process removed it just now
                handle = os.open(path, os.O_RDONLY)
                with contextlib.suppress(OSError):  # it may be another user's
                    os.utime(handle)  # it was used
                return handle
            with ProcessLock(path.with_suffix(".lock")):
                for part in self.folder.glob(f"{PREFIX}{path.name}-*{SUFFIX}"):
                    part.unlink(missing_ok=True)  # of a process that was killed on the way
                try:
                    if not path.exists():
                        self._make_room(shard, path.with_suffix(WANTED))
                        fetch(shard, path)
                finally:
                    # Who counts meanwhile would find neither what was reserved nor the copy.
                    with ProcessLock(self.folder / ROOM):
                        path.with_suffix(WANTED).unlink(missing_ok=True)
            path.with_suffix(".lock").unlink(missing_ok=True)

    def _make_room(self, shard: Shard, wanted: Path) -> None:
        """Remove copies until the shard fits, and reserve its size, which other processes count."""
        if shard.size > self.most:
            raise ConfigError(
                f"{shard.name} has {shard.size / 1e9:.3g} GB, more than data.cache_gb="
                f"{self.most / 1e9:g} in which shards are copied: set it higher"
            )
        with ProcessLock(self.folder / ROOM):
            copies = []
            for file in self.folder.iterdir():
                with contextlib.suppress(FileNotFoundError):
                    if file.suffix in {"", WANTED}:
                        about, is_wanted = file.stat(), file.suffix == WANTED
                        copies.append((is_wanted, about.st_mtime_ns, about.st_size, file))
            size = sum(size for *_, size, _ in copies) + shard.size
            for *_, its, file in sorted(copies):  # what is on its way comes last
                if size <= self.most:
                    break
                file.unlink(missing_ok=True)
                size -= its
            wanted.touch()
            os.truncate(wanted, shard.size)  # a hole: it takes no room by itself


def list_remote(address: str, is_wanted: Callable[[str], bool]) -> tuple[list[Shard], list[str]]:
    """The wanted files at an address, by their names, and the names of all files there.

    Args:
        address: of a file, of a folder with those in it, or a pattern.
        is_wanted: whether a file is, by its name.
    """
    system, place = system_of(address)
    with telling_of(address):
        if any(mark in place for mark in "*?["):
            found = sorted(system.glob(place))
        elif _is_web(address) and is_wanted(place):
            found = [place]  # to ask whether it is a folder would read it
        else:
            found = sorted(system.find(place)) if system.isdir(place) else [place]
        return [_listed(system, name) for name in found if is_wanted(name)], found


def _is_web(address: str) -> bool:
    return address.lower().startswith(("http://", "https://"))


def fetch(shard: Shard, path: Path) -> None:
    """Copy a file to a path; one that is not what was listed is refused."""
    system, place = _as_listed(shard)
    write_pieces(path, _pieces(system, place, shard), needs=shard.size)


def read_beginning(shard: Shard, size: int) -> bytes:
    """The first bytes of a file, which is not copied for them."""
    system, place = _as_listed(shard)
    with telling_of(shard.address):
        content: bytes = system.cat_file(place, start=0, end=size)
        _check_size(shard, len(content), size)
    return content


@contextlib.contextmanager
def opened_remote(shard: Shard) -> Iterator[Any]:
    """A file that is read where it lies, a few bytes of it."""
    system, place = system_of(shard.address)
    with telling_of(shard.address), system.open(place, "rb") as file:
        yield file


def _as_listed(shard: Shard) -> tuple[Any, str]:
    """The file system of a file and its place there; refused where it is no longer what it was."""
    system, place = system_of(shard.address)
    with telling_of(shard.address):
        system.invalidate_cache(place)  # or it tells what it was told when all were listed
        is_same = _listed(system, place).stamp == shard.stamp
    if not is_same:
        raise DataError(f"{shard.name} has changed since it was listed: start the run again")
    return system, place


def _check_size(shard: Shard, size: int, wanted: int) -> None:
    if size != wanted:
        raise DataError(f"{shard.name} was copied with {size:,} of {wanted:,} bytes")


def _listed(system: Any, name: str) -> Shard:
    about = system.info(name)
    size = about.get("size")
    if not isinstance(size, int):
        raise DataError(f"{shown(name)} does not say its size: copy it to this machine")
    return Shard(system.unstrip_protocol(name), size, str(system.checksum(name)))


def _pieces(system: Any, place: str, shard: Shard) -> Iterator[bytes]:
    left = shard.size
    with telling_of(shard.address), system.open(place, "rb") as file:
        while content := file.read(PIECE):
            left -= len(content)
            yield content
        _check_size(shard, shard.size - left, shard.size)
