"""Truncated backpropagation through time: the state goes on from window to window, gradients not.

A text is longer than what gradients can be sent back through. It is read window by window; each
begins with the state that the one before left, so that the past is known, but not changed.

Source: Williams and Peng, "An Efficient Gradient-Based Algorithm for On-Line Training of Recurrent
Network Trajectories" (1990).
"""

from typing import Protocol, runtime_checkable

from torch import nn

from netwright.core.errors import ConfigError
from netwright.train.callback import Callback
from netwright.train.state import TrainState


@runtime_checkable
class CarriesState(Protocol):
    """A model that can begin a batch where the last one ended; its state is a buffer of it."""

    def carry_state(self, batch_size: int | None) -> None:
        """While training, batches of this many rows go on from each other; None: no longer."""

    def forget(self) -> None:
        """The next batch begins at the beginning."""


class CarryState(Callback):
    """Lets the model carry its state through an epoch, and forget it before the next.

    A run that goes on in the middle of an epoch has the state from its checkpoint.

    Args:
        model: what learns.
        batch_size: rows of a batch, the lanes of the text.
    """

    def __init__(self, model: nn.Module, batch_size: int) -> None:
        if not isinstance(model, CarriesState):
            raise ConfigError(
                f"carry_state is for recurrent models, {type(model).__name__} has no state to carry"
            )
        model.carry_state(batch_size)
        self.model = model

    def on_epoch_start(self, state: TrainState) -> None:
        """At the beginning of the text nothing is known."""
        if state.position == 0:
            self.model.forget()
