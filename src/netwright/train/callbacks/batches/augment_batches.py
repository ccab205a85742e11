"""Change each batch at random before the model sees it."""

from netwright.core.seeding import derive_seed
from netwright.data.augment.pipeline import Pipeline
from netwright.data.augment.scratch import Scratch
from netwright.train.callback import Callback
from netwright.train.state import TrainState


class AugmentBatches(Callback):
    """Puts an augmented batch in the place of the one that was loaded, until the next one.

    It has no state: epoch and position say what a batch becomes, so a run that goes on from a
    checkpoint sees what it would have seen. Each rank draws numbers of its own.

    Args:
        pipeline: what to do.
        seed: the run's.
        channels_last: the model reads the channels of a pixel side by side.
    """

    only_changes_batch = True

    def __init__(self, pipeline: Pipeline, seed: int, *, channels_last: bool = False) -> None:
        self.pipeline, self.seed, self.scratch = pipeline, seed, Scratch()
        self.channels_last = channels_last

    def on_batch_start(self, state: TrainState) -> None:
        """Replace the batch at hand."""
        if state.batch is not None:
            seed = derive_seed(self.seed, "rank", state.ranks.rank)
            # A device that is not waited for has batches at hand that it has not computed yet.
            scratch = self.scratch if state.device.type == "cpu" else None
            state.batch = self.pipeline(
                state.batch,
                seed,
                state.epoch,
                state.position,
                scratch,
                channels_last=self.channels_last,
            )
