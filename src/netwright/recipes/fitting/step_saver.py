"""Checkpoints of a learning rule that goes on exactly: once a minute, and where it is stopped."""

import time

from netwright.core.config import NoSettings, to_mapping
from netwright.recipes.fitting.prepared import Prepared, RunContext
from netwright.train.saving.checkpoint_store import CheckpointStore
from netwright.train.saving.conditions import describe_conditions
from netwright.train.saving.learner_checkpoint import Progress, load_learner, save_learner

EVERY = 60.0  # seconds: what a kill may cost
NO_PROGRESS = Progress(0, 0.0, [])


class StepSaver:
    """Saves a run as it goes, where it has a folder; and finds where it goes on.

    Args:
        prepared: what learns.
        here: the run's folder and the checkpoint to go on from.
    """

    def __init__(self, prepared: Prepared, here: RunContext) -> None:
        self.prepared, self.here = prepared, here
        settings = prepared.recipe.model_settings or NoSettings()
        self.store = None if here.folder is None else CheckpointStore(here.folder)
        self.next = time.monotonic() + EVERY
        self.conditions = {
            **describe_conditions(
                prepared.recipe.train,
                seed=prepared.recipe.seed,
                model=prepared.model,
                data=prepared.data,
                processes=1,
            ),
            **{f"model.{name}": value for name, value in to_mapping(settings).items()},
        }

    def progress_before(self) -> Progress:
        """What was made before; the weights are put back."""
        if self.here.checkpoint is None:
            return NO_PROGRESS
        return load_learner(self.here.checkpoint, self.prepared.model, self.conditions)

    def after_step(self, progress: Progress, *, ends: bool) -> None:
        """Write a checkpoint where it is time to, or where learning is stopped."""
        if self.store is None or not (ends or time.monotonic() >= self.next):
            return
        place = self.store.place_for(progress.steps)
        save_learner(place, self.prepared.model, progress, self.conditions)
        self.store.add(place, choose=lambda there, best: place.name)
        self.next = time.monotonic() + EVERY
