"""A tracker that only notes what it is told, and may be made to fail."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from netwright.train.trackers.tracker import Measured, TrackedRun, Tracker


class NotingTracker(Tracker):
    """Every one that was built is in `all`; `failing` names the call that fails."""

    package: ClassVar[str] = "json"
    all: ClassVar[list["NotingTracker"]] = []
    failing: ClassVar[str] = ""

    def __init__(self, folder: Path, run: TrackedRun) -> None:
        self._fail("init")
        assert folder.is_dir()
        assert not list(folder.iterdir())
        (folder / "there").touch()
        self.folder, self.run = folder, run
        self.rows: list[Measured] = []
        self.metrics: dict[str, float] = {}
        self.step, self.closed = -1, 0
        self.all.append(self)

    def write(self, rows: Sequence[Measured]) -> None:
        self._fail("write")
        self.rows += rows

    def finish(self, metrics: Mapping[str, float], step: int) -> None:
        self._fail("finish")
        self.metrics, self.step = dict(metrics), step

    def close(self) -> None:
        self.closed += 1

    def _fail(self, call: str) -> None:
        if self.failing == call:
            raise RuntimeError(f"no {call} today\nand more")
