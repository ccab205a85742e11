"""Models that learn by a rule of their own: closed forms, mistake-driven, Hebbian and so on."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Protocol

from torch import Tensor


class Examples(Protocol):
    """What a learner sees of the training data."""

    @property
    def inputs(self) -> Tensor:
        """Inputs, (N, ...)."""

    @property
    def targets(self) -> Tensor:
        """Targets, (N,) or (N, K)."""

    @property
    def weights(self) -> Tensor | None:
        """Sample weights (N,), or None where all count the same."""


class Learner(ABC):
    """A model with its own way to learn; mixed into an `nn.Module`.

    The driver pulls from `fit_steps` until it ends, or until it is told to stop: each item is one
    step of the rule, with the numbers worth keeping ({"loss": 0.2}). Between items the model is
    always in a usable state.
    """

    @property
    def kept_step(self) -> int | None:
        """The step whose state the model keeps, from 1; None for the last one."""
        return None

    @property
    def verdict(self) -> str:
        """What learning found out about the data, in a few words; empty where it says nothing."""
        return ""

    def forewarning(self, rows: int) -> str:
        """What to know before it learns from so many rows; empty where it takes no minutes."""
        return ""

    @abstractmethod
    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """Learn from the data, one step an item."""


class SteppedLearner(Learner):
    """A learner that goes on exactly: its next step follows from its weights and their number.

    Chance of a step is a pure function of the seed and the step, so that a run which was killed
    goes on from the weights that were saved and the number of steps that had been made.
    """

    @abstractmethod
    def steps_per_epoch(self, data: Examples) -> int:
        """Steps of a pass over the data."""

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        """Learn from the beginning."""
        return self.fit_steps_from(data, seed, 0)

    @abstractmethod
    def fit_steps_from(self, data: Examples, seed: int, made: int) -> Iterator[dict[str, float]]:
        """Learn on, after so many steps; see `fit_steps`."""
