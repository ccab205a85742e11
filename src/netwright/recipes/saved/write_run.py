"""A run that was trained in memory, written as the folder that it would have left.

It holds all that `open_run` reads, and neither checkpoints nor rows of single steps: those are
written on the way or not at all.
"""

import shutil
from pathlib import Path
from typing import Any

from torch import nn

from netwright.core.devices import device_of
from netwright.core.files.storage import write_json, write_text
from netwright.data.dataset import Data
from netwright.recipes.plan.recipe_file import to_yaml
from netwright.recipes.saved.environment import describe_environment
from netwright.recipes.saved.run_folder import create_run_folder, save_model
from netwright.train.tasks.task import Task
from netwright.train.watching.history import History, write_rows
from netwright.train.watching.layer_history import FILE as LAYER_FILE
from netwright.train.watching.layer_history import LayerHistory


def write_run(
    folder: Path,
    *,
    model: nn.Module,
    config: dict[str, Any],
    data: Data,
    task: Task,
    history: History,
    layer_history: LayerHistory,
    results: dict[str, Any],
) -> None:
    """Write the files of a run into a new or empty folder; a failure leaves nothing behind."""
    was_there = folder.exists()
    create_run_folder(folder, config["model"]["name"], data.name)
    try:
        write_text(folder / "config.yaml", to_yaml(config))
        write_json(folder / "env.json", describe_environment(device_of(model)))
        write_rows(folder / "metrics.jsonl", history.rows)
        if layer_history.layers:
            write_text(folder / LAYER_FILE, layer_history.to_text())
        save_model(folder, model, config["model"], data, task)
        write_json(folder / "results.json", results)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        if was_there:
            folder.mkdir()
        raise
