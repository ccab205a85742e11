"""What the studio offers as data: sets of the catalog, and what lies in its folder.

Every path is one below the folder, with slashes; links are not followed, hidden files not shown.
"""

import csv
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError, NetwrightError
from netwright.core.files.inside import Folder, kind_of, open_folder
from netwright.core.files.storage import read_bytes
from netwright.data.catalog import SOURCES
from netwright.data.tables.records import named_delimiter
from netwright.recipes.plan.recipe import READERS

ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".jsonl", ".conllu", ".npy")
TABLES = (".csv", ".tsv", ".txt")
DEPTH = 2  # folders below the studio's
MOST = 500  # files that are offered
HEAD = 100_000  # bytes in which the first line of a table ends
SEPARATORS = ",;\t|"
# Settings that hold names of columns or texts of cells, never of files: `price / m2` is no path.
COLUMNS = frozenset(
    f"data.{name}"
    for name in (
        *("target", "text", "source", "prefix", "question", "context", "answer"),
        *("drop", "features", "known", "time", "types", "missing"),
        *("split_column", "weight_column", "group_column"),
    )
)
NEEDS_A_FILE = frozenset({*READERS, "masked-text", "corrupted-text", "questions", "series"})


def built_in() -> dict[str, str]:
    """The sets of the catalog that need no file, each with its sentence."""
    names = [name for name in SOURCES if name not in NEEDS_A_FILE]
    return {name: SOURCES.load(name).sentence for name in names}


def data_files(top: Path) -> list[str]:
    """Files and folders that may be data."""
    with open_folder(top) as folder:
        return [name for name, _ in zip(_found(folder, "", DEPTH), range(MOST), strict=False)]


def _found(folder: Folder, path: str, depth: int) -> Iterator[str]:
    names = folder.names()
    if "config.yaml" in names:  # a run
        return
    for name in names:
        try:
            kind = "" if name.startswith(".") else folder.kind(name)
        except (NetwrightError, OSError):
            continue
        if kind == "file" and name.lower().endswith(ENDINGS):
            yield f"{path}{name}"
        elif kind == "folder" and name != "runs":
            # one that cannot be opened, or is gone by now, is passed over
            with suppress(NetwrightError, OSError), folder.folder(name) as inner:
                yield f"{path}{name}/"
                if depth:
                    yield from _found(inner, f"{path}{name}/", depth - 1)


def column_names(path: Path) -> list[str]:
    """The names in the first line of a table; none where that is no table in plain text."""
    if not path.name.lower().endswith(TABLES):
        return []
    try:
        head = read_bytes(path, most=HEAD).decode("utf-8-sig", "replace")
    except OSError:
        return []
    named, length = named_delimiter(head)
    first = re.split(r"[\r\n]", head[length:].lstrip("\r\n"), maxsplit=1)[0]
    separator = named or max(SEPARATORS, key=first.count)
    return next(csv.reader([first], delimiter=separator), []) if separator in first else []


def checked_data(top: Path, data: str) -> str:
    """The name of a set, or the whole path of what lies in the folder; all else is refused."""
    if data in SOURCES and data not in NEEDS_A_FILE:
        return data
    names = data.rstrip("/").split("/")
    is_plain = all(name and not name.startswith(".") and "\\" not in name for name in names)
    if not is_plain or "\0" in data:
        raise ConfigError(f"there is no data set or file {data!r:.200} in this folder")
    place = top.joinpath(*names)
    try:
        if not kind_of(place, top):
            raise ConfigError(f"there is no data set or file {data!r:.200} in this folder")
    except OSError as error:
        raise ConfigError(f"{data!r:.200} cannot be read: {error.strerror}") from None
    return str(place)


def check_inside(top: Path, value: Any, setting: str = "") -> None:
    """Refuse settings of which one names a file outside the folder, whatever it is for.

    Args:
        top: the folder of the studio.
        value: of a setting, or a mapping of settings; a text may hold several paths.
        setting: its name with its section, data.target; "": of all of them.
    """
    if isinstance(value, dict):
        for name, one in value.items():
            check_inside(top, one, f"{setting}.{name}" if setting else name)
    elif isinstance(value, list | tuple):
        for one in value:
            check_inside(top, one, setting)
    elif isinstance(value, str):
        parts = [] if setting in COLUMNS else re.split(r"[,\"\[\]{}:=\s]+", value)
        for part in [value, *parts]:
            if _leads_away(top, part):
                raise ConfigError(f"{value!r:.100} leads out of the folder of the studio")


def _leads_away(top: Path, part: str) -> bool:
    if "\0" in part or part.startswith("~"):
        return True
    return not Path(os.path.realpath(top / part)).is_relative_to(top)
