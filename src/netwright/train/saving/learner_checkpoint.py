"""Checkpoints of a model with a learning rule of its own: its weights, and how far it got.

step-000100/model.safetensors   the weights
step-000100/state.json          steps made, seconds, history, and the conditions of the run
step-000100/manifest.json       the sha256 of both
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from safetensors.torch import load
from torch import nn

from netwright.core.errors import ConfigError, DataError
from netwright.core.files.json_text import parse_json
from netwright.core.files.manifest import read_folder
from netwright.core.files.storage import Content, new_folder
from netwright.core.files.tensor_content import TensorContent
from netwright.train.saving.checkpoint import run_around
from netwright.train.saving.conditions import SURROUNDINGS, find_changes
from netwright.train.watching.history import Row, read_row

FORMAT = 1
FILES = ("model.safetensors", "state.json")


class Progress(NamedTuple):
    """How far a rule got.

    Args:
        steps: that were made.
        elapsed: seconds that they took.
        rows: of the history.
    """

    steps: int
    elapsed: float
    rows: list[Row]


def save_learner(
    folder: Path, model: nn.Module, progress: Progress, conditions: Mapping[str, Any]
) -> None:
    """Write a new checkpoint, whole or not at all."""
    values = {
        "format": FORMAT,
        "step": progress.steps,
        "elapsed": progress.elapsed,
        "history": [vars(row) for row in progress.rows],
        "conditions": dict(conditions),
    }
    files: dict[str, Content] = {
        "model.safetensors": TensorContent(model.state_dict()),
        "state.json": json.dumps(values, allow_nan=False).encode(),
    }
    needs = sum(map(len, files.values()))
    with new_folder(folder, needs=needs, inside=run_around(folder)) as staging:
        for name, content in files.items():
            staging.write(name, content)


def load_learner(folder: Path, model: nn.Module, conditions: Mapping[str, Any]) -> Progress:
    """Put the weights back into the model; other conditions and what is damaged are refused."""
    files = read_folder(folder, inside=run_around(folder))
    for name in FILES:
        if name not in files:
            raise DataError(f"{folder} lacks {name!r}: the checkpoint is incomplete")
    values = parse_json(files["state.json"], folder / "state.json")
    try:
        before, steps, elapsed = values["conditions"], values["step"], float(values["elapsed"])
        rows = [read_row(row) for row in values["history"]]
        if values["format"] != FORMAT or type(steps) is not int or not isinstance(before, dict):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise DataError(f"{folder}: state.json is not that of a checkpoint of format 1") from None
    changes = find_changes(before, json.loads(json.dumps(dict(conditions))))
    decisive = [text for name, text in changes.items() if name not in SURROUNDINGS]
    if decisive:
        raise ConfigError(f"{folder} cannot be resumed exactly: {'; '.join(decisive)}")
    try:
        model.load_state_dict(load(files["model.safetensors"]))
    except RuntimeError as error:
        raise DataError(f"{folder} does not fit the model: {str(error).split()[0]}") from None
    return Progress(steps, elapsed, rows)
