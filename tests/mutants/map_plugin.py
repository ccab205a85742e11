"""A pytest plugin that notes which functions each test runs, in one ordinary run of the suite.

`pytest -n 2 -p tests.mutants.map_plugin --mutant-map=FOLDER`: each process writes one part there.
Only the first call of a function in a test is noted, so that the suite is hardly slower. What runs
in a process that a test starts or forks is not seen.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

from tests.mutants.function_map import ROOMS, outermost, write_part
from tests.mutants.planting import package_folder

PACKAGE = f"{package_folder()}{os.sep}"


def name_of(code: CodeType) -> str | None:
    """`core/files/storage.py::write_text`, or None for code that lies in none of the rooms."""
    if not code.co_filename.startswith(PACKAGE):
        return None
    place = code.co_filename.removeprefix(PACKAGE).replace(os.sep, "/")
    if place.partition("/")[0] not in ROOMS or code.co_name == "<module>":
        return None
    return f"{place}::{outermost(code.co_qualname)}"


class Starts:
    """The names of the functions that started since the last `begin`."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._known: dict[CodeType, str | None] = {}
        self._watch = Watch(self._note)

    def _note(self, code: CodeType) -> None:
        try:
            name = self._known[code]
        except KeyError:
            name = self._known[code] = name_of(code)
        if name is not None:
            self.names.add(name)

    def begin(self) -> None:
        self.names = set()
        self._watch.begin()

    def end(self) -> None:
        self._watch.end()


if sys.version_info >= (3, 12):

    class Watch:
        """Calls back with the code of each function that starts, once after each `begin`."""

        def __init__(self, note: Callable[[CodeType], None]) -> None:
            def started(code: CodeType, _offset: int) -> object:
                note(code)
                return sys.monitoring.DISABLE

            self._tool = next(tool for tool in range(6) if sys.monitoring.get_tool(tool) is None)
            start = sys.monitoring.events.PY_START
            sys.monitoring.use_tool_id(self._tool, "mutants")
            sys.monitoring.register_callback(self._tool, start, started)
            sys.monitoring.set_events(self._tool, start)

        def begin(self) -> None:
            sys.monitoring.restart_events()

        def end(self) -> None:
            sys.monitoring.set_events(self._tool, 0)
            sys.monitoring.free_tool_id(self._tool)

else:

    class Watch:
        """Calls back with the code of each function that starts."""

        def __init__(self, note: Callable[[CodeType], None]) -> None:
            def started(frame: FrameType, _event: str, _value: object) -> None:
                note(frame.f_code)

            self._started = started
            self._before = sys.gettrace()

        def begin(self) -> None:
            sys.settrace(self._started)
            threading.settrace(self._started)

        def end(self) -> None:
            sys.settrace(self._before)
            threading.settrace(self._before)


class MapPlugin:
    """Between a test's first fixture and its last, notes the functions and adds up the seconds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.starts = Starts()
        self.ran: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}
        self.owner = os.getpid()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.starts.begin()
        yield
        self.ran.setdefault(item.nodeid, set()).update(self.starts.names)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Iterator[None]:
        self.seconds[item.nodeid] = self.seconds.get(item.nodeid, 0.0) + call.duration
        yield

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.starts.end()
        if not self.ran or os.getpid() != self.owner:
            return  # the process that hands out the tests runs none; a forked one is no worker
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        write_part(self.folder / f"{worker}.json.gz", self.seconds, self.ran)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mutant-map", help="a folder for what each test runs, for tests.mutants")


def pytest_configure(config: pytest.Config) -> None:
    folder = config.getoption("--mutant-map")
    if folder and not hasattr(config, "workerinput") and config.getoption("numprocesses", None):
        return  # its workers write
    if folder:
        config.pluginmanager.register(MapPlugin(Path(folder).absolute()), "mutant-map")
