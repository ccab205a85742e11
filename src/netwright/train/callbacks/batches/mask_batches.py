"""Draw the masks of each batch anew."""

import torch

from netwright.core.seeding import derive_seed
from netwright.data.text.pretraining.masking import mask_again
from netwright.train.callback import Callback
from netwright.train.state import TrainState


class MaskBatches(Callback):
    """Covers other places of the same texts in every epoch.

    It has no state: seed, epoch, position and rank say which, so a run that goes on from a
    checkpoint sees what it would have seen.

    Args:
        mask: the number of [MASK].
        seed: the run's.
    """

    only_changes_batch = True

    def __init__(self, mask: int, seed: int) -> None:
        self.mask, self.seed = mask, seed

    def on_batch_start(self, state: TrainState) -> None:
        """Replace the batch at hand."""
        if state.batch is None:
            return
        place = (state.ranks.rank, state.epoch, state.position)
        random = torch.Generator(state.batch.inputs.device)
        random.manual_seed(derive_seed(self.seed, "masks", *place))
        inputs, targets = mask_again(state.batch.inputs, state.batch.targets, self.mask, random)
        state.batch = state.batch._replace(inputs=inputs, targets=targets)
