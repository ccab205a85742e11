"""Stop when the time is up."""

from netwright.train.callback import Callback
from netwright.train.state import TrainState


class TimeLimit(Callback):
    """Ends training after the step in which the time ran out.

    Args:
        seconds: of training, earlier parts of the run included.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def on_step_end(self, state: TrainState) -> None:
        """Look at the clock."""
        if state.elapsed >= self.seconds:
            state.stop_reason = f"the time limit of {self.seconds:g} s"
