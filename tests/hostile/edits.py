"""Ways to spoil a file or a folder, of which cases are made."""

import hashlib
import json
import os
import shutil
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.hostile.case import Place

GARBAGE = bytes(range(256)) * 8
DEPTH = 100_000
DEEP = "[" * DEPTH + "]" * DEPTH
ESCAPE = "\x1b]52;c;cm0gLXJm\x07\x1b[2J\x9b31m\u202e"  # sets the clipboard, clears, turns around
CONTROL = "\x1b]0;owned\x07"
WRONG_TYPES: dict[str, Any] = {
    "nothing": None,
    "a list of lists": [["a"], {"b": None}],
    "a mapping": {"a": [1]},
    "text": "x" * 50,
    "a huge number": 10**400,
    "a negative number": -7,
}


def remove(path: Path) -> None:
    """Take a file, a link or a folder away."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def link(path: Path, target: str | Path) -> None:
    """A link in place of whatever is there."""
    remove(path)
    path.symlink_to(target)


def write(path: Path, content: bytes | str) -> None:
    """A file in place of whatever is there."""
    remove(path)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def seal(folder: Path, names: Iterable[str] = ()) -> None:
    """Write a manifest that is right for the files that are there now, or for these."""
    chosen = list(names) or [file.name for file in folder.iterdir() if file.name != "manifest.json"]
    sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in chosen}
    write(folder / "manifest.json", json.dumps({"format": 1, "sha256": sums}))


def change_json(path: Path, *keys: str | int, to: Any) -> None:
    """Another value at a place of a JSON file; its folder's manifest is made right again."""
    values = json.loads(path.read_text())
    inner = values
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = to
    write(path, json.dumps(values))
    if (path.parent / "manifest.json").exists():
        seal(path.parent)


def safetensors(
    header: Mapping[str, Any] | bytes, payload: bytes = b"", size: int | None = None
) -> bytes:
    """A file of this header, right or wrong; `size`: another length of it than it has."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if size is None else size) + text + payload


def fifo(path: Path) -> None:
    """A pipe that nobody writes to."""
    remove(path)
    os.mkfifo(path)


def folder(path: Path) -> None:
    """A folder with a file in it."""
    remove(path)
    path.mkdir()
    (path / "inside").write_text("x")


# What a file can be replaced by: the words for it -> how.
REPLACEMENTS: dict[str, Callable[[Path, Place], None]] = {
    "a link to a secret": lambda path, place: link(path, place.outside / "secret.json"),
    "a dangling link": lambda path, place: link(path, place.home / ".profile"),
    "a link to itself": lambda path, _: link(path, path.name),
    "a link to a device": lambda path, _: link(path, "/dev/zero"),
    "a link to a full device": lambda path, _: link(path, "/dev/full"),
    "a folder": lambda path, _: folder(path),
    "a pipe": lambda path, _: fifo(path),
    "empty": lambda path, _: write(path, b""),
    "garbage": lambda path, _: write(path, GARBAGE),
    "deeply nested": lambda path, _: write(path, DEEP),
}
