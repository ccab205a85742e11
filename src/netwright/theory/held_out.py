"""Train a named model, and test it on examples that it has not seen.

Claims about training run the library's own models through its own loop.

Source: the digits are those of Alpaydin and Kaynak (1998), which come with scikit-learn.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from torch import nn

from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.theory.trained_measures import build_named, trained_measures

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
    module = build_named(model, data, seed=seed, **(settings or {}))
    return train_and_test(module, data, seed=seed, train=train)


def train_and_test(
    module: nn.Module, data: Data, *, seed: int, train: Mapping[str, Any] | None = None
) -> HeldOut:
    """Let a module learn, from the weights that it has, and test it after the last step."""
    found = trained_measures(module, data, seed=seed, train=train)
    return HeldOut(found["loss"], 1 - found["accuracy"])
