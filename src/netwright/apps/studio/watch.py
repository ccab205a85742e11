"""The runs of the folder as the page sees them: looked at once a second, for all who watch.

However many pages are open, the folder is read once; a page that reads slowly misses what came
between, never the newest state.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from netwright.apps.studio.jobs import Jobs
from netwright.core.terminal.console import print_warning
from netwright.recipes.saved.loss_curves import LossCurves
from netwright.recipes.saved.run_list import ListedRun, look_at_run, run_names

LOOK_EVERY = 1.0  # seconds
QUIET = 15.0  # seconds after which a stream says that it is alive
FILES = ("config.yaml", "metrics.jsonl", "results.json", ".lock", "report.html", "notes.json")
Told = dict[str, Any]


class RunWatch:
    """The newest state of all runs, and who waits for it.

    Args:
        folder: that is watched.
        jobs: that are told of with the runs.
        is_ending: whether streams are to end.
    """

    def __init__(self, folder: Path, jobs: Jobs, is_ending: Callable[[], bool]) -> None:
        self.folder, self.jobs, self.is_ending = folder, jobs, is_ending
        self.watchers = 0
        self._runs: dict[str, tuple[Any, ListedRun, LossCurves]] = {}
        self._changed = asyncio.Condition()
        self._told: Told = {"runs": [], "jobs": []}
        self._event = _event(self._told)
        self._looking = asyncio.Lock()

    async def keep_looking(self) -> None:
        """Look while anybody watches."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            if self.watchers:
                await self.refresh()

    async def refresh(self) -> Told:
        """Look now; one look ends before the next begins, although who asked for it has gone."""
        return await asyncio.shield(self._refresh())

    async def _refresh(self) -> Told:
        async with self._looking:
            try:
                told = await asyncio.to_thread(self.look)
            except Exception as error:  # whatever it is, the next look may be better
                print_warning(f"the folder could not be looked at: {error}")
                return self._told
            if told != self._told:
                self._told, self._event = told, _event(told)  # written once for all who watch
                async with self._changed:
                    self._changed.notify_all()
            return self._told

    def look(self) -> Told:
        """All runs, the newest first, and the commands that were started here."""
        runs: dict[str, tuple[Any, ListedRun, LossCurves]] = {}
        for name in run_names(self.folder):
            mark, (old, run, curves) = self._mark(name), self._runs.get(name, (None, None, None))
            if run is None or curves is None or mark != old or run.state == "training":
                run = look_at_run(self.folder, name)
                curves = curves or LossCurves(self.folder / name)
                if run.state != "unreadable":
                    curves.read_on()
            runs[name] = (mark, run, curves)
        self._runs = runs
        listed = [_told(run, curves) for _, run, curves in runs.values()]
        listed.sort(key=lambda one: one["began"], reverse=True)
        return {"runs": listed, "jobs": self.jobs.to_json()}

    def _mark(self, name: str) -> tuple[Any, ...]:
        """What changes when a run changes."""
        return tuple(_changed(self.folder / name / file) for file in FILES)

    async def events(self) -> AsyncIterator[str]:
        """Server-sent events: the whole state, then each newer one."""
        self.watchers += 1
        try:
            await self.refresh()
            told, quiet = self._event, 0.0
            yield told
            while not self.is_ending():
                try:
                    async with asyncio.timeout(LOOK_EVERY), self._changed:
                        await self._changed.wait()
                except TimeoutError:
                    quiet += LOOK_EVERY
                if self._event is not told:
                    told, quiet = self._event, 0.0
                    yield told
                elif quiet >= QUIET:
                    quiet = 0.0
                    yield ": still here\n\n"
        finally:
            self.watchers -= 1


def _event(told: Told) -> str:
    return f"data: {json.dumps(told, allow_nan=False)}\n\n"


def _told(run: ListedRun, curves: LossCurves) -> Told:
    return {**vars(run), "epoch": curves.epoch, "step": curves.step, "curves": curves.curves()}


def _changed(path: Path) -> tuple[int, int, int]:
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return (0, 0, 0)
    return (status.st_ino, status.st_mtime_ns, status.st_size)
