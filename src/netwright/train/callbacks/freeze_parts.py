"""Parts of a model that do not learn: for the whole run, or until their turn comes.

A frozen part's weights have no gradients, and it is in evaluation mode: batch norm keeps its
statistics, dropout rests. So it is the same function, bit for bit, for as long as it is frozen.
Unfreezing goes from the last part to the first: late parts are the least general, and early ones
get no gradients through a head that was only just drawn.

Source: Howard and Ruder, "Universal Language Model Fine-tuning for Text Classification" (2018),
section 3.3 (gradual unfreezing).
"""

from torch import nn

from netwright.train.callback import Callback
from netwright.train.parts import count_up_to, layers_of, parts_of, weights_by_part
from netwright.train.state import TrainState


class FreezeParts(Callback):
    """Keeps the first parts as they are; what is frozen follows from the epoch alone.

    Args:
        model: what learns.
        name: the last frozen part, or a sequence of parts.
        every: after so many epochs, each time, the last frozen part begins to learn; None: never.
    """

    def __init__(self, model: nn.Module, name: str, *, every: int | None = None) -> None:
        parts = parts_of(model)
        self.parts, self.every = parts[: count_up_to(parts, name)], every
        self.layers = layers_of(model)
        self.weights = [
            [weight for weight in weights if weight.requires_grad]  # not what the user froze
            for weights in weights_by_part(model)
        ]
        self.frozen: list[nn.Parameter] = []

    def count(self, epoch: int) -> int:
        """How many parts are frozen in the epoch of this number, from 0."""
        joined = 0 if self.every is None else epoch // self.every
        return max(0, len(self.parts) - joined)

    def on_epoch_start(self, state: TrainState) -> None:
        """Freeze what this epoch leaves alone, and nothing else."""
        self._thaw()
        state.model.train()
        count = self.count(state.epoch)
        if count:
            # Also layers without weights up to there: they may have statistics, or drop units.
            for layer in self.layers[: self.layers.index(self.parts[count - 1].layers[-1]) + 1]:
                layer.module.eval()
        self.frozen = [weight for weights in self.weights[:count] for weight in weights]
        for weight in self.frozen:
            weight.requires_grad_(False)

    def on_before_update(self, state: TrainState) -> None:
        """Take away what a penalty pulls by: it is a gradient of its own."""
        for weight in self.frozen:
            weight.grad = None

    def on_fit_end(self, state: TrainState) -> None:
        """Give the weights back as they came: able to learn."""
        self._thaw()

    def on_abort(self, state: TrainState) -> None:
        """The same after an error."""
        self._thaw()

    def _thaw(self) -> None:
        for weight in self.frozen:
            weight.requires_grad_(True)
