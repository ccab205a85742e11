"""The checkpoints of one run: their names, the pointers to them, which go and which is good.

checkpoints/step-000100/     a checkpoint; a second one of the same step is step-000100-2
last.json                    {"checkpoint": the newest, "saved": all that this run wrote}
best.json                    {"checkpoint": the best of those that are there}
"""

import re
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from netwright.core.errors import DataError, NetwrightError
from netwright.core.files.inside import has_file, open_folder, parent_of
from netwright.core.files.json_text import parse_json
from netwright.core.files.manifest import whole_folder
from netwright.core.files.storage import MANIFEST, make_folder, read_json, read_record, write_json
from netwright.train.saving.checkpoint import CHECKPOINTS, run_around
from netwright.train.saving.checkpoint_content import FILES
from netwright.train.saving.part_files import PART, check_parts, part_names

NAME = re.compile(r"step-(\d{6,})(?:-(\d+))?")

Choose = Callable[[Sequence[str], str | None], str | None]


class CheckpointStore:
    """What a run keeps of its own; what others put beside it stays.

    Args:
        run: the run folder; what it holds of an earlier part of the run is taken over.
        keep: how many of the newest to keep, beside the best.
    """

    def __init__(self, run: Path, *, keep: int = 2) -> None:
        self.run, self.keep = run, keep
        self.path = run / CHECKPOINTS
        self.saved = list_saved(run)
        self.best = _pointer(run / "best.json").get("checkpoint")

    def place_for(self, step: int) -> Path:
        """Where the next checkpoint goes: beside, not over, what is there of the same step."""
        make_folder(self.path)
        with open_folder(self.path, self.run) as folder:
            taken = [_age(Path(name)) for name in folder.names()]
        numbers = [number for other, number in taken if other == step]
        return self.path / step_name(step, max(numbers, default=0) + 1)

    def add(self, place: Path, *, choose: Choose) -> None:
        """Move the pointers to a checkpoint that is there, then drop what is not wanted.

        It may also be an older one that the run goes on from, or one that a killed process had no
        time left to point to: it is the newest from now on. One of another run stays there.

        Args:
            place: of the checkpoint.
            choose: (those that are there, the best before) -> the best; None leaves it as it is.
        """
        if place.parent != self.path:
            return
        self.saved = [*(name for name in self.saved if name != place.name), place.name]
        self._point_to_last()
        there = [name for name in self.saved if has_file(self.path / name / MANIFEST, self.run)]
        best = choose(there, self.best)
        if best is not None and best != self.best:
            self.best = best
            write_json(self.run / "best.json", {"checkpoint": best})
        left = {
            name
            for name in self.saved[: -self.keep]
            if name != self.best and _remove(self.path / name)
        }
        if left:
            self.saved = [name for name in self.saved if name not in left]
            self._point_to_last()

    def _point_to_last(self) -> None:
        pointer = {"checkpoint": self.saved[-1], "saved": self.saved}
        write_json(self.run / "last.json", pointer)


def step_name(step: int, number: int = 1) -> str:
    """The name of a step's checkpoint: sorted by name is sorted by step."""
    return f"step-{step:06d}" if number == 1 else f"step-{step:06d}-{number}"


def step_of(name: str) -> int:
    """The step in a checkpoint's name."""
    return _age(Path(name))[0]


def newest_good(run: Path) -> tuple[Path | None, list[str]]:
    """The newest checkpoint that is whole, and a sentence for each newer one that is not."""
    remarks = []
    for place in reversed(list_checkpoints(run)):
        try:
            check_checkpoint(place)
        except NetwrightError as error:
            remarks.append(f"{error}; falling back to an older checkpoint")
            continue
        return place, remarks
    return None, remarks


def list_checkpoints(run: Path) -> list[Path]:
    """The checkpoints of a run, good or not, in the order in which they were written.

    The pointer knows it; what it does not list is newer if its step is, for a process may have been
    killed before it could point there.
    """
    named = sorted(_named_places(run), key=_age)
    saved = list_saved(run)
    listed = [place for name in saved for place in named if place.name == name]
    others = [place for place in named if place.name not in saved]
    older = [place for place in others if listed and _age(place) < _age(listed[-1])]
    return [*older, *listed, *(place for place in others if place not in older)]


def _named_places(run: Path) -> list[Path]:
    """What is called like a checkpoint, and is no file; whether it is a folder shows a check."""
    try:
        with open_folder(run / CHECKPOINTS, run) as folder:
            names = [name for name in folder.names() if NAME.fullmatch(name)]
            is_file = {name: stat.S_ISREG(folder.status(name).st_mode) for name in names}
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise DataError(f"{run / CHECKPOINTS} cannot be read: {error.strerror}") from None
    return [run / CHECKPOINTS / name for name in names if not is_file[name]]


def list_saved(run: Path) -> list[str]:
    """The names of the checkpoints that a run wrote and kept, in order; nothing else is a name."""
    saved = _pointer(run / "last.json").get("saved")
    names = saved if isinstance(saved, list) else []
    return [name for name in names if isinstance(name, str) and NAME.fullmatch(name)]


def _pointer(path: Path) -> dict[str, Any]:
    """What a pointer holds; one that is not there, or was damaged, points to nothing."""
    if not has_file(path):
        return {}
    try:
        values = read_json(path)
    except DataError:
        return {}
    return values if isinstance(values, dict) else {}


def _age(place: Path) -> tuple[int, int]:
    """The step and the number in a checkpoint's name; of other names (-1, 0)."""
    match = NAME.fullmatch(place.name)
    return (int(match[1]), int(match[2] or 1)) if match else (-1, 0)


def check_checkpoint(place: Path) -> None:
    """Refuse a checkpoint that is damaged, or stands in the place of another."""
    with whole_folder(place, inside=run_around(place)) as files:
        if "state.json" not in files:
            raise DataError(f"{place} lacks 'state.json': the checkpoint is incomplete")
        values = parse_json(read_record(files["state.json"], place), place / "state.json")
        if isinstance(values, dict):
            check_parts(place, part_names(values), files)
    step = values.get("step") if isinstance(values, dict) else None
    if step != _age(place)[0]:
        raise DataError(f"{place} holds the state of step {step}, which does not match its name")


def _remove(place: Path) -> bool:
    """Delete a checkpoint's own files, the manifest first; False where something is left."""
    with suppress(OSError), parent_of(place, run_around(place)) as parent:
        with suppress(OSError):
            with parent.folder(place.name) as folder:
                parts = [name for name in folder.names() if PART.fullmatch(name)]
                for name in (MANIFEST, *FILES, *parts):
                    with suppress(FileNotFoundError):
                        folder.unlink(name)
            parent.remove_empty(place.name)
        return not parent.kind(place.name)
    return False
