"""Which tests are run against a mutant: own ones that run it, others that do, then the rest."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.mutants.function_map import FunctionMap
from tests.mutants.mutant import Mutant
from tests.mutants.planting import module_name, package_folder
from tests.mutants.session import Selection

OTHERS_SECONDS = 20.0
MOST_OTHERS, MOST_FILES = 80, 12


def own_test_file(file: str) -> str:
    """The file that mirrors it: tests/core/files/test_storage.py for core/files/storage.py."""
    folder, _, name = file.rpartition("/")
    return f"tests/{folder}/test_{name}"


def selections(mutant: Mutant, found: FunctionMap) -> Iterator[Selection]:
    """Own tests, and if these see nothing others, the shortest first, up to a limit of seconds.

    A test that the map does not know is newer than the map, and is run. Last come the own tests
    that are not known to run it: they may do so in a process of their own, or take what it gave
    before from a cache.
    """
    own, running = own_test_file(mutant.file), _tests_that_run(mutant, found)
    known = found.in_file(own) if running and not mutant.at_import else []
    left = frozenset(known) - frozenset(running)
    yield Selection((own,), unless=left)
    chosen: list[str] = []
    files: set[str] = set()
    seconds = 0.0
    for test in running:
        file = test.partition("::")[0]
        if file == own or (file not in files and len(files) == MOST_FILES):
            continue
        seconds += found.seconds[test]
        if seconds > OTHERS_SECONDS or len(chosen) == MOST_OTHERS:
            break
        chosen.append(test)
        files.add(file)
    if chosen:
        yield Selection(tuple(sorted(files)), only=frozenset(chosen))
    if left:
        yield Selection((own,), only=left)


def expected_seconds(selection: Selection, found: FunctionMap) -> float:
    """How long these tests take where the code is right, as far as the map knows."""
    if selection.only is not None:
        return sum(found.seconds[test] for test in selection.only)
    return sum(
        seconds
        for test, seconds in found.seconds.items()
        if test.partition("::")[0] in selection.files and selection.keeps(test)
    )


def _tests_that_run(mutant: Mutant, found: FunctionMap) -> list[str]:
    """Of the function; of a class or a file where it is none, and of the files that import it."""
    name = f"{mutant.file}::{mutant.owner}"
    if mutant.owner and (tests := found.that_run([name, f"{name}."])):
        return tests
    if not mutant.at_import:
        return []
    users = importers(package_folder(), mutant.file)
    return found.that_run([f"{mutant.file}::", *(f"{file}::" for file in users)]) or [
        test for file in users for test in found.in_file(own_test_file(file))
    ]


@cache
def importers(package: Path, file: str) -> list[str]:
    """The files that import this one."""
    named = re.compile(rf"^\s*(from|import) {re.escape(module_name(file))}\b", re.MULTILINE)
    return [
        path.relative_to(package).as_posix()
        for path in sorted(package.rglob("*.py"))
        if named.search(path.read_text(encoding="utf-8"))
    ]
