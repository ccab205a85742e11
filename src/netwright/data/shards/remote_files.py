"""Shards that lie elsewhere, by fsspec: copied into a folder of bounded size when they are read.

    s3://bucket/shards/*.tar    gs://...    hf://datasets/owner/name/data/*.parquet    memory://...

A copy is whole or absent, and shared by all processes of the machine; the least used ones are
removed when there is no more room. A process that has one open reads on, until it opens another.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError, DataError, NetwrightError
from netwright.core.files.process_lock import ProcessLock
from netwright.core.files.storage import PREFIX, SUFFIX, write_pieces
from netwright.data.files.download import is_offline
from netwright.data.files.file_names import shown
from netwright.data.shards.shard_files import ENDINGS, Shard, check_found, is_shard

PIECE = 2**22  # bytes that are copied at a time
WANTED = ".wanted"  # ends the name of a file that stands for a copy under way
LOCAL = "memory"  # the scheme that needs no network
# Scheme -> the package that reads it. Others run programs, or read what names further addresses.
SCHEMES = {
    **dict.fromkeys(("s3", "s3a"), "s3fs"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("az", "abfs", "abfss"), "adlfs"),
    **dict.fromkeys(("http", "https"), "aiohttp"),
    "hf": "huggingface_hub",
    LOCAL: "fsspec",
}


def is_address(path: str) -> bool:
    """Whether this names a place elsewhere: it has a scheme."""
    return "://" in path


def check_no_password(path: str) -> None:
    """Refuse an address with a name and a password, which would be written into the run's recipe.

    In abfs://container@account.dfs.core.windows.net nobody is named.
    """
    if re.search(r"https?://[^/?#]*@|://[^/?#@]*:[^/?#]*@", path, re.IGNORECASE):
        raise ConfigError(
            "the address holds a user name or a password, which runs would keep in config.yaml: "
            "leave it out, and give it to the system in the way of its package"
        )


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
                if not path.exists():
                    self._make_room(shard, path.with_suffix(WANTED))
                    self._fetch(shard, path)
                path.with_suffix(WANTED).unlink(missing_ok=True)
            path.with_suffix(".lock").unlink(missing_ok=True)

    def _fetch(self, shard: Shard, path: Path) -> None:
        system, place = system_of(shard.address)
        with telling_of(shard.address):
            is_same = _listed(system, place).stamp == shard.stamp
        if not is_same:
            raise DataError(
                f"{shard.name} has changed since its samples were counted: start the run again"
            )
        write_pieces(path, _pieces(system, place, shard), needs=shard.size)

    def _make_room(self, shard: Shard, wanted: Path) -> None:
        """Remove copies until the shard fits, and reserve its size, which other processes count."""
        if shard.size > self.most:
            raise ConfigError(
                f"{shard.name} has {shard.size / 1e9:.3g} GB, more than data.cache_gb="
                f"{self.most / 1e9:g} in which shards are copied: set it higher"
            )
        with ProcessLock(self.folder / "room.lock"):
            copies = []
            for file in self.folder.iterdir():
                with contextlib.suppress(FileNotFoundError):
                    if file.suffix in {"", WANTED}:
                        copies.append((file.stat().st_mtime_ns, file.stat().st_size, file))
            size = sum(size for _, size, _ in copies) + shard.size
            for _, its, file in sorted(copies):
                if size <= self.most:
                    break
                file.unlink(missing_ok=True)
                size -= its
            wanted.touch()
            os.truncate(wanted, shard.size)  # a hole: it takes no room by itself


def find_remote(address: str) -> list[Shard]:
    """The shards at an address: a file, a folder, or a pattern."""
    system, place = system_of(address)
    with telling_of(address):
        if any(mark in place for mark in "*?["):
            found = sorted(system.glob(place))
        else:
            found = sorted(system.find(place)) if system.isdir(place) else [place]
        names = [name for name in found if is_shard(name, ENDINGS)]
        shards = [_listed(system, name) for name in names]
    check_found(address, shards, found)
    return shards


def system_of(address: str) -> tuple[Any, str]:
    """The file system of an address, made in this process, and the place there."""
    check_no_password(address)
    scheme = address.partition("://")[0].lower()
    if scheme not in SCHEMES:  # also "a::b", which is one address inside another
        raise ConfigError(
            f"{shown(address)} has no scheme that is read, wanted a path or one of "
            f"{', '.join(f'{name}://' for name in SCHEMES)}"
        )
    if is_offline() and scheme != LOCAL:
        raise ConfigError(
            f"{shown(address)} lies on the network, which NETWRIGHT_OFFLINE forbids: unset it, or "
            f"give a folder on this machine"
        )
    try:
        import fsspec  # noqa: PLC0415 - slow to import

        system, place = fsspec.url_to_fs(address)
    except ImportError:
        raise ConfigError(
            f"{scheme}:// needs the package {SCHEMES[scheme]}: pip install {SCHEMES[scheme]}"
        ) from None
    except Exception as error:  # each of these packages has errors of its own
        raise DataError(f"{shown(address)} cannot be read: {reason(error)}") from None
    return system, place


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
        if left:
            raise DataError(
                f"{shard.name} was copied with {shard.size - left:,} of {shard.size:,} bytes"
            )


@contextlib.contextmanager
def telling_of(address: str) -> Iterator[None]:
    """Whatever goes wrong with an address is told in one sentence."""
    try:
        yield
    except (NetwrightError, GeneratorExit):
        raise
    except FileNotFoundError:
        raise DataError(f"{shown(address)}: there is no such file or folder") from None
    except Exception as error:  # each of these packages has errors of its own
        raise DataError(f"{shown(address)} cannot be read: {reason(error)}") from None


def reason(error: Exception) -> str:
    """The first line of what an error says."""
    return shown((str(error) or type(error).__name__).partition("\n")[0])[:200]
