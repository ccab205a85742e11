"""Which tests run which functions, and how long each test takes: read from what the plugin wrote.

A function is named `core/files/storage.py::Class.method`; what is defined inside it counts as
itself.
"""

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOMS = ("core", "train", "data", "metrics", "losses", "optimizers")


def outermost(qualified_name: str) -> str:
    """The function that holds this code: `Class.method.<locals>.inner` lies in `Class.method`."""
    return qualified_name.partition(".<locals>")[0]


@dataclass(frozen=True)
class FunctionMap:
    """What one run of the suite saw.

    Args:
        seconds: how long each test took.
        tests: the tests that ran each function.
    """

    seconds: Mapping[str, float]
    tests: Mapping[str, frozenset[str]]

    def that_run(self, names: Sequence[str]) -> list[str]:
        """The tests that ran these functions, the shortest first.

        A name that ends in `.` or `:` stands for all functions of a class or of a file.
        """
        found = set[str]()
        for name in names:
            if name.endswith((".", ":")):
                found.update(*(ran for one, ran in self.tests.items() if one.startswith(name)))
            else:
                found.update(self.tests.get(name, ()))
        return self._shortest_first(found)

    def in_file(self, file: str) -> list[str]:
        """The tests of a file, the shortest first."""
        return self._shortest_first(test for test in self.seconds if test.startswith(f"{file}::"))

    def _shortest_first(self, tests: Iterable[str]) -> list[str]:
        return sorted(tests, key=lambda test: (self.seconds[test], test))


def write_part(path: Path, seconds: Mapping[str, float], ran: Mapping[str, set[str]]) -> None:
    """Write what one process saw: each test with its time and the functions that it ran."""
    numbers = {name: number for number, name in enumerate(sorted(set().union(*ran.values())))}
    rows = [
        [test, round(seconds[test], 4), sorted(numbers[name] for name in names)]
        for test, names in ran.items()
    ]
    text = json.dumps({"functions": list(numbers), "tests": rows})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def read_map(folder: Path) -> FunctionMap:
    """All parts in a folder as one; a test that is in several counts with all that it ran."""
    seconds: dict[str, float] = {}
    tests: dict[str, set[str]] = {}
    for path in sorted(folder.glob("*.json.gz")):
        part = json.loads(gzip.decompress(path.read_bytes()))
        for test, took, numbers in part["tests"]:
            seconds[test] = max(took, seconds.get(test, 0.0))
            for number in numbers:
                tests.setdefault(part["functions"][number], set()).add(test)
    return FunctionMap(seconds, {name: frozenset(found) for name, found in tests.items()})
