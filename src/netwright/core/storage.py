"""Files that are whole or absent: atomic writes, folders with a sha256 manifest.

The order is always: write under a temporary name, flush to disk, rename, flush the folder. Whatever
moment the power fails, the final name of a file holds the old content or the new one. A folder that
is replaced is moved aside first: a power cut between the two renames leaves both beside the name.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError, DataError

MANIFEST = "manifest.json"


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file's content in one step; a folder that cannot be written to is refused."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _flush(path.parent)


def write_text(path: Path, text: str) -> None:
    """Replace a text file in one step."""
    write_bytes(path, text.encode())


def write_json(path: Path, value: Any) -> None:
    """Replace a JSON file in one step; NaN and infinity are refused, since they are not JSON."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """The value in a JSON file; a broken file is refused by name."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is not a readable JSON file: {error}") from None


def sha256_of(path: Path) -> str:
    """The sha256 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Fill a temporary folder; at the end it gets a manifest and its final name.

    An exception leaves nothing behind, and a folder that is already there as it was; otherwise the
    new one takes its place.
    """
    staging = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        yield staging
        files = sorted(file for file in staging.iterdir() if file.is_file())
        sums = {file.name: sha256_of(file) for file in files}
        for file in files:
            _flush(file)
        write_json(staging / MANIFEST, {"format": 1, "sha256": sums})
        os.chmod(staging, 0o755)
        _take_place(staging, path)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    _flush(path.parent)


def _take_place(staging: Path, path: Path) -> None:
    """Give a folder its name; the one that had it is lost only when the new one is there."""
    if not path.exists():
        os.replace(staging, path)
        return
    aside = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        os.replace(path, aside / path.name)
        os.replace(staging, path)
    except BaseException:
        if (aside / path.name).exists():
            os.replace(aside / path.name, path)
        aside.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)


def check_folder(path: Path) -> None:
    """Refuse a folder whose files are not, byte for byte, those of its manifest."""
    manifest = read_json(path / MANIFEST)
    sums = manifest.get("sha256") if isinstance(manifest, dict) else None
    if not isinstance(sums, dict) or manifest.get("format") != 1:
        raise DataError(f"{path / MANIFEST} is not a manifest of format 1")
    for name, wanted in sums.items():
        file = path / name
        if not file.is_file():
            raise DataError(f"{file} is missing, the manifest lists it")
        if sha256_of(file) != wanted:
            raise DataError(f"{file} is damaged: its sha256 is not the one in the manifest")
