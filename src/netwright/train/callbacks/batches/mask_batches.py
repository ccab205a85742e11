"""Draw anew what is covered in each batch of texts: masked tokens, or spans that are left out."""

from typing import Protocol

import torch
from torch import Tensor

from netwright.core.seeding import derive_seed
from netwright.train.callback import Callback
from netwright.train.state import TrainState


class Redraw(Protocol):
    """Covers other places of the texts that inputs and targets tell together."""

    def __call__(
        self, inputs: Tensor, targets: Tensor, *, random: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Inputs and targets of the same shapes."""


class MaskBatches(Callback):
    """Covers other places of the same texts in every epoch.

    It has no state: seed, epoch, position and rank say which, so a run that goes on from a
    checkpoint sees what it would have seen.

    Args:
        redraw: covers other places.
        seed: the run's.
    """

    only_changes_batch = True

    def __init__(self, redraw: Redraw, seed: int) -> None:
        self.redraw, self.seed = redraw, seed

    def on_batch_start(self, state: TrainState) -> None:
        """Replace the batch at hand."""
        if state.batch is None:
            return
        place = (state.ranks.rank, state.epoch, state.position)
        random = torch.Generator(state.batch.inputs.device)
        random.manual_seed(derive_seed(self.seed, "masks", *place))
        inputs, targets = self.redraw(state.batch.inputs, state.batch.targets, random=random)
        state.batch = state.batch._replace(inputs=inputs, targets=targets)
