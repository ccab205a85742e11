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
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError, DataError, RunError
from netwright.core.json_text import parse_json

MANIFEST = "manifest.json"
# Temporary names: nobody takes them for a result, and `remove_leftovers` knows them again.
PREFIX, SUFFIX = ".netwright-", ".part"
NOT_WRITABLE = (FileNotFoundError, NotADirectoryError, PermissionError)


def check_space(folder: Path, needed: int) -> None:
    """Refuse to start a write that the folder's file system has no room for."""
    usage = shutil.disk_usage(folder)
    if usage.total and usage.free < needed:  # a total of 0: the file system does not tell
        raise RunError(
            f"{folder} has too little space: {_size(needed)} needed, {_size(usage.free)} free"
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


def _temporary_name(path: Path) -> dict[str, Any]:
    return {"dir": path.parent, "prefix": f"{PREFIX}{path.name}-", "suffix": SUFFIX}


def _fill(handle: int, content: bytes) -> None:
    """Bring content to disk through an open file, and close it."""
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file's content in one step; a folder that cannot be written to is refused."""
    with _one_sentence(path):
        check_space(path.parent, len(content))
        handle, name = tempfile.mkstemp(**_temporary_name(path))
        try:
            _fill(handle, content)
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
        _flush_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Replace a text file in one step."""
    write_bytes(path, text.encode())


def append_text(path: Path, text: str) -> None:
    """Add to the end of a text file; a kill may leave part of it."""
    with _one_sentence(path), path.open("a", encoding="utf-8") as file:
        file.write(text)


def make_folder(path: Path) -> None:
    """Make a folder unless it is there."""
    with _one_sentence(path):
        path.mkdir(exist_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Replace a JSON file in one step; NaN and infinity are refused, since they are not JSON."""
    write_bytes(path, as_json(value))


def as_json(value: Any) -> bytes:
    """The content of a JSON file; NaN and infinity are refused, since they are not JSON."""
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def read_json(path: Path) -> Any:
    """The value in a JSON file; a broken file is refused by name."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} is not a readable JSON file: {error}") from None
    return parse_json(content, path)


def sha256_of(path: Path) -> str:
    """The sha256 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Staging:
    """A folder that is being filled under a temporary name.

    Args:
        path: where it is.
        final: where it will be, which is what errors name.
    """

    def __init__(self, path: Path, final: Path) -> None:
        self.path, self.final = path, final
        self.sums: dict[str, str] = {}

    def write(self, name: str, content: bytes) -> None:
        """Bring a new file to disk.

        Its sum in the manifest is that of the content, not of what the disk made of it.
        """
        with _one_sentence(self.final / name):
            check_space(self.path, len(content))
            new = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            _fill(os.open(self.path / name, new, 0o644), content)
        self.sums[name] = hashlib.sha256(content).hexdigest()


@contextmanager
def new_folder(path: Path, *, needs: int = 0, replace: bool = False) -> Iterator[Staging]:
    """Fill a temporary folder; at the end it gets a manifest and its final name.

    An exception leaves nothing behind, and a folder that is already there as it was.

    Args:
        path: the final name.
        needs: the bytes that will be written: less room is refused before the first of them.
        replace: whether the new folder takes the place of one that is there; else it is refused.
    """
    with _one_sentence(path):
        if not replace and path.exists():
            raise RunError(f"{path} is already there, and is never written over")
        check_space(path.parent, needs)
        staging = Staging(Path(tempfile.mkdtemp(**_temporary_name(path))), path)
    try:
        yield staging
        staging.write(MANIFEST, as_json({"format": 1, "sha256": staging.sums}))
        with _one_sentence(path):
            os.chmod(staging.path, 0o755)
            _flush_folder(staging.path)
            if replace and path.exists():
                _take_place(staging.path, path)
            else:
                _take_name(staging.path, path)
    except BaseException:
        shutil.rmtree(staging.path, ignore_errors=True)
        raise


def _take_name(new: Path, path: Path) -> None:
    """Give a folder its name; a folder that came there meanwhile makes the rename fail."""
    with _moved(new, path):
        _flush_folder(path.parent)


def _take_place(new: Path, path: Path) -> None:
    """Give a folder the name of another, which is lost only when the new one is on disk."""
    aside = Path(tempfile.mkdtemp(**_temporary_name(path)))
    try:
        with _moved(path, aside / path.name):
            _take_name(new, path)
    except BaseException:
        with suppress(OSError):  # not empty: the old folder could not be moved back
            os.rmdir(aside)
        raise
    shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _moved(source: Path, target: Path) -> Iterator[None]:
    """A rename that is taken back when what follows it fails."""
    os.rename(source, target)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            os.rename(target, source)
        raise


def remove_leftovers(folder: Path) -> None:
    """Clear what killed processes left under temporary names; call it as the folder's owner.

    A folder that was moved aside and found no successor goes back to its name. What cannot be
    removed stays.
    """
    with _one_sentence(folder):
        leftovers = sorted(filter(is_left_over, folder.glob("*")))
    for left in leftovers:
        with suppress(OSError):
            if not left.is_dir():
                left.unlink()
                continue
            for old in left.iterdir():
                # Only what was to be replaced is a folder inside a temporary one.
                if old.is_dir() and not (folder / old.name).exists():
                    os.rename(old, folder / old.name)
            shutil.rmtree(left)


def is_left_over(path: Path) -> bool:
    """Whether this is a temporary name of ours."""
    return path.name.startswith(PREFIX) and path.name.endswith(SUFFIX)


def check_folder(path: Path) -> None:
    """Refuse a folder whose files are not, byte for byte, those of its manifest."""
    for _ in _whole_files(path):
        pass


def read_folder(path: Path) -> dict[str, bytes]:
    """The content of a folder's files by name: the very bytes that were checked."""
    return dict(_whole_files(path))


def _whole_files(path: Path) -> Iterator[tuple[str, bytes]]:
    manifest = read_json(path / MANIFEST)
    sums = manifest.get("sha256") if isinstance(manifest, dict) else None
    if not isinstance(sums, dict) or manifest.get("format") != 1:
        raise DataError(f"{path / MANIFEST} is not a manifest of format 1")
    for name, wanted in sums.items():
        file = path / name
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            raise DataError(f"{file} is missing, the manifest lists it") from None
        except OSError as error:
            raise DataError(f"{file} cannot be read: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != wanted:
            raise DataError(f"{file} is damaged: its sha256 is not the one in the manifest")
        yield name, content
