"""Show how training goes: a live bar on a terminal, a line an epoch."""

from netwright.core.console import Bar
from netwright.train.callback import Callback
from netwright.train.state import TrainState


class Progress(Callback):
    """Prints to standard error; with `quiet` nothing.

    Args:
        quiet: show nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.bar: Bar | None = None

    def on_fit_start(self, state: TrainState) -> None:
        """Open the bar."""
        self.bar = Bar(state.epochs * state.steps_per_epoch, quiet=self.quiet)

    def on_step_end(self, state: TrainState) -> None:
        """Move the bar, a few times a second."""
        # Asked first: reading the loss makes an accelerator wait.
        if self.bar is not None and self.bar.is_due:
            text = f"epoch {state.epoch + 1}/{state.epochs}  loss {float(state.loss):.4f}"
            self.bar.move(state.step, text)

    def on_epoch_end(self, state: TrainState) -> None:
        """One line with train and validation side by side."""
        if self.bar is None:
            return
        names = dict.fromkeys(key.partition("/")[2] for key in state.history.keys())
        parts = [f"epoch {state.epoch:>3}/{state.epochs}"]
        for name in names:
            pair = [
                f"{split} {state.history.latest(f'{split}/{name}'):.4f}"
                for split in ("train", "val")
                if f"{split}/{name}" in state.history.keys()
            ]
            parts.append(f"{name}: {', '.join(pair)}")
        parts.append(f"{state.elapsed:.1f}s")
        self.bar.line("  ".join(parts))

    def on_abort(self, state: TrainState) -> None:
        """Take the bar away before the error is shown."""
        if self.bar is not None:
            self.bar.close()

    def on_fit_end(self, state: TrainState) -> None:
        """Take the bar away and say why training ended early, if it did."""
        if self.bar is not None:
            self.bar.close()
            if state.stop_reason:
                self.bar.line(f"stopped after {state.step} steps: {state.stop_reason}")
