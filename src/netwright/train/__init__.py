"""Training: state, events, step, loop, evaluation, checkpoints. It never imports a model."""

from netwright.train.callback import Callback as Callback
from netwright.train.history import History as History
from netwright.train.settings import TrainConfig as TrainConfig
from netwright.train.state import TrainState as TrainState
from netwright.train.trainer import Trainer as Trainer
