"""What a run of mutants came to: a table by room, and the survivors one by one."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
COLUMNS = ("killed", "timed out", "survived", "equivalent", "stillborn", "untested", "unreached")


def score(counts: Counter[str]) -> float:
    """The share of killed ones; a mutant with which tests never end is seen, and counts as such."""
    seen = counts["killed"] + counts["timed out"]
    return seen / max(1, seen + counts["survived"])


def table(rows: Sequence[Row]) -> list[str]:
    """One line a room, and one for all."""
    rooms: dict[str, Counter[str]] = {}
    for row in rows:
        rooms.setdefault(row["file"].partition("/")[0], Counter())[row["verdict"]] += 1
    rooms["all"] = sum(rooms.values(), Counter())
    head = "".join(f"{name:>12}" for name in COLUMNS)
    return [f"{'room':<12}{'mutants':>9}{head}{'score':>9}"] + [
        f"{room:<12}{counts.total():>9}"
        + "".join(f"{counts[name]:>12}" for name in COLUMNS)
        + f"{score(counts):>9.1%}"
        for room, counts in rooms.items()
    ]


def survivors(rows: Iterable[Row]) -> list[str]:
    """One line each: where, what was changed, and in which statement."""
    left = [row for row in rows if row["verdict"] == "survived"]
    left.sort(key=lambda row: (row["file"], row["line"]))
    return [
        f"{row['file']}:{row['line']}: {row['change']}"
        + (f"   in: {row['before'][:120]}" if row["before"] not in row["change"] else "")
        for row in left
    ]


def write(path: Path, rows: Sequence[Row], settings: dict[str, Any]) -> None:
    """All outcomes, with what they were drawn by."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"settings": settings, "rows": rows}, indent=1), encoding="utf-8")


def read(paths: Iterable[Path]) -> list[Row]:
    """The outcomes of several shards as one; a later one counts for the same mutant."""
    found: dict[str, Row] = {}
    for path in paths:
        for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
            found[row["place"]] = row
    return list(found.values())
