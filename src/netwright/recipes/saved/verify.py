"""Whether a folder is what it seems, without loading it: for one that came by mail, or lay long.

    found = nw.verify("runs/mlp-digits-001")
    print(found.kind, found.holds, found.faults)

Nothing in the folder is run, built or trusted; torch is not even imported. A run, a search, a
comparison, a checkpoint or a saved model is looked through file by file, and files are compared
with each other where they speak of the same.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from netwright.core.errors import ConfigError
from netwright.core.files.inside import Folder, open_folder
from netwright.core.files.tensor_file import StoredTensor
from netwright.recipes.saved.folder_check import FolderCheck
from netwright.recipes.saved.known_files import KINDS, Layout
from netwright.recipes.saved.verification import Verification

# Settings of models that are sizes of their weights, or divide them.
WIDTHS = ("hidden", "width", "channels", "units")
LONGEST = 100  # characters of a name that are told
TENSORS, SETTINGS = "model.safetensors", "config.json"


def verify(path: str | Path) -> Verification:
    """Look through a folder of ours.

    Args:
        path: a run, a search, a comparison, a checkpoint or a saved model; a link to one will do.
    """
    path = Path(path)
    try:
        with open_folder(path) as folder:
            kind, layout = _kind(folder)
            check = FolderCheck(folder, layout)
    except OSError as error:
        raise ConfigError(f"{path} is not a folder that can be read: {error.strerror}") from None
    return Verification(
        folder=path,
        kind=kind,
        about=_about(check, kind),
        files=tuple(check.files),
        tensors=check.tensors,
        misfits=tuple(_misfits(check, path.resolve().name)),
    )


def _kind(folder: Folder) -> tuple[str, Layout]:
    """What a folder is, by the file that only such a one has."""
    names = set(folder.names())
    for kind, mark, layout in KINDS:
        if mark in names:
            return kind, layout
    marks = ", ".join(f"{mark} of a {kind}" for kind, mark, _ in KINDS)
    raise ConfigError(
        f"{folder.path} is not a folder that netwright writes: it has none of {marks}"
    )


def _about(check: FolderCheck, kind: str) -> dict[str, str]:
    """What its files say of it, in a few words each; none of it is trusted further."""
    values = check.values
    plan: Any = next((values[name] for name in ("search.yaml", "race.yaml") if name in values), {})
    recipe = _get(values, "config.yaml") or _get(plan, "recipe") or {}
    models = _get(plan, "models")
    saved = values.get("model/config.json", values.get(SETTINGS))
    packages = _get(values, "env.json", "packages")
    steps = sorted({step for step in map(_step_of, check.tensors) if step is not None})
    mark = next((mark for name, mark, _ in KINDS if name == kind), "")
    told = {
        "model": not models and (_get(recipe, "model", "name") or _get(saved, "name")),
        "models": ", ".join(map(str, models)) if isinstance(models, list) else "",
        "data": _get(recipe, "data", "name") or _get(recipe, "data", "path") or _get(saved, "data"),
        "status": _get(values, "results.json", "status") or (kind == "run" and "not finished"),
        "trained by": packages
        and f"netwright {_get(packages, 'netwright')}, torch "
        f"{_get(packages, 'torch')}, on {_get(values, 'env.json', 'device')}",
        "written": _date(check.times.get("results.json", check.times.get(mark))),
        "epochs": _get(recipe, "train", "epochs"),
        "checkpoints": steps and f"{len(steps)}, of steps {', '.join(map(str, steps[:20]))}",
        "members": sum(name.startswith("members/") for name in check.tensors),
        "trials": _count(_get(values, "trials.json", "trials")),
        "weights": _weights(check.tensors),
    }
    return {name: f"{text!s:.{LONGEST}}" for name, text in told.items() if text}


def _weights(tensors: Mapping[str, tuple[StoredTensor, ...]]) -> str:
    """How much the saved model holds."""
    saved = tensors.get(f"model/{TENSORS}", tensors.get(TENSORS))
    if saved is None:
        return ""
    types = ", ".join(sorted({tensor.dtype for tensor in saved}))
    return f"{len(saved)} tensors, {sum(tensor.size for tensor in saved):,} bytes ({types})"


def _misfits(check: FolderCheck, own_name: str) -> Iterator[str]:
    """What is wrong between files that are whole by themselves."""
    values, tensors = check.values, check.tensors
    for place in ("model/", ""):
        saved, weights = values.get(f"{place}{SETTINGS}"), tensors.get(f"{place}{TENSORS}")
        if saved is not None and weights is not None:
            yield from _not_in_weights(f"{place}{SETTINGS}", saved, weights)
    yield from _other_settings(
        _get(values, "config.yaml", "model"), values.get("model/config.json")
    )
    shapes = {
        name: _shapes(held) | _divided(values.get(f"{name.removesuffix(TENSORS)}state.json"))
        for name, held in tensors.items()
        if name.rpartition("/")[2] == TENSORS
    }
    for name, held in shapes.items():
        if held != shapes.get(f"model/{TENSORS}", held):
            yield f"{name} and model/{TENSORS} contain tensors of different names or shapes"
    if _get(values, "results.json", "finished") is True and f"model/{TENSORS}" not in tensors:
        yield "results.json belongs to a finished run, but there is no complete model"
    yield from _misplaced(check, own_name)


def _misplaced(check: FolderCheck, own_name: str) -> Iterator[str]:
    """Checkpoints under other names than theirs, and pointers to where none is."""
    for name, state in check.values.items():
        if name.endswith("state.json"):
            said, folder = _get(state, "step"), name.rpartition("/")[0] or own_name
            if said != _step_of(f"{folder}/"):
                yield f"{name} is the state of step {said!r:.{LONGEST}}, its folder is {folder}"
    for name in ("best.json", "last.json"):
        there = _get(check.values, name, "checkpoint")
        if name in check.values and f"checkpoints/{there}/{TENSORS}" not in check.tensors:
            yield f"{name} points to {there!r:.{LONGEST}}, where there is no complete checkpoint"


def _not_in_weights(name: str, saved: Any, weights: tuple[StoredTensor, ...]) -> Iterator[str]:
    """Sizes in a model's settings that no tensor has."""
    sizes = {size for tensor in weights for size in tensor.shape if size}
    for setting in WIDTHS:
        given = _get(saved, "settings", setting)
        for width in given if isinstance(given, list) else [given]:
            if type(width) is int and width > 0 and not any(size % width == 0 for size in sizes):
                yield (
                    f"{name} has {setting} {width}, which does not match the shapes of its weights"
                )
    words = _get(saved, "spec", "vocab_size")
    if type(words) is int and words > 0 and words not in sizes:
        yield f"{name} has vocab_size {words}, which does not match the shapes of its weights"


def _other_settings(recipe: Any, saved: Any) -> Iterator[str]:
    """Settings of the model that the recipe and the saved model give differently."""
    if not isinstance(recipe, dict) or not isinstance(_get(saved, "settings"), dict):
        return
    described = {"name": _get(saved, "name"), **saved["settings"]}
    for name in sorted({*recipe, *described}):
        if recipe.get(name) != described.get(name):
            yield f"config.yaml and model/{SETTINGS} disagree on the model's {name!r:.{LONGEST}}"


def _shapes(tensors: tuple[StoredTensor, ...]) -> dict[str, tuple[int, ...]]:
    return {tensor.name: tensor.shape for tensor in tensors}


def _divided(state: Any) -> dict[str, tuple[int, ...]]:
    """The weights of a checkpoint of which each rank wrote some rows, by its state.json."""
    pairs = _get(state, "model", "$pairs")
    found: dict[str, tuple[int, ...]] = {}
    for pair in pairs if isinstance(pairs, list) else ():
        match pair:
            case [str(name), {"shape": list(shape)}]:
                found[name] = tuple(shape)
    return found


def _step_of(name: str) -> int | None:
    """The step of the checkpoint in whose folder a file is."""
    found = re.search(r"(?:^|/)step-(\d{6,18})(?:-\d+)?/", name)
    return int(found[1]) if found else None


def _get(value: Any, *keys: str) -> Any:
    """A value inside mappings; None where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _count(value: Any) -> int:
    """How many there are in a list; 0 where it is none."""
    return len(value) if isinstance(value, list) else 0


def _date(seconds: float | None) -> str:
    """When a file was written, by the file system; "" where that is no time."""
    try:
        return (
            "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
        )
    except (OverflowError, ValueError, OSError):
        return ""
