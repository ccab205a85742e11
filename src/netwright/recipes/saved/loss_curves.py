"""The losses of a run that may still be training, read on from where the last look ended."""

import os
from contextlib import suppress
from pathlib import Path

from netwright.core.files.inside import parent_of
from netwright.core.files.json_text import json_value
from netwright.train.watching.history import Row, read_row

FILE = "metrics.jsonl"
KEYS = ("train/loss", "val/loss", "step/loss")
MOST_POINTS = 240  # of a curve: more than a small picture has columns
MOST_READ = 8_000_000  # bytes a look
Point = tuple[int, float]  # step, loss


class LossCurves:
    """The losses of one run by split, each with at most some hundred points.

    Args:
        folder: of the run.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._begin(inode=-1)

    def _begin(self, inode: int) -> None:
        self.epoch = self.step = 0
        self._offset, self._inode = 0, inode
        self._points: dict[str, list[Point]] = {}
        self._stride = dict.fromkeys(KEYS, 1)
        self._seen = dict.fromkeys(KEYS, 0)

    def read_on(self) -> None:
        """Take up the rows that were added since the last look; a run that resumes begins again."""
        with suppress(FileNotFoundError), parent_of(self.path) as parent:
            with parent.read(self.path.name) as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self._inode or status.st_size < self._offset:
                    self._begin(status.st_ino)
                file.seek(self._offset)
                whole, newline, _ = file.read(MOST_READ).rpartition(b"\n")
            self._offset += len(whole) + len(newline)
            for line in whole.split(b"\n"):
                with suppress(ValueError, TypeError):  # what is no row is no point
                    self._take(read_row(json_value(line)))

    def curves(self) -> dict[str, list[Point]]:
        """What there is to draw: by epoch where it was measured so, else by step."""
        by_epoch = {key: self._points[key] for key in KEYS[:2] if self._points.get(key)}
        longest = max(map(len, by_epoch.values()), default=0)
        by_step = self._points.get("step/loss", [])
        if longest > 1 or not by_step:
            return by_epoch
        return {"train/loss": by_step, **{k: v for k, v in by_epoch.items() if k == "val/loss"}}

    def _take(self, row: Row) -> None:
        self.epoch, self.step = max(self.epoch, row.epoch), max(self.step, row.step)
        if row.key not in self._stride:
            return
        points = self._points.setdefault(row.key, [])
        if self._seen[row.key] % self._stride[row.key] == 0:
            points.append((row.step, row.value))
        self._seen[row.key] += 1
        if len(points) > MOST_POINTS:
            del points[1::2]
            self._stride[row.key] *= 2
