"""What is done of a preparation, for who goes on: what it was begun with, and a line for each file.

shards/preparation.json     the sum of texts and settings, written once
shards/preparation.jsonl    a line for each token file that is there, added once it is written
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from netwright.core.errors import DataError
from netwright.core.files.folder_lock import LOCK
from netwright.core.files.inside import has_file
from netwright.core.files.json_text import json_value
from netwright.core.files.storage import append_text, read_bytes, read_json, write_json, write_text
from netwright.data.loading.token_files import TokenFile
from netwright.data.text.shards.index import is_token_file

BEGUN, DONE = "preparation.json", "preparation.jsonl"


class Encoded(NamedTuple):
    """A token file that was written, the bytes that it was made from, and its unknown tokens."""

    file: TokenFile
    size: int
    unknown: int


class Notes:
    """Which token files are there, on disk after each of them.

    Args:
        folder: of the token files; one that was begun under other conditions is refused.
        conditions: what the token files follow from, as plain values.
    """

    def __init__(self, folder: Path, conditions: dict[str, Any]) -> None:
        begun = {"sha256": hashlib.sha256(json.dumps(conditions).encode()).hexdigest()}
        _check_begun(folder, begun)
        self.path = folder / DONE
        self.done = {
            one.file.name: one for one in _read(self.path) if has_file(folder / one.file.name)
        }
        # Anew, without what was torn: the next line would be joined to it.
        write_text(self.path, "".join(map(_line, self.done.values())))

    def add(self, one: Encoded) -> None:
        """Note a file that was written."""
        self.done[one.file.name] = one
        append_text(self.path, _line(one))


def _check_begun(folder: Path, begun: dict[str, str]) -> None:
    if not has_file(folder / BEGUN):
        if set(os.listdir(folder)) - {LOCK}:
            raise DataError(f"{folder} holds other files: give --out a new or empty folder")
        write_json(folder / BEGUN, begun)
    elif read_json(folder / BEGUN) != begun:
        raise DataError(
            f"{folder} was begun from other texts or with other settings: give another --out, or "
            f"delete it"
        )


def _read(path: Path) -> list[Encoded]:
    """The files that are noted; a line that is torn is passed over, and its file written anew."""
    lines = read_bytes(path).splitlines() if has_file(path) else []
    return [one for line in lines if (one := _encoded(line)) is not None]


def _line(one: Encoded) -> str:
    return json.dumps([*one.file, one.size, one.unknown]) + "\n"


def _encoded(line: bytes) -> Encoded | None:
    try:
        name, tokens, total, size, unknown = json_value(line)
    except (ValueError, TypeError):
        return None
    file = TokenFile(name, tokens, total)
    are_counts = all(type(count) is int and count >= 0 for count in (size, unknown))
    return Encoded(file, size, unknown) if is_token_file(file) and are_counts else None
