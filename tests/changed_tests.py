"""Which tests a change can reach: those that import what has changed, directly or by way of others.

    python -m tests.changed_tests [BASE]

prints them for pytest's command line, and `make test-changed` runs them. A change is all that
differs from BASE (where this branch left `main`), what is not committed included. The import graph
is that of import-linter, of the package and of its tests. A row of a catalog is no import: what is
loaded by its name alone reaches the catalog's tests and no further, else every model would reach
every recipe. This is for the inner loop; the gate is `make test`.
"""
# ruff: noqa: T201 - a list on the terminal is what it is for

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import grimp

ROOT = Path(__file__).parent.parent
ALL = "tests"
OF_ALL_TESTS = {"pyproject.toml", "constraints.txt", "tests/conftest.py"}
OF_EVERY_MODULE = ("tests/test_house_rules.py", "tests/test_public_names.py")  # these read files
OF_PAGES = ("tests/test_readme.py", "tests/test_lessons.py")


def changed_files(root: Path, base: str) -> list[str]:
    """What differs from where this branch left `base`, committed or not, from the root."""
    fork = _git(root, "merge-base", base, "HEAD")[0]
    return [
        *_git(root, "diff", "--name-only", "--no-renames", fork),
        *_git(root, "ls-files", "--others", "--exclude-standard"),
    ]


def _git(root: Path, *words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def build_graph() -> grimp.ImportGraph:
    """The imports of the package and of the tests, those in functions included."""
    return grimp.build_graph("netwright", "tests", cache_dir=None)


def reached_tests(graph: grimp.ImportGraph, changed: Iterable[str]) -> list[str]:
    """The test files and folders of tests that these files, named from the root, can reach."""
    found: set[str] = set()
    for file in changed:
        place = PurePosixPath(file)
        if file in OF_ALL_TESTS:
            return [ALL]
        if file == "README.md" or place.parts[0] == "docs":
            found |= set(OF_PAGES)
        if place.parts[0] not in {"src", "tests"}:
            continue
        found |= set(OF_EVERY_MODULE)
        for module in _modules_of(graph, place):
            reached = {module, *graph.find_downstream_modules(module)}
            found |= set(_tests_among(reached)) | set(_catalog_tests(graph, module))
    return sorted(test for test in found if not found & set(map(str, PurePosixPath(test).parents)))


def _modules_of(graph: grimp.ImportGraph, file: PurePosixPath) -> set[str]:
    """A module; of another file (a recipe, a style sheet) all modules of its folder."""
    parts = file.parts[1:] if file.parts[0] == "src" else file.parts
    folder = ".".join(parts[:-1])
    if file.name == "__init__.py":
        return {folder} & graph.modules
    if file.suffix == ".py":
        return {f"{folder}.{file.stem}"} & graph.modules
    return {module for module in graph.modules if module.rpartition(".")[0] == folder}


def _tests_among(modules: Iterable[str]) -> Iterator[str]:
    """Test files; of a conftest, whose fixtures nobody imports, its folder."""
    for module in modules:
        room, _, name = module.rpartition(".")
        if module.startswith("tests.") and name == "conftest":
            yield room.replace(".", "/")
        elif module.startswith("tests.") and name.startswith("test_"):
            yield f"{module.replace('.', '/')}.py"


def _catalog_tests(graph: grimp.ImportGraph, module: str) -> Iterator[str]:
    """The tests of the catalogs beside a module and above it, which may load it by a name."""
    _, *rooms, _ = module.split(".") if module.startswith("netwright.") else ("", "")
    for depth in range(1, len(rooms) + 1):
        if ".".join(["netwright", *rooms[:depth], "catalog"]) in graph.modules:
            yield "/".join(["tests", *rooms[:depth], "test_catalog.py"])


if __name__ == "__main__":
    files = changed_files(ROOT, *(sys.argv[1:] or ["main"]))
    print("\n".join(reached_tests(build_graph(), files)))
