"""Tell a trial how it goes after every epoch, and stop it where it goes badly."""

from typing import TYPE_CHECKING

from netwright.train.callback import Callback
from netwright.train.state import TrainState

if TYPE_CHECKING:
    from optuna.trial import Trial


class PruneTrial(Callback):
    """Reports a measure to the study, whose pruner may end the training.

    Args:
        trial: what is reported to.
        metric: "val/loss" or the task's own, which are measured after every epoch.
    """

    def __init__(self, trial: "Trial", metric: str) -> None:
        self.trial, self.metric = trial, metric
        self.is_pruned = False

    def on_epoch_end(self, state: TrainState) -> None:
        """Report the newest value; ask whether it is worth going on."""
        self.trial.report(state.history.latest(self.metric), state.epoch)
        if state.epoch < state.epochs and self.trial.should_prune():
            self.is_pruned = True
            state.stop_reason = "pruned: other trials do better"
