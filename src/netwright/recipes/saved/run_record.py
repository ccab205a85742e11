"""What a run is made of: all that views and reports are worked out from."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import nn

from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import DataSpec
from netwright.train.tasks.task import Task
from netwright.train.watching.history import History
from netwright.train.watching.layer_history import LayerHistory


@dataclass(kw_only=True, eq=False, repr=False)
class RunRecord:
    """A trained model with everything that was noted about it.

    Args:
        model: the trained module, with its best weights.
        spec: kinds, shapes and names of its data.
        task: what it was trained for.
        preprocessor: encodes new inputs.
        results: status, test metrics, baseline, times.
        history: all that was measured.
        config: the resolved recipe, as in `config.yaml`.
        folder: where it lies, or None for a run kept in memory.
        layer_history: what its layers did at the steps that the doctor watched.
    """

    model: nn.Module
    spec: DataSpec
    task: Task
    preprocessor: Preprocessor
    results: dict[str, Any]
    history: History
    config: dict[str, Any]
    folder: Path | None
    layer_history: LayerHistory = field(default_factory=LayerHistory)
