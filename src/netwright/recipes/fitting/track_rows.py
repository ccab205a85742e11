"""Let trackers follow a run: each has its folder, `tracking/NAME`, with what the history has.

When a fit starts, a folder is written anew from all rows so far, as `metrics.jsonl` is: a run that
was killed may have written rows that its last checkpoint does not know, and a resumed one measures
them again. So no row is there twice, and none is missing.
"""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError, DataError
from netwright.core.files.inside import has_file, open_folder
from netwright.core.files.storage import make_folder, read_bytes, write_text
from netwright.core.terminal.console import print_warning
from netwright.recipes.plan.given_settings import given_to
from netwright.train.callbacks.history_file import FollowHistory
from netwright.train.trackers.catalog import TRACKERS
from netwright.train.trackers.tracker import Plain, TrackedRun, Tracker, check_installed
from netwright.train.watching.history import Row

FOLDER = "tracking"
ID = "id"  # the file that keeps the run's id


def check_trackers(names: Sequence[str]) -> None:
    """Refuse a tracker whose package is not installed."""
    for name in names:
        check_installed(name, TRACKERS.load(name))


def check_untracked(settings: Mapping[str, Any], who: str) -> None:
    """Refuse trackers where no run folder is left for them to write in.

    Args:
        settings: as the caller gave them.
        who: leaves none.
    """
    if given_to("train", settings).get("track"):
        raise ConfigError(f"track writes inside a run folder, which {who} does not leave")


class TrackRows(FollowHistory):
    """Tells trackers the rows of a run as they come.

    A tracker that fails is dropped with a warning: training goes on, and the others do.

    Args:
        folder: of the run.
        names: of the trackers.
        settings: of the run.
    """

    def __init__(self, folder: Path, names: Sequence[str], settings: Mapping[str, Plain]) -> None:
        super().__init__()
        self.folder, self.settings = folder, settings
        self.names = list(dict.fromkeys(names))
        self.open: dict[str, Tracker] = {}
        self.is_begun = False

    def rewrite(self, rows: Sequence[Row]) -> None:
        """Begin each folder anew with these rows."""
        self.close()
        self.is_begun = True
        run = TrackedRun(
            id=self._id(),
            name=self.folder.resolve().name,
            settings=self.settings,
            started=time.time() - (rows[-1].time if rows else 0.0),
        )
        for name in list(self.names):
            self._try(name, partial(self._begin, name, run))
        self.append(rows)

    def append(self, rows: Sequence[Row]) -> None:
        """Tell new rows."""
        self._tell(lambda tracker: tracker.write(rows))

    def finish(self, rows: Sequence[Row], metrics: Mapping[str, float]) -> None:
        """Tell what is left of all rows, then the measures of the finished run.

        A model that learns by a rule of its own has made its rows without events: it is all told
        here.
        """
        if self.is_begun:
            self.append(rows[self.written :])
        else:
            self.rewrite(rows)
        step = rows[-1].step if rows else 0
        self._tell(lambda tracker: tracker.finish(metrics, step))
        self.close()

    def close(self) -> None:
        """Let go of every tracker."""
        self._tell(lambda tracker: tracker.close())
        self.open.clear()

    def _tell(self, act: Callable[[Tracker], None]) -> None:
        for name, tracker in list(self.open.items()):
            self._try(name, partial(act, tracker))

    def _try(self, name: str, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:  # a foreign package: whatever it is, training is worth more
            self.open.pop(name, None)
            self.names.remove(name)
            reason = str(error).partition("\n")[0] or type(error).__name__
            print_warning(f"tracking by {name} has ended, training goes on: {reason:.200}")

    def _begin(self, name: str, run: TrackedRun) -> None:
        place = self.folder / FOLDER
        with open_folder(place, inside=self.folder) as tracking:
            if tracking.kind(name):
                tracking.remove_tree(name)
            tracking.make_folder(name)
        self.open[name] = TRACKERS.load(name)(place / name, run)

    def _id(self) -> str:
        """What was made up when the run was first tracked."""
        place = self.folder / FOLDER
        make_folder(place, inside=self.folder)
        if not has_file(place / ID, inside=self.folder):
            write_text(place / ID, secrets.token_hex(8), inside=self.folder)
        text = read_bytes(place / ID, inside=self.folder, most=100).decode(errors="replace")
        if not (text.isascii() and text.isalnum()):
            raise DataError(f"{place / ID} must hold letters and digits, got {text!r:.60}")
        return text
