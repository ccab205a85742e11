"""Stop when the time is up."""

from netwright.train.callback import Callback
from netwright.train.state import TrainState


class TimeLimit(Callback):
    """Ends training after the batch in which the time ran out.

    Args:
        seconds: of training, earlier parts of the run included.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def on_batch_end(self, state: TrainState) -> None:
        """Look at the clock."""
        if state.elapsed >= self.seconds:
            state.cut_short(f"the time limit of {self.seconds:g} s")
