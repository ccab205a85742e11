"""What a module measures on the test split after training, by the library's own loop.

Of any target; `held_out` tells of classes alone.
"""

from collections.abc import Mapping
from typing import Any

from torch import nn

from netwright.core.config import parse
from netwright.core.learner import Learner
from netwright.core.seeding import derive_seed, seeded
from netwright.data.dataset import Data
from netwright.models.catalog import MODELS
from netwright.models.model import Model
from netwright.train.callbacks.step_limit import StepLimit
from netwright.train.evaluate import measure_quickly
from netwright.train.settings import TrainConfig
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer


def build_named(name: str, data: Data, *, seed: int, **settings: Any) -> Model:
    """A model of the catalog, its first weights drawn from the seed."""
    kind = MODELS.load(name)
    with seeded(derive_seed(seed, "weights")):
        return kind.build(parse(kind.settings, settings), data.spec)


def trained_measures(
    module: nn.Module, data: Data, *, seed: int, train: Mapping[str, Any] | None = None
) -> dict[str, float]:
    """Let a module learn, from the weights that it has, and measure it after the last step."""
    config = TrainConfig(device="cpu", **(train or {}))
    task = task_for(data, config)
    if isinstance(module, Learner):
        for _ in module.fit_steps(data.train, seed):
            pass
    else:
        limits = [] if config.max_steps is None else [StepLimit(config.max_steps)]
        trainer = Trainer(config, task, callbacks=limits, seed=seed)
        trainer.fit(trainer.start(module, data), data)
    return dict(measure_quickly(module, data.split("test"), task))
