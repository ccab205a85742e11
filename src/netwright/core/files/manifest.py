"""Folders that are, byte for byte, what their manifest says: a name and a sha256 for each file.

`core/files/storage.py` writes them. Nothing that the manifest does not list is taken from such a
folder, and what is taken are the bytes, or the open files, that were compared with it.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedReader
from pathlib import Path

from netwright.core.errors import DataError
from netwright.core.files.inside import open_folder
from netwright.core.files.json_text import parse_json
from netwright.core.files.storage import MANIFEST, read_record

SHA256 = re.compile("[0-9a-f]{64}")

Wanted = Callable[[str], bool]  # of a file's name
Listed = tuple[BufferedReader, str]  # a file and the sum that it must have


def check_folder(path: Path, *, inside: Path | None = None) -> None:
    """Refuse a folder whose files are not, byte for byte, those of its manifest."""
    with whole_folder(path, inside=inside):
        pass


def read_folder(
    path: Path, *, inside: Path | None = None, wanted: Wanted | None = None
) -> dict[str, bytes]:
    """The content of a folder's files by name: the very bytes that were checked.

    Args:
        path: of the folder.
        inside: see `whole_folder`.
        wanted: which of the files are read; None: all.
    """
    contents = {}
    with _listed_files(path, inside, wanted) as files:
        for name, (file, total) in files.items():
            with _readable(path / name):
                contents[name] = _read(file, path / name)
            _check_sum(path / name, hashlib.sha256(contents[name]).hexdigest(), total)
    return contents


@contextmanager
def whole_folder(
    path: Path, *, inside: Path | None = None, wanted: Wanted | None = None
) -> Iterator[dict[str, BufferedReader]]:
    """A folder's files by name, open at their start: the very files that were checked.

    Args:
        path: of the folder, which itself may not be a link.
        inside: the folder that the user named, where that is not the one that holds this one.
        wanted: which of the files are checked and given; None: all.
    """
    with _listed_files(path, inside, wanted) as files:
        for name, (file, total) in files.items():
            with _readable(path / name):
                _check_sum(path / name, hashlib.file_digest(file, "sha256").hexdigest(), total)
                file.seek(0)
        yield {name: file for name, (file, _) in files.items()}


@contextmanager
def _listed_files(
    path: Path, inside: Path | None, wanted: Wanted | None = None
) -> Iterator[dict[str, Listed]]:
    """The files that a folder's manifest lists, each open and with its sum; no others are taken."""
    with ExitStack() as held:
        try:
            folder = held.enter_context(open_folder(path, inside or path.parent))
            with folder.read(MANIFEST) as file:
                content = read_record(file, path / MANIFEST)
        except OSError as error:
            raise DataError(f"{path / MANIFEST} is not a readable JSON file: {error}") from None
        files = {}
        for name, total in listed_sums(content, path / MANIFEST).items():
            if wanted is None or wanted(name):
                with _readable(path / name):
                    files[name] = held.enter_context(folder.read(name)), total
        yield files


def listed_sums(content: bytes, path: Path) -> dict[str, str]:
    """The sums in a manifest by the file's name: a name in this folder, a whole sum."""
    manifest = parse_json(content, path)
    sums = manifest.get("sha256") if isinstance(manifest, dict) else None
    if not isinstance(sums, dict) or manifest.get("format") != 1:
        raise DataError(f"{path} is not a manifest of format 1")
    for name, wanted in sums.items():
        if name in {"", ".", ".."} or set(name) & {"/", "\\", "\0"}:
            raise DataError(
                f"{path} lists {name!r:.100}, wanted the name of a file in the same folder"
            )
        if not isinstance(wanted, str) or not SHA256.fullmatch(wanted):
            raise DataError(f"{path} gives {name} no sha256 of 64 digits, got {wanted!r:.100}")
    return sums


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{file} is missing, but the manifest lists it") from None
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from None


def _read(file: BufferedReader, path: Path) -> bytes:
    try:
        return file.read()
    except MemoryError:
        raise DataError(f"{path} does not fit in memory") from None


def _check_sum(file: Path, found: str, wanted: str) -> None:
    if found != wanted:
        raise DataError(f"{file} is damaged: its sha256 differs from the manifest")
