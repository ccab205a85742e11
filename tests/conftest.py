"""What all tests share: real data where it is, and the count of covered catalogue rows."""

import atexit
import gc
import json
import os
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

LONG_FIRST = (
    "tests/test_readme.py",
    "tests/test_lessons.py",
    "tests/faults/",
    "tests/train/test_data_parallel.py",  # as in the faults, ranks are forked from a warm process:
    "tests/train/test_ranks.py",  # one worker has them all, so that there is one
    "tests/hostile/",
)

IS_SLOW = re.compile(r"^pytestmark = (?:\[\s*)?pytest\.mark\.slow\b", re.MULTILINE)

# It needs the graph of imports, for which grimp comes with import-linter.
collect_ignore = [] if find_spec("grimp") else ["test_changed_tests.py"]


def pytest_configure(config: pytest.Config) -> None:
    """Set what holds for all tests.

    The garbage collector is off while tests are collected: it finds nothing, but goes over the
    growing heap of imported modules and test items again and again, a sixth of the time. Nothing
    waits for the disk: no test cuts the power, and a small run would wait longer than it trains.
    Properties are tried on the same examples each time, however slow the machine is; the process
    that only hands out tests to workers has none, and imports nothing for them.
    """
    gc.disable()
    os.fsync = lambda fd: None
    if config.getoption("dist", "no") != "no":
        return
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "same everywhere",
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("same everywhere")


def pytest_collection_finish() -> None:
    """Modules and test items stay to the end: the collector, back at work, leaves them aside.

    It comes after ten thousand new objects instead of seven hundred, which takes half the time.
    When Python ends all is collected as ever: extension modules report what is not as leaks.
    """
    gc.enable()
    gc.set_threshold(10_000)
    gc.freeze()
    atexit.register(gc.unfreeze)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file that says at its top that all its tests are slow, where none is to run.

    To import such files and to make their thousands of tests, only to deselect them, takes seconds
    in each worker. A file that is asked for by its name is read.
    """
    if config.getoption("markexpr") != "not slow" or collection_path.suffix != ".py":
        return None
    if any(Path(arg.partition("::")[0]).name == collection_path.name for arg in config.args):
        return None
    return True if IS_SLOW.search(collection_path.read_text(encoding="utf-8")) else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--catalogue", help="a catalogue.json: print which of its rows passing tests cover"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests come first, to one worker; the other takes from the end what is left of them.

    A name with an address differs from worker to worker, which then have nothing to share.
    """
    addressed = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if addressed:
        raise pytest.UsageError(f"the name of a test must hold no address: {addressed[0]}")
    items.sort(
        key=lambda item: next(
            (place for place, start in enumerate(LONG_FIRST) if item.nodeid.startswith(start)),
            len(LONG_FIRST),
        )
    )


def pytest_runtest_teardown() -> None:
    """Let no test change the bits of the next.

    After a product in bfloat16 that the CPU cannot do, torch leaves oneDNN off in all that follows.
    """
    import torch

    torch._C._set_mkldnn_enabled(True)


@pytest.fixture
def real_data() -> Callable[[str], Path]:
    """The path of a file of real data, as "islr/Default.csv"; skips where it is not to be had."""

    def find(name: str) -> Path:
        for folder in os.environ.get("NETWRIGHT_DATA", "").split(os.pathsep):
            if folder and (Path(folder) / name).exists():
                return (Path(folder) / name).resolve()
        pytest.skip(f"{name} is not under NETWRIGHT_DATA")

    return find


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Remember which catalogue rows a passing test covers; read by the workers' reports."""
    if call.when == "call" and call.excinfo is None:
        rows = [row for mark in item.iter_markers("covers") for row in mark.args]
        item.user_properties.append(("covers", rows))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    path = config.getoption("--catalogue")
    if not path:
        return
    covered = {
        row
        for report in terminalreporter.stats.get("passed", [])
        for name, rows in report.user_properties
        if name == "covers"
        for row in rows
    }
    rows = json.loads(Path(path).read_text(encoding="utf-8"))
    known = {row["id"] for row in rows}
    wanted = {
        row["id"]
        for row in rows
        if row["weight"] in {"defined", "described"} and row["kind"] != "history"
    }
    write = terminalreporter.write_line
    write("")
    write(f"catalogue: {len(covered & wanted)} of {len(wanted)} defined and described rows covered")
    write(f"           {len(covered & known)} of {len(known)} rows in all")
    for row in sorted(covered & known):
        write(f"  {row}")
    for row in sorted(covered - known):
        write(f"  {row}: no such row in the catalogue", red=True)
