"""Some tests, run by pytest in this process: which failed, and which ran before."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
OPTIONS = (
    *("-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:faulthandler"),
    *("-p", "no:benchmark"),  # where it is installed, it warns of the workers outside
    # hypothesis is there before pytest could have looked at its assertions
    *("-W", "ignore::pytest.PytestAssertRewriteWarning", "--tb=no", "--no-summary"),
    *(f"--rootdir={ROOT}", "-c", f"{ROOT / 'pyproject.toml'}"),
)


@dataclass(frozen=True)
class Selection:
    """Which tests of some files.

    Args:
        files: the files, as "tests/core/files/test_storage.py".
        only: the tests to run; None for all of the files.
        unless: tests to leave out.
    """

    files: tuple[str, ...]
    only: frozenset[str] | None = None
    unless: frozenset[str] = frozenset()

    def keeps(self, test: str) -> bool:
        return (self.only is None or test in self.only) and test not in self.unless


@dataclass(eq=False)
class _Watcher:
    """The plugin that leaves out tests and notes what failed."""

    selection: Selection
    failed: list[str] = field(default_factory=list)
    errors: int = 0
    ran: int = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if self.selection.keeps(item.nodeid)]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.errors += report.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)
        self.ran += report.when == "call"


def collect(files: Collection[str]) -> None:
    """Import these files, so that processes forked from this one need not."""
    pytest.main([*OPTIONS, "--collect-only", *_paths(files)])


def run_tests(selection: Selection, folder: Path, *, to_first_failure: bool) -> dict[str, Any]:
    """Run them; `failed` names the tests, `broken` says that files could not be imported."""
    watcher = _Watcher(selection)
    first = ("-x",) if to_first_failure else ()
    base = f"--basetemp={folder / 'base'}"
    code = pytest.main([*OPTIONS, *first, base, *_paths(selection.files)], plugins=[watcher])
    failed, broken = watcher.failed, watcher.errors > 0
    return {"failed": failed, "broken": broken, "ran": watcher.ran, "code": int(code)}


def _paths(files: Collection[str]) -> Sequence[str]:
    return [str(ROOT / file) for file in files]
