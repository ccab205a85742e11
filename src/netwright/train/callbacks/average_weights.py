"""Every update's weights enter their average."""

from netwright.optimizers.held_tensors import HeldTensors
from netwright.train.callback import Callback
from netwright.train.state import TrainState

MOST_HELD = 2**24  # numbers of an average that are held twice, so that no update is waited for


class AverageWeights(Callback):
    """Lets the run's average see the weights after each update; the trainer puts it to use.

    Where the device leaves bad updates out by a number of its own, that number undoes what they did
    to the average, too; for a large one the device is waited for instead.
    """

    def __init__(self) -> None:
        self.held: HeldTensors | None = None

    def on_epoch_start(self, state: TrainState) -> None:
        """Hold the average as it is: it may have been restored."""
        means = [] if state.average is None else state.engine.own(state.average.mean.values())
        is_small = sum(mean.numel() for mean in means) <= MOST_HELD
        is_left_out = hasattr(state.optimizer, "found_inf")
        self.held = HeldTensors(means) if is_left_out and is_small else None

    def on_step_end(self, state: TrainState) -> None:
        """Take them in."""
        if state.average is None:
            return
        if self.held is None:
            state.confirm()
        state.average.add(state.step)
        if self.held is not None:
            self.held.settle(state.optimizer.found_inf)  # type: ignore[attr-defined]
