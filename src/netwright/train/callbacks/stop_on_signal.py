"""Stop after the present step when the person or the machine asks for it."""

from netwright.core.terminal.interrupts import Interrupt
from netwright.train.callback import Callback
from netwright.train.state import TrainState


class StopOnSignal(Callback):
    """Turns Ctrl-C or SIGTERM into a reason to stop.

    Args:
        interrupt: the block that receives the signals.
    """

    def __init__(self, interrupt: Interrupt) -> None:
        self.interrupt = interrupt

    def on_batch_end(self, state: TrainState) -> None:
        """Look whether a signal came."""
        if self.interrupt.signal is not None:
            state.cut_short(f"interrupted by {self.interrupt.signal.name}")

    def on_epoch_end(self, state: TrainState) -> None:
        """It may have come while the model was measured."""
        self.on_batch_end(state)
