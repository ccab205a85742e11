"""Which mutants are tried: as many from each room as it has lines, drawn by a seed."""

import random
from collections.abc import Collection, Sequence
from pathlib import Path

from tests.mutants.function_map import ROOMS
from tests.mutants.mutant import Mutant, mutants_of
from tests.mutants.report import Row


def files_of(package: Path, room: str) -> list[str]:
    """The files of a room, as "core/files/storage.py"."""
    paths = sorted((package / room).rglob("*.py"))
    return [path.relative_to(package).as_posix() for path in paths if path.name != "__init__.py"]


def shares(lines: dict[str, int], count: int) -> dict[str, int]:
    """How many mutants each room gets, in proportion to its lines; together exactly `count`."""
    total, given, seen = sum(lines.values()), 0, 0
    found: dict[str, int] = {}
    for room, own in lines.items():
        seen += own
        found[room] = count * seen // total - given
        given += found[room]
    return found


def draw(package: Path, count: int, seed: int, rooms: Sequence[str] = ROOMS) -> list[Mutant]:
    """A sample that follows from source, count and seed, in the order of the files."""
    files = {room: files_of(package, room) for room in rooms}
    text = {
        file: (package / file).read_text(encoding="utf-8") for room in rooms for file in files[room]
    }
    lines = {room: sum(text[file].count("\n") for file in files[room]) for room in rooms}
    found = []
    for room, share in shares(lines, count).items():
        every = [one for file in files[room] for one in mutants_of(file, text[file])]
        places = random.Random(f"{seed} {room}").sample(range(len(every)), min(share, len(every)))
        found += [every[place] for place in sorted(places)]
    return found


def again(package: Path, rows: Sequence[Row], verdicts: Collection[str]) -> list[Mutant]:
    """The mutants to which an earlier run gave such a verdict, where the source still has them."""
    wanted = {(row["place"], row["change"]) for row in rows if row["verdict"] in verdicts}
    files = sorted({row["file"] for row in rows if (package / row["file"]).exists()})
    return [
        one
        for file in files
        for one in mutants_of(file, (package / file).read_text(encoding="utf-8"))
        if (one.place, one.change) in wanted
    ]


def chunks(mutants: Sequence[Mutant], most: int = 12) -> list[list[Mutant]]:
    """Mutants of one file together, so that its tests are imported once; not too many at a time."""
    found: list[list[Mutant]] = []
    for mutant in mutants:
        if not found or found[-1][0].file != mutant.file or len(found[-1]) == most:
            found.append([])
        found[-1].append(mutant)
    return found


def shard(groups: Sequence[list[Mutant]], part: str) -> list[list[Mutant]]:
    """The part "2/3" of the groups: every third, from the second on."""
    number, _, of = part.partition("/")
    place, parts = int(number), int(of)
    if not 1 <= place <= parts:
        raise ValueError(f"a shard is i/n with 1 <= i <= n, got {part}")
    return list(groups[place - 1 :: parts])
