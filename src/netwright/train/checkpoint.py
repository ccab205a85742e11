"""A run's whole state as files: safetensors for tensors, JSON for the rest, sha256 for both.

step-000100/model.safetensors   the weights
step-000100/state.safetensors   optimizer, scaler, generators, best weights: their tensors
step-000100/state.json          the same trees, each tensor a reference; counters
step-000100/manifest.json       the sha256 of the three
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.seeding import random_state
from netwright.core.storage import check_folder, new_folder, read_json
from netwright.train.callback import Callback
from netwright.train.state import TrainState

REFERENCE = "$tensor"
COUNTERS = ("epoch", "position", "step", "samples", "seen")


def save_checkpoint(folder: Path, state: TrainState, callbacks: Sequence[Callback] = ()) -> None:
    """Write the state to a new folder, whole or not at all."""
    tensors: dict[str, Tensor] = {}
    parts = {
        "optimizer": state.optimizer.state_dict(),
        "schedule": state.schedule.state_dict(),
        "scaler": None if state.scaler is None else state.scaler.state_dict(),
        "sums": {"loss": state.loss_sum, "headline": state.headline_sum},
        "random": random_state(),
        "callbacks": {type(call).__name__: call.state_dict() for call in callbacks},
    }
    values = {
        "format": 1,
        **{name: getattr(state, name) for name in COUNTERS},
        "elapsed": state.elapsed,
        "history_rows": len(state.history),
        **{name: pack(part, name, tensors) for name, part in parts.items()},
    }
    with new_folder(folder) as staging:
        save_file(_plain(state.model.state_dict()), staging / "model.safetensors")
        save_file(_plain(tensors), staging / "state.safetensors")
        (staging / "state.json").write_text(json.dumps(values, allow_nan=False), encoding="utf-8")


def load_checkpoint(
    folder: Path, state: TrainState, callbacks: Sequence[Callback] = ()
) -> dict[str, Any]:
    """Put a freshly started state back to where the checkpoint was written.

    A damaged folder and a missing piece are refused by name. The history is the caller's to read.

    Returns:
        The generators' states, for `Trainer.fit`.
    """
    check_folder(folder)
    values = read_json(folder / "state.json")
    tensors = load_file(folder / "state.safetensors")
    parts = ("optimizer", "schedule", "scaler", "sums", "random", "callbacks")
    for name in (*parts, *COUNTERS, "elapsed", "history_rows"):
        if name not in values:
            raise DataError(f"{folder} lacks {name!r}: it cannot be resumed exactly")
    trees = {name: unpack(values[name], tensors) for name in parts}
    state.model.load_state_dict(load_file(folder / "model.safetensors"))
    state.optimizer.load_state_dict(trees["optimizer"])
    state.schedule.load_state_dict(trees["schedule"])
    if state.scaler is not None:
        state.scaler.load_state_dict(trees["scaler"])
    state.loss_sum.copy_(trees["sums"]["loss"])
    state.headline_sum.copy_(trees["sums"]["headline"])
    for call in callbacks:
        name = type(call).__name__
        if name not in trees["callbacks"]:
            raise DataError(f"{folder} lacks the state of {name}: it cannot be resumed exactly")
        call.load_state_dict(trees["callbacks"][name])
    for name in COUNTERS:
        setattr(state, name, values[name])
    state.elapsed_before = values["elapsed"]
    random: dict[str, Any] = trees["random"]
    return random


def pack(tree: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    """A tree as plain JSON; its tensors go into `tensors` and leave a reference."""
    if isinstance(tree, Tensor):
        tensors[path] = tree
        return {REFERENCE: path}
    if isinstance(tree, dict):
        # Keys keep their kind ("0" and 0 differ in an optimizer's state): pairs, not an object.
        return {
            "$pairs": [[key, pack(value, f"{path}/{key}", tensors)] for key, value in tree.items()]
        }
    if isinstance(tree, list | tuple):
        kind = "$list" if isinstance(tree, list) else "$tuple"
        return {kind: [pack(value, f"{path}/{index}", tensors) for index, value in enumerate(tree)]}
    if tree is None or isinstance(tree, bool | int | float | str):
        return tree
    raise DataError(f"{path} cannot be saved: a {type(tree).__name__} is no plain value")


def unpack(tree: Any, tensors: dict[str, Tensor]) -> Any:
    """The tree that `pack` took apart."""
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind == REFERENCE:
        if content not in tensors:
            raise DataError(f"the tensor {content!r} is missing")
        return tensors[content]
    if kind == "$pairs":
        return {key: unpack(value, tensors) for key, value in content}
    items = [unpack(value, tensors) for value in content]
    return items if kind == "$list" else tuple(items)


def _plain(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Contiguous CPU copies that share no memory, as safetensors wants them."""
    return {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
