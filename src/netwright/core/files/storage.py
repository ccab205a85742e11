"""Files that are whole or absent: atomic writes, folders with a sha256 manifest.

The order is always: write under a temporary name, flush to disk, rename, flush the folder. Whatever
moment the power fails, the final name of a file holds the old content or the new one. A folder that
is replaced is moved aside first: a power cut between the two renames leaves it beside its name, and
`remove_leftovers` puts it back.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any, Protocol

from netwright.core.errors import ConfigError, DataError, RunError
from netwright.core.files.inside import Folder, new_name, open_folder, parent_of
from netwright.core.files.json_text import parse_json
from netwright.core.limits import RECORD

MANIFEST = "manifest.json"
# Temporary names: nobody takes them for a result, and `remove_leftovers` knows them again.
PREFIX, SUFFIX = ".netwright-", ".part"
NOT_WRITABLE = (FileNotFoundError, NotADirectoryError, PermissionError)
Piece = bytes | memoryview


class Pieces(Protocol):
    """Content that is made while it is written: how many bytes, and its pieces in order."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Piece]: ...


Content = bytes | Pieces


def check_space(folder: Path, needed: int) -> None:
    """Refuse to start a write that the folder's file system has no room for."""
    usage = shutil.disk_usage(folder)
    if usage.total and usage.free < needed:  # a total of 0: the file system does not tell
        raise RunError(
            f"{folder} has too little free space: {_size(needed)} needed, {_size(usage.free)} free"
        )


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB ({count} bytes)"


@contextmanager
def _one_sentence(path: Path) -> Iterator[None]:
    """Turn whatever the system says while `path` is written into an error that names it."""
    try:
        yield
    except OSError as error:
        kind = ConfigError if isinstance(error, NOT_WRITABLE) else RunError
        raise kind(f"{path} cannot be written: {error.strerror or error}") from None


def _pieces_of(content: Content) -> Iterable[Piece]:
    return [content] if isinstance(content, bytes) else content


def _temporary_name(name: str) -> str:
    return new_name(f"{PREFIX}{name}-", SUFFIX)


def _fill(handle: int, pieces: Iterable[Piece]) -> None:
    """Bring content to disk through an open file, piece by piece, and close it."""
    with os.fdopen(handle, "wb") as file:
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(handle)


def write_bytes(path: Path, content: Content, *, inside: Path | None = None) -> None:
    """Replace a file's content in one step; a folder that cannot be written to is refused."""
    write_pieces(path, _pieces_of(content), needs=len(content), inside=inside)


def write_pieces(
    path: Path, pieces: Iterable[Piece], *, needs: int = 0, inside: Path | None = None
) -> None:
    """The same with content that is made while it is written, of which the size is not known.

    Args:
        path: of the file.
        pieces: its content in order.
        needs: the bytes that it has at least: less room is refused before the first of them.
        inside: the folder that the user named, where that is not the one that holds the file.
    """
    with _one_sentence(path), parent_of(path, inside) as parent:
        check_space(path.parent, needs)
        parent.kind(path.name)
        name = _temporary_name(path.name)
        handle = parent.new_file(name)
        try:
            _fill(handle, pieces)
            parent.replace(name, path.name)
        except BaseException:
            with suppress(OSError):
                parent.unlink(name)
            raise
        parent.flush()


def write_text(path: Path, text: str, *, inside: Path | None = None) -> None:
    """Replace a text file in one step."""
    write_bytes(path, text.encode(), inside=inside)


def append_text(path: Path, text: str, *, inside: Path | None = None) -> None:
    """Add to the end of a text file; a kill may leave part of it."""
    with _one_sentence(path), parent_of(path, inside) as parent:
        handle = parent.open(path.name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with os.fdopen(handle, "ab") as file:
            file.write(text.encode())


def make_folder(path: Path, *, inside: Path | None = None) -> None:
    """Make a folder unless it is there."""
    with _one_sentence(path), parent_of(path, inside) as parent:
        if parent.kind(path.name) != "folder":
            parent.make_folder(path.name)


def remove_file(path: Path, *, inside: Path | None = None) -> None:
    """Remove a file where it is there."""
    with _one_sentence(path), parent_of(path, inside) as parent:
        if parent.kind(path.name):
            parent.unlink(path.name)


def write_json(path: Path, value: Any, *, inside: Path | None = None) -> None:
    """Replace a JSON file in one step; NaN and infinity are refused, since they are not JSON."""
    write_bytes(path, as_json(value), inside=inside)


def as_json(value: Any) -> bytes:
    """The content of a JSON file; NaN and infinity are refused, since they are not JSON."""
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def read_json(path: Path, *, inside: Path | None = None) -> Any:
    """The value in a JSON file; a broken file is refused by name."""
    try:
        content = read_bytes(path, inside=inside)
    except OSError as error:
        raise DataError(f"{path} is not a readable JSON file: {error}") from None
    return parse_json(content, path)


def read_bytes(path: Path, *, inside: Path | None = None, most: int | None = None) -> bytes:
    """The content of a regular file, or its first bytes; the system's own errors are let through.

    Args:
        path: of the file, which itself may not be a link.
        inside: the folder that the user named, where that is not the one that holds the file.
        most: how many bytes are read; None: all, where that is no more than the limit.
    """
    with parent_of(path, inside) as parent, parent.read(path.name) as file:
        return read_record(file, path) if most is None else file.read(most)


def read_record(file: BufferedReader, path: Path) -> bytes:
    """All of an open file, of which a run folder has none that is large beside its tensors."""
    RECORD.check(path, os.fstat(file.fileno()).st_size / 1e6)
    return file.read()


def sha256_of(path: Path) -> str:
    """The sha256 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Staging:
    """A folder that is being filled under a temporary name.

    Args:
        folder: itself.
        final: where it will be, which is what errors name.
    """

    def __init__(self, folder: Folder, final: Path) -> None:
        self.folder, self.final = folder, final
        self.sums: dict[str, str] = {}

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.folder.path

    def write(self, name: str, content: Content) -> None:
        """Bring a new file to disk.

        Its sum in the manifest is that of the content, not of what the disk made of it.
        """
        with _one_sentence(self.final / name):
            check_space(self.path, len(content))
            summed = hashlib.sha256()
            _fill(self.folder.new_file(name), _summed(_pieces_of(content), summed))
        self.sums[name] = summed.hexdigest()


def _summed(pieces: Iterable[Piece], total: "hashlib._Hash") -> Iterator[Piece]:
    """The pieces, each taken into a checksum on its way."""
    for piece in pieces:
        _add(total, piece)
        yield piece


def _add(total: "hashlib._Hash", piece: Piece) -> None:
    """Take a piece into a checksum: a function, so that it can be timed."""
    total.update(piece)


@contextmanager
def new_folder(
    path: Path, *, needs: int = 0, replace: bool = False, inside: Path | None = None
) -> Iterator[Staging]:
    """Fill a temporary folder; at the end it gets a manifest and its final name.

    An exception leaves nothing behind, and a folder that is already there as it was.

    Args:
        path: the final name.
        needs: the bytes that will be written: less room is refused before the first of them.
        replace: whether the new folder takes the place of one that is there; else it is refused.
        inside: the folder that the user named, where that is not the one that holds this one.
    """
    with ExitStack() as held:
        with _one_sentence(path):
            parent = held.enter_context(parent_of(path, inside))
            if parent.kind(path.name) and not replace:
                raise RunError(f"{path} already exists and is never overwritten")
            check_space(path.parent, needs)
            name = _make_temporary(parent, path.name)
        try:
            with _one_sentence(path):
                staging = Staging(held.enter_context(parent.folder(name)), path)
            yield staging
            staging.write(MANIFEST, as_json({"format": 1, "sha256": staging.sums}))
            with _one_sentence(path):
                staging.folder.flush()
                if replace and parent.kind(path.name):
                    _take_place(parent, name, path.name)
                else:
                    _take_name(parent, name, path.name)
        except BaseException:
            parent.remove_tree(name)
            raise


@contextmanager
def shared_folder(staging: Path, final: Path, *, inside: Path | None = None) -> Iterator[Staging]:
    """A folder that another process is filling, see `new_folder`, for files of this one.

    Their sums are to be handed to that process, whose manifest lists them.

    Args:
        staging: where it is.
        final: where it will be.
        inside: the folder that the user named, where that is not the one that holds this one.
    """
    with ExitStack() as held:
        with _one_sentence(final):
            folder = held.enter_context(open_folder(staging, inside))
        yield Staging(folder, final)


def _make_temporary(parent: Folder, name: str) -> str:
    temporary = _temporary_name(name)
    parent.make_folder(temporary)
    return temporary


def _take_name(parent: Folder, new: str, name: str) -> None:
    """Give a folder its name; a folder that came there meanwhile makes the rename fail."""
    with _moved(parent, new, parent, name):
        parent.flush()


def _take_place(parent: Folder, new: str, name: str) -> None:
    """Give a folder the name of another, which is lost only when the new one is on disk."""
    temporary = _make_temporary(parent, name)
    try:
        with parent.folder(temporary) as aside, _moved(parent, name, aside, name):
            _take_name(parent, new, name)
    except BaseException:
        with suppress(OSError):  # not empty: the old folder could not be moved back
            parent.remove_empty(temporary)
        raise
    parent.remove_tree(temporary)


@contextmanager
def _moved(source: Folder, old: str, target: Folder, new: str) -> Iterator[None]:
    """A rename that is taken back when what follows it fails."""
    source.move(old, target, new)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            target.move(new, source, old)
        raise


def remove_leftovers(folder: Path, *, inside: Path | None = None) -> None:
    """Clear what killed processes left under temporary names; call it as the folder's owner.

    A folder that was moved aside and found no successor goes back to its name. What cannot be
    removed stays.
    """
    with _one_sentence(folder), suppress(FileNotFoundError), open_folder(folder, inside) as here:
        for name in filter(is_left_over, here.names()):
            with suppress(OSError):
                if here.kind(name) == "folder":
                    _put_back(here, name)
                    here.remove_tree(name)
                else:
                    here.unlink(name)


def _put_back(folder: Folder, leftover: str) -> None:
    """Give what was moved aside its name again, unless it has a successor."""
    with folder.folder(leftover) as aside:
        for name in aside.names():
            # Only what was to be replaced is a folder inside a temporary one.
            if aside.kind(name) == "folder" and not folder.kind(name):
                aside.move(name, folder, name)


def is_left_over(name: str) -> bool:
    """Whether this is a temporary name of ours."""
    return name.startswith(PREFIX) and name.endswith(SUFFIX)
