"""How fast training goes: examples or tokens a second, by the host's clock.

Nothing waits for the device. The host is at most a few updates ahead of it, which a second or an
epoch does not show.
"""

from netwright.train.state import TrainState
from netwright.train.tasks.per_token import PerToken


class Throughput:
    """Counts from a mark on; compiling and measuring take no part in it."""

    def __init__(self) -> None:
        self.marked, self.samples = 0.0, 0
        self.tokens: int | None = None  # of an example; 0 where examples are counted

    def mark(self, state: TrainState, samples: int | None = None) -> None:
        """Count from here on, or from the moment at which there were so many samples."""
        self.samples = state.samples if samples is None else samples
        self.marked = _training_seconds(state)

    def look(self, state: TrainState) -> None:
        """Note how many tokens an example has: between two batches nobody can tell."""
        self.tokens = tokens_of_example(state)

    def since(self, state: TrainState, samples: int | None = None) -> dict[str, float]:
        """The speed since the mark: `samples_per_second`, or `tokens_per_second` of texts.

        Args:
            state: the run, now.
            samples: that are known to be seen; None: all of the run's.
        """
        if state.batch is not None:
            self.look(state)
        seconds = max(_training_seconds(state) - self.marked, 1e-9)
        seen = state.samples if samples is None else samples
        amount = (seen - self.samples) * (self.tokens or 1)
        unit = "tokens" if self.tokens else "samples"
        return {f"{unit}_per_second": round(amount / seconds, 1)}


def tokens_of_example(state: TrainState) -> int:
    """The tokens of an example of the batch at hand; 0 where examples are what is counted."""
    if state.batch is None or not isinstance(state.task, PerToken):
        return 0
    tokens: int = state.batch.targets.shape[1:].numel()
    return tokens


def in_words(name: str, value: float) -> str:
    """A speed as it is told: 12,345 of "samples_per_second" is "12,345 samples/s"."""
    return f"{value:,.0f} {name.partition('_')[0]}/s"


def _training_seconds(state: TrainState) -> float:
    return state.elapsed - state.measuring_seconds
