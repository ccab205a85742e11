"""Every update's weights enter their average."""

from netwright.train.callback import Callback
from netwright.train.state import TrainState


class AverageWeights(Callback):
    """Lets the run's average see the weights after each update; the trainer puts it to use."""

    def on_step_end(self, state: TrainState) -> None:
        """Take them in."""
        if state.average is not None:
            state.confirm()  # a mean cannot be put back
            state.average.add(state.step)
