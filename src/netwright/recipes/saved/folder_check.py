"""Look through a folder, file by file, without trusting any of them: sums, heads, kinds, modes.

Entries are reached by descriptors that follow no link; only folders of ours are entered, so that
the depth is that of the layout. Nothing is built of what is read.
"""

import hashlib
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

from netwright.core.errors import DataError, NetwrightError
from netwright.core.files.inside import KINDS, Folder
from netwright.core.files.json_text import json_value
from netwright.core.files.manifest import listed_sums
from netwright.core.files.storage import MANIFEST, is_left_over
from netwright.core.files.tensor_file import COPIES, StoredTensor, read_tensor_head
from netwright.core.limits import CONTENT, FILES, WEIGHTS
from netwright.recipes.plan.recipe_file import LARGEST, read_yaml
from netwright.recipes.saved.known_files import Layout
from netwright.recipes.saved.verification import CheckedFile, State

PARSED = 16 * 2**20  # bytes; of a larger file of text only the sum is looked at

Sums = dict[str, str]  # of the files of a folder, by their names


class FolderCheck:
    """What was found so far.

    Args:
        folder: open; all names are relative to it.
        layout: what it should hold.
    """

    def __init__(self, folder: Folder, layout: Layout) -> None:
        self.files: list[CheckedFile] = []
        self.tensors: dict[str, tuple[StoredTensor, ...]] = {}
        self.values: dict[str, Any] = {}  # of files of JSON and YAML
        self.times: dict[str, float] = {}  # when each was written
        self._look_through(folder, layout, "")

    def _look_through(self, folder: Folder, layout: Layout, place: str) -> None:
        names = folder.names()
        FILES.check(folder.path, len(names))
        sums = _sums(folder) if layout.is_sealed else None
        for name in names:
            self._look_at(folder, layout, place, name, sums)
        if layout.is_sealed:
            for name in sorted({MANIFEST, *(sums or ())} - set(names)):
                self._add(place + name, "missing")

    def _look_at(
        self, folder: Folder, layout: Layout, place: str, name: str, sums: Sums | None
    ) -> None:
        """One entry: a folder of ours is entered, anything else is told."""
        status = folder.status(name)
        kind = KINDS.get(stat.S_IFMT(status.st_mode), "device")
        size, whole = status.st_size, place + name
        inner = layout.folder(name) if kind == "folder" else None
        if inner is not None:
            try:
                with folder.folder(name) as below:
                    self._look_through(below, inner, f"{whole}/")
            except (OSError, DataError) as error:
                self._add(whole, "unreadable", remark=_reason(error))
        elif kind == "symbolic link":
            self._add(whole, "a link", remark="not followed")
        elif kind not in {"file", "folder"}:
            self._add(whole, "no regular file", remark=f"a {kind}")
        elif is_left_over(name):
            self._add(whole, "left over", size=size)
        elif kind == "folder":
            self._add(whole, "unknown", remark="a folder, which was not checked")
        elif sums is not None and name not in {*sums, MANIFEST}:
            self._add(whole, "not listed", size=size, remark="not in the manifest")
        elif name in {*layout.files, *(sums or ())}:
            self.files.append(self._checked(folder, name, whole, (sums or {}).get(name, "")))
        else:
            self._add(whole, "unknown", size=size, remark=_oddities(status))

    def _checked(self, folder: Folder, name: str, whole: str, wanted: str) -> CheckedFile:
        """A file of ours: its sum where a manifest has it, then what is in it."""
        size, state = 0, "whole" if wanted else "there"
        try:
            with folder.read(name) as file:
                status = os.fstat(file.fileno())
                size, remark = status.st_size, _oddities(status)
                self.times[whole] = status.st_mtime
                _check_size(name, size)
                if wanted and hashlib.file_digest(file, "sha256").hexdigest() != wanted:
                    state, remark = "damaged", "its sha256 differs from the manifest"
                else:
                    file.seek(0)
                    self._read(whole, file, size)
        except (OSError, ValueError, NetwrightError) as error:
            state, remark = "unreadable", _reason(error)
        return CheckedFile(name=whole, state=cast(State, state), size=size, remark=remark)

    def _read(self, name: str, file: BufferedReader, size: int) -> None:
        """What is in a file, as far as it is bounded; an error says what is wrong with it."""
        if name.endswith(".safetensors"):
            self.tensors[name] = read_tensor_head(file)
        elif name.endswith(".yaml"):
            self.values[name] = read_yaml(file.read(LARGEST + 1).decode("utf-8"), name)
        elif name.rpartition("/")[2] == MANIFEST:
            listed_sums(file.read(PARSED), Path(name))
        elif name.endswith(".json") and size <= PARSED:
            self.values[name] = json_value(file.read(PARSED))

    def _add(self, name: str, state: State, *, size: int = 0, remark: str = "") -> None:
        self.files.append(CheckedFile(name=name, state=state, size=size, remark=remark))


def _check_size(name: str, size: int) -> None:
    """Refuse to read a file for longer than the largest of ours takes."""
    limit, times = (WEIGHTS, COPIES) if name.endswith(".safetensors") else (CONTENT, 1)
    most = times * limit.value * 1e9
    if size > most:
        raise DataError(
            f"it has {size:,} bytes, at most {most:,.0f} are read; if you trust it, raise "
            f"{limit.variable}"
        )


def _sums(folder: Folder) -> Sums | None:
    """What a manifest lists; None where it cannot be read, which is told when its turn comes."""
    try:
        with folder.read(MANIFEST) as file:
            return listed_sums(file.read(PARSED), folder.path / MANIFEST)
    except (OSError, DataError):
        return None


def _reason(error: Exception) -> str:
    """Why something cannot be read, in a few words."""
    return str(getattr(error, "strerror", None) or error)[:300]


def _oddities(status: os.stat_result) -> str:
    """What is unusual in a file's mode."""
    odd = {
        "it is setuid": status.st_mode & (stat.S_ISUID | stat.S_ISGID),
        "it is world-writable": status.st_mode & stat.S_IWOTH,
        "it is executable": status.st_mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH),
        "it has another hard link": status.st_nlink > 1,
    }
    return ", ".join(words for words, is_so in odd.items() if is_so)
