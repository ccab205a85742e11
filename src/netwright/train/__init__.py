"""Training: state, events, step, loop, evaluation, checkpoints. It never imports a model."""

from netwright.train.callback import Callback
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer
from netwright.train.watching.history import History

__all__ = [
    "Callback",
    "History",
    "TrainConfig",
    "TrainState",
    "Trainer",
    "task_for",
]
