"""Stop after so many updates."""

from netwright.train.callback import Callback
from netwright.train.state import TrainState


class StepLimit(Callback):
    """Ends training when the updates are made, those of earlier parts of the run included.

    Args:
        steps: of the whole run.
    """

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def on_fit_start(self, state: TrainState) -> None:
        """A run that goes on may have made them all."""
        self.on_step_end(state)

    def on_step_end(self, state: TrainState) -> None:
        """Count."""
        if state.step >= self.steps:
            state.cut_short(f"the step limit of {self.steps}")
