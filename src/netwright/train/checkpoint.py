"""A run's whole state as files: safetensors for tensors, JSON for the rest, sha256 for both.

step-000100/model.safetensors   the weights
step-000100/state.safetensors   optimizer, scaler, generators, best weights: their tensors
step-000100/state.json          the same trees, each tensor a reference; counters, history
step-000100/manifest.json       the sha256 of the three
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from netwright.core.errors import DataError, RunError
from netwright.core.seeding import random_state
from netwright.core.storage import MANIFEST, check_folder, new_folder, read_json
from netwright.train.callback import Callback
from netwright.train.history import History, Row
from netwright.train.state import TrainState

FORMAT = 1
FILES = ("model.safetensors", "state.safetensors", "state.json")
COUNTERS = ("epoch", "position", "step", "samples")


def save_checkpoint(folder: Path, state: TrainState, callbacks: Sequence[Callback] = ()) -> None:
    """Write the state to a new folder, whole or not at all.

    Between a backward pass and its update there is no exact place to go on from: it is refused, as
    are weights that are not finite.
    """
    for name, parameter in state.model.named_parameters():
        if parameter.grad is not None:
            raise RunError(f"a checkpoint must wait for the update: {name!r} has a gradient left")
        if not bool(parameter.isfinite().all()):
            raise RunError(f"a checkpoint must hold finite weights: {name!r} are not")
    tensors: dict[str, Tensor] = {}
    whole = len(state.history) - state.unfinished_rows
    values = {
        "format": FORMAT,
        **{name: getattr(state, name) for name in COUNTERS},
        "elapsed": state.elapsed,
        "history": [asdict(row) for row in state.history.rows[:whole]],
        **{name: pack(part, name, tensors) for name, part in _parts(state, callbacks).items()},
    }
    with new_folder(folder) as staging:
        save_file(stored_tensors(state.model.state_dict()), staging / "model.safetensors")
        save_file(stored_tensors(tensors), staging / "state.safetensors")
        (staging / "state.json").write_text(json.dumps(values, allow_nan=False), encoding="utf-8")


def load_checkpoint(
    folder: Path, state: TrainState, callbacks: Sequence[Callback] = ()
) -> dict[str, Any]:
    """Put a freshly started state back to where the checkpoint was written.

    A damaged folder and a missing piece are refused by name.

    Returns:
        The generators' states, for `Trainer.fit`.
    """
    check_folder(folder)
    listed = read_json(folder / MANIFEST)["sha256"]
    values = read_json(folder / "state.json")
    fresh = _parts(state, callbacks)
    wanted = ("format", *COUNTERS, "elapsed", "history", *fresh)
    lacking = [*(f for f in FILES if f not in listed), *(n for n in wanted if n not in values)]
    if lacking:
        raise _lacks(folder, lacking[0])
    if values["format"] != FORMAT:
        raise DataError(f"{folder} has format {values['format']!r}, this version reads {FORMAT}")
    tensors = load_file(folder / "state.safetensors")
    parts = {name: unpack(values[name], tensors) for name in fresh}
    _check_whole(folder, parts, fresh)
    _check_nothing_left(folder, parts, fresh)
    _restore(folder, state, parts, callbacks)
    for name in COUNTERS:
        setattr(state, name, values[name])
    state.elapsed_before = values["elapsed"]
    state.history = History([Row(**row) for row in values["history"]])
    random: dict[str, Any] = parts["random"]
    return random


def _parts(state: TrainState, callbacks: Sequence[Callback]) -> dict[str, Any]:
    """Everything beside weights and counters, as trees of tensors and plain values."""
    return {
        "optimizer": state.optimizer.state_dict(),
        "schedule": state.schedule.state_dict(),
        "scaler": None if state.scaler is None else state.scaler.state_dict(),
        "running": state.running.state_dict(),
        "random": random_state(),
        "callbacks": {name: call.state_dict() for name, call in _by_name(callbacks).items()},
    }


def _restore(
    folder: Path, state: TrainState, parts: dict[str, Any], callbacks: Sequence[Callback]
) -> None:
    weights = load_file(folder / "model.safetensors")
    lacking = [name for name in state.model.state_dict() if name not in weights]
    if lacking:  # torch lets a batch norm without its counter pass
        raise DataError(f"{folder} does not fit the model: it has no {lacking[0]!r}")
    try:
        state.model.load_state_dict(weights)
        state.optimizer.load_state_dict(parts["optimizer"])
    except (RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{folder} does not fit the model: {reason:.200}") from None
    state.schedule.load_state_dict(parts["schedule"])
    if state.scaler is not None:
        state.scaler.load_state_dict(parts["scaler"])
    state.running.load_state_dict(parts["running"])
    for name, call in _by_name(callbacks).items():
        call.load_state_dict(parts["callbacks"][name])


def _by_name(callbacks: Sequence[Callback]) -> dict[str, Callback]:
    """Callbacks by their class's name; the second of a class is "EarlyStopping 2"."""
    named: dict[str, Callback] = {}
    for call in callbacks:
        kind = type(call).__name__
        before = sum(type(other).__name__ == kind for other in named.values())
        named[f"{kind} {before + 1}" if before else kind] = call
    return named


def _check_whole(folder: Path, saved: Any, fresh: Any, path: str = "") -> None:
    """Refuse saved trees that lack a key which the freshly started state has."""
    if isinstance(fresh, dict):
        for key, value in fresh.items():
            here = f"{path}/{key}" if path else str(key)
            if not isinstance(saved, dict) or key not in saved:
                raise _lacks(folder, here)
            _check_whole(folder, saved[key], value, here)
    elif isinstance(fresh, list):
        for index, (old, new) in enumerate(zip(saved, fresh, strict=False)):
            _check_whole(folder, old, new, f"{path}/{index}")


def _check_nothing_left(folder: Path, saved: dict[str, Any], fresh: dict[str, Any]) -> None:
    """Refuse to drop a state that has nowhere to go."""
    if saved["scaler"] is not None and fresh["scaler"] is None:
        raise DataError(f"{folder} was written with precision 'fp16-mixed', go on with the same")
    for name in saved["callbacks"]:
        if name not in fresh["callbacks"]:
            raise DataError(f"{folder} holds the state of {name}, which is not among the callbacks")


def _lacks(folder: Path, name: str) -> DataError:
    return DataError(f"{folder} lacks {name!r}: it cannot be resumed exactly")


def pack(tree: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    """A tree as plain JSON; its tensors go into `tensors` and leave a reference."""
    if isinstance(tree, Tensor):
        while path in tensors:  # "a/b" may be one key or two
            path += "'"
        tensors[path] = tree
        return {"$tensor": path}
    if isinstance(tree, dict):
        # Keys keep their kind ("0" and 0 differ in an optimizer's state): pairs, not an object.
        return {
            "$pairs": [
                [_plain_key(key, path), pack(value, f"{path}/{key}", tensors)]
                for key, value in tree.items()
            ]
        }
    if isinstance(tree, list | tuple):
        kind = "$list" if isinstance(tree, list) else "$tuple"
        return {kind: [pack(value, f"{path}/{index}", tensors) for index, value in enumerate(tree)]}
    if isinstance(tree, float) and not math.isfinite(tree):
        return {"$float": str(tree)}  # JSON has no infinity
    if tree is None or isinstance(tree, bool | int | float | str):
        return tree
    raise DataError(f"{path} cannot be saved: a {type(tree).__name__} is no plain value")


def unpack(tree: Any, tensors: dict[str, Tensor]) -> Any:
    """The tree that `pack` took apart."""
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind == "$tensor":
        if content not in tensors:
            raise DataError(f"the tensor {content!r} is missing")
        return tensors[content]
    if kind == "$pairs":
        return {key: unpack(value, tensors) for key, value in content}
    if kind == "$float":
        return float(content)
    items = [unpack(value, tensors) for value in content]
    return items if kind == "$list" else tuple(items)


def _plain_key(key: Any, path: str) -> int | str:
    if isinstance(key, int | str):
        return key
    raise DataError(f"{path} cannot be saved: its key {key!r} is neither text nor a whole number")


def stored_tensors(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Contiguous CPU copies that share no memory, as safetensors wants them."""
    return {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
