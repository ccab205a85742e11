"""Train a named model, and test it on examples that it has not seen.

Claims about training run the library's own models through its own loop.

Source: the digits are those of Alpaydin and Kaynak (1998), which come with scikit-learn.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from torch import nn

from netwright.core.config import parse
from netwright.core.learner import Learner
from netwright.core.seeding import derive_seed, seeded
from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.models.catalog import MODELS
from netwright.train.callbacks.step_limit import StepLimit
from netwright.train.evaluate import measure_quickly
from netwright.train.settings import TrainConfig
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer

DIGITS = 1797


class HeldOut(NamedTuple):
    """The mean cross-entropy on the test split, and the share of its examples that is wrong."""

    loss: float
    error: float

    @property
    def percent_right(self) -> float:
        """The accuracy."""
        return 100 * (1 - self.error)


@lru_cache(maxsize=8)
def digits(count: int, seed: int) -> Data:
    """So many handwritten digits to learn from; the others are for the test."""
    return load("digits", val_size=0, test_size=1 - count / DIGITS, split_seed=seed)


def held_out(
    model: str,
    data: Data,
    *,
    seed: int,
    settings: Mapping[str, Any] | None = None,
    train: Mapping[str, Any] | None = None,
) -> HeldOut:
    """Train a model from scratch, and test it after the last step.

    Args:
        model: its name in the catalog; one with a rule of its own learns by that.
        data: with a test split.
        seed: of the first weights, the order of examples and dropout.
        settings: of the model.
        train: of the training.
    """
    kind = MODELS.load(model)
    with seeded(derive_seed(seed, "weights")):
        module = kind.build(parse(kind.settings, settings or {}), data.spec)
    return train_and_test(module, data, seed=seed, train=train)


def train_and_test(
    module: nn.Module, data: Data, *, seed: int, train: Mapping[str, Any] | None = None
) -> HeldOut:
    """Let a module learn, from the weights that it has, and test it after the last step."""
    config = TrainConfig(device="cpu", **(train or {}))
    task = task_for(data, config)
    if isinstance(module, Learner):
        for _ in module.fit_steps(data.train, seed):
            pass
    else:
        limits = [] if config.max_steps is None else [StepLimit(config.max_steps)]
        trainer = Trainer(config, task, callbacks=limits, seed=seed)
        trainer.fit(trainer.start(module, data), data)
    found = measure_quickly(module, data.split("test"), task)
    return HeldOut(found["loss"], 1 - found["accuracy"])
