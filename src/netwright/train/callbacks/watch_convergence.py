"""Watch the gradient of a convex loss: stop where nothing is left of it, or say what is left."""

from netwright.data.dataset import Split
from netwright.train.callback import Callback
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.watching.convergence import CONVERGED, gradient_left


class WatchConvergence(Callback):
    """Looks at the gradient over all rows; what it sees follows from the weights alone.

    Args:
        train: all rows.
        config: of the penalty, which is a part of the loss.
        stops: look after every epoch, and stop at the optimum; else only after the last one.
    """

    left: float | None = None  # of the gradient, after a run that went through all its epochs

    def __init__(self, train: Split, config: TrainConfig, *, stops: bool) -> None:
        self.train, self.config, self.stops = train, config, stops

    def on_fit_start(self, state: TrainState) -> None:
        """Stay stopped where a checkpoint was written at the optimum."""
        if state.epoch and not state.position:
            self.on_epoch_end(state)

    def on_epoch_end(self, state: TrainState) -> None:
        """Stop where it has converged."""
        if self.stops and self._look(state) <= CONVERGED:
            state.stop_reason = "converged"

    def on_fit_end(self, state: TrainState) -> None:
        """Look at the last weights, before the best ones are put back."""
        if not state.stop_reason and not state.engine.shards:  # its gradient is all ranks'
            self.left = self._look(state)

    def _look(self, state: TrainState) -> float:
        return gradient_left(state.model, state.task, self.train, self.config)
