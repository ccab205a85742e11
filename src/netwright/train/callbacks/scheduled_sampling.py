r"""Scheduled sampling: a decoder is told ever less of the truth while it learns, and hears itself.

    told before each token: the true one with probability p, else the one that was said

With p = 1 it is teacher forcing: quick, but the model never sees its own mistakes. With p = 0 it
runs freely, as in use, and at first learns from nonsense. So p begins high and falls.

Source: Bengio, Vinyals, Jaitly and Shazeer, "Scheduled Sampling for Sequence Prediction with
Recurrent Neural Networks" (2015), section 2.4.
"""

import math

from torch import nn

from netwright.core.adapted_module import module_name
from netwright.core.errors import ConfigError
from netwright.decoding.source_decoder import SourceDecoder
from netwright.train.callback import Callback
from netwright.train.setting_groups import ForcingDecay
from netwright.train.state import TrainState

STEEP = 12.0  # how long the S is, in units of the sigmoid


class ScheduledSampling(Callback):
    """Moves a model's `teacher_forcing`; it follows from the number of updates alone.

    Args:
        model: what learns.
        first: p at the first update.
        last: p at the last update.
        decay: the way from one to the other.
    """

    def __init__(
        self, model: nn.Module, first: float, last: float, decay: ForcingDecay = "linear"
    ) -> None:
        if not isinstance(model, SourceDecoder):
            raise ConfigError(
                f"teacher_forcing is for sequence-to-sequence models, got {module_name(model)}"
            )
        self.model: SourceDecoder = model
        self.first, self.last, self.decay = first, last, decay

    def on_batch_start(self, state: TrainState) -> None:
        """Set p for this batch."""
        progress = state.step / max(1, state.all_updates - 1)
        share = remaining(min(progress, 1.0), self.decay)
        self.model.teacher_forcing = self.last + (self.first - self.last) * share

    def on_fit_end(self, state: TrainState) -> None:
        """Give the model back as it came: told the truth."""
        self.model.teacher_forcing = 1.0

    def on_abort(self, state: TrainState) -> None:
        """The same after an error."""
        self.model.teacher_forcing = 1.0


def remaining(progress: float, decay: ForcingDecay) -> float:
    """What is left of the way: 1 at progress 0, falling to exactly 0 at progress 1.

    The inverse sigmoid is slow at both ends and quick in the middle.
    """
    if decay == "linear":
        return 1 - progress
    low, high = _sigmoid(-STEEP / 2), _sigmoid(STEEP / 2)
    return (_sigmoid(STEEP * (0.5 - progress)) - low) / (high - low)


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))
