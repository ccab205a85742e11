"""The runs of a folder, as they are now: also those that another process is training.

Nothing but small files of each run is read, and no model is loaded.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from netwright.core.checks import is_finite_number
from netwright.core.errors import ConfigError, NetwrightError
from netwright.core.files.folder_lock import owner_of
from netwright.core.files.inside import Folder, has_file, open_folder
from netwright.metrics.catalog import METRICS
from netwright.recipes.plan.recipe_file import read_own_recipe
from netwright.recipes.saved.results_file import read_results
from netwright.recipes.saved.run_notes import read_notes

State = Literal["training", "finished", "stopped", "interrupted", "unreadable"]
DEPTH = 3  # folders below the one that is looked through
MOST_RUNS = 2000
MOST_FOLDERS = 10_000  # that are looked into before the search ends
NEEDED = {"config.yaml", "env.json"}  # what every run has from its first second


@dataclass(frozen=True, kw_only=True)
class ListedRun:
    """What is known of a run without opening it.

    Args:
        name: its path below the folder that was looked through, with slashes.
        state: "training": a process owns it; "stopped": it was ended and can be resumed;
            "interrupted": it ended without a word, as by a kill; "unreadable": see `trouble`.
        began: when its recipe was written, in seconds since 1970.
        model: the name of its model; empty for one of the user's own.
        data: the name of its data, or of their file.
        seed: of the run.
        epochs: how many it is to take; None where that is not said.
        metric: what `value` is; empty where nothing is measured yet.
        value: on the held-out rows.
        baseline: the same of the trivial guess; None where it has none.
        better: whether a higher or a lower value is the better one.
        has_report: whether there is a page to open.
        tags: words that a person gave it.
        note: what a person wrote of it.
        trouble: why it, or only its notes, cannot be read, in one sentence.
    """

    name: str
    state: State
    began: float = 0.0
    model: str = ""
    data: str = ""
    seed: int = 0
    epochs: int | None = None
    metric: str = ""
    value: float | None = None
    baseline: float | None = None
    better: Literal["higher", "lower"] = "higher"
    has_report: bool = False
    tags: tuple[str, ...] = ()
    note: str = ""
    trouble: str = ""


def list_runs(folder: str | Path = ".") -> list[ListedRun]:
    """The runs in a folder and in the folders below, the newest first.

    Args:
        folder: what is looked through, three levels deep; links are not followed.
    """
    top = Path(folder)
    found = [look_at_run(top, name) for name in run_names(top)]
    return sorted(found, key=lambda run: run.began, reverse=True)


def run_names(top: Path) -> list[str]:
    """Where runs are, as paths below the folder with slashes."""
    left = [MOST_FOLDERS]
    try:
        with open_folder(top) as folder:
            found = _found(folder, "", DEPTH, left)
            return [name for name, _ in zip(found, range(MOST_RUNS), strict=False)]
    except OSError as error:
        raise ConfigError(f"{top} cannot be looked through: {error.strerror}") from None


def _found(folder: Folder, path: str, depth: int, left: list[int]) -> Iterator[str]:
    left[0] -= 1
    if path and all(_is_file(folder, name) for name in NEEDED):
        yield path
        return
    if not depth:
        return
    for name in folder.folder_names():
        if not name.startswith(".") and left[0] > 0:
            try:
                with folder.folder(name) as inner:
                    yield from _found(inner, f"{path}/{name}".lstrip("/"), depth - 1, left)
            except OSError:  # it is gone, or not ours to read
                continue


def _is_file(folder: Folder, name: str) -> bool:
    try:
        return folder.kind(name) == "file"
    except (NetwrightError, OSError):  # it is not there, a link, a pipe ...
        return False


def look_at_run(top: Path, name: str) -> ListedRun:
    """One of the runs; what is wrong with its files is told, not raised."""
    place = top / name
    try:
        began = os.stat(place / "config.yaml", follow_symlinks=False).st_mtime
        config = read_own_recipe(place)
        results = read_results(place) if has_file(place / "results.json") else {}
        return ListedRun(
            name=name,
            state=_state(place, results),
            began=began,
            **_told_by_recipe(config),
            **_told_by_results(results),
            has_report=has_file(place / "report.html"),
            **_told_by_notes(place),
        )
    except NetwrightError as error:
        return ListedRun(name=name, state="unreadable", trouble=str(error))
    except OSError as error:
        return ListedRun(name=name, state="unreadable", trouble=error.strerror or "it is gone")


def _state(place: Path, results: Mapping[str, Any]) -> State:
    if owner_of(place) is not None:
        return "training"
    if not results:
        return "interrupted"
    return "finished" if results.get("finished", True) else "stopped"


def _told_by_notes(place: Path) -> dict[str, Any]:
    try:
        return vars(read_notes(place))
    except NetwrightError as error:  # no reason to hide how the run went
        return {"trouble": f"its notes cannot be read: {error}"}


def _told_by_recipe(config: Mapping[str, Any]) -> dict[str, Any]:
    model, data, train = (_section(config, name) for name in ("model", "data", "train"))
    path, seed, epochs = data.get("path"), config.get("seed"), train.get("epochs")
    return {
        "model": str(model.get("name") or ""),
        "data": Path(str(path)).name if path else str(data.get("name") or ""),
        "seed": seed if type(seed) is int else 0,
        "epochs": epochs if type(epochs) is int else None,
    }


def _section(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = config.get(name)
    return section if isinstance(section, Mapping) else {}


def _told_by_results(results: Mapping[str, Any]) -> dict[str, Any]:
    name = headline_of(results) if results else ""
    if not name:
        return {}
    baseline = results["baseline"].get(name)
    return {
        "metric": name,
        "value": results["metrics"][name],
        "baseline": baseline if is_finite_number(baseline) else None,
        "better": METRICS[name].better if name in METRICS else "lower",
    }


def headline_of(results: Mapping[str, Any]) -> str:
    """The metric that stands for a run: the first that the trivial guess has too, else the loss."""
    metrics, baseline = results["metrics"], results["baseline"]
    if "perplexity" in metrics:  # of a text the likeliest token alone says little
        return "perplexity"
    both = (name for name in metrics if name in baseline and name in METRICS)
    return next(both, "loss" if "loss" in metrics else "")
