"""Truncated backpropagation through time: the state goes on from window to window, gradients not.

A text is longer than what gradients can be sent back through. It is read window by window; each
begins with the state that the one before left, so that the past is known, but not changed.

Source: Williams and Peng, "An Efficient Gradient-Based Algorithm for On-Line Training of Recurrent
Network Trajectories" (1990).
"""

from torch import nn

from netwright.core.adapted_module import module_name
from netwright.core.errors import ConfigError
from netwright.train.callback import Callback
from netwright.train.carried_state import CarriesState
from netwright.train.state import TrainState


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
                f"carry_state is for recurrent models, {module_name(model)} has no state to carry"
            )
        self.model, self.batch_size = model, batch_size

    def on_fit_start(self, state: TrainState) -> None:
        """From here on batches go on from each other."""
        self.model.carry_state(self.batch_size)

    def on_epoch_start(self, state: TrainState) -> None:
        """At the beginning of the text nothing is known."""
        if state.position == 0:
            self.model.forget()

    def on_fit_end(self, state: TrainState) -> None:
        """Whoever trains the model next may read rows that do not follow each other."""
        self.model.carry_state(None)

    def on_abort(self, state: TrainState) -> None:
        """As at the end."""
        self.model.carry_state(None)
