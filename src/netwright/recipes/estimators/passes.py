"""Learning that goes on: one pass over new rows a call, the trainer's state kept in between.

Between two passes everything rests on the CPU as plain values and tensors, so it can be copied and
pickled, and opens on a machine without an accelerator.
"""

from dataclasses import dataclass, replace
from typing import Any

from netwright.core.errors import ConfigError
from netwright.core.seeding import random_state
from netwright.core.trees import map_tensors
from netwright.recipes.fitting.fit import check_last_batch
from netwright.recipes.fitting.prepared import Prepared
from netwright.train.callback import Callback
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.history import History
from netwright.train.settings import pace_for
from netwright.train.state import TrainState
from netwright.train.trainer import Trainer


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where training stands after a pass: the whole of its state beside the weights.

    Args:
        optimizer: its state, as torch gives it.
        schedule: its state, as torch gives it.
        scaler: its state, for float16, else None.
        random: the states of all generators.
        epoch: passes made.
        step: updates made.
        samples: examples seen.
        elapsed: seconds of training.
        history: the numbers so far.
    """

    optimizer: dict[str, Any]
    schedule: dict[str, Any]
    scaler: dict[str, Any] | None
    random: dict[str, Any]
    epoch: int
    step: int
    samples: int
    elapsed: float
    history: History

    @classmethod
    def of(cls, state: TrainState) -> "Standing":
        """Where this state stands; to be asked while the generators are still the trainer's."""
        return cls(
            optimizer=map_tensors(lambda tensor: tensor.cpu(), state.optimizer.state_dict()),
            schedule=state.schedule.state_dict(),
            scaler=None if state.scaler is None else state.scaler.state_dict(),
            random=random_state(),
            epoch=state.epoch,
            step=state.step,
            samples=state.samples,
            elapsed=state.elapsed,
            history=state.history,
        )

    def restore(self, state: TrainState) -> None:
        """Bring a freshly started state here."""
        state.optimizer.load_state_dict(self.optimizer)
        state.schedule.load_state_dict(self.schedule)
        if state.scaler is not None and self.scaler is not None:
            state.scaler.load_state_dict(self.scaler)
        state.epoch, state.step, state.samples = self.epoch, self.step, self.samples
        state.elapsed_before, state.history = self.elapsed, self.history
        state.random = self.random


class KeepStanding(Callback):
    """Notes where training stands at its end."""

    standing: Standing

    def on_fit_end(self, state: TrainState) -> None:
        """Take note."""
        self.standing = Standing.of(state)


def learn_one_pass(
    prepared: Prepared, before: Standing | None, *, batch_size: int | None = None
) -> Standing:
    """Let the model go once over the training rows, on from where it stood.

    The settings and the seed are the recipe's; the order of the rows and every random draw follow
    from them and from `before`, so k passes over the same rows are a run of k epochs, bit for bit.

    Args:
        prepared: the model, its task, and the rows to learn from.
        before: where the last pass ended; None begins.
        batch_size: examples a step, or fewer where there are fewer; None: as many as suit the rows.
    """
    recipe, data = prepared.recipe, prepared.data
    if recipe.train.average != "none":
        raise ConfigError(
            f"average must be 'none' with partial_fit, which has no last epoch, got "
            f"{recipe.train.average!r}"
        )
    if recipe.train.schedule != "constant":
        raise ConfigError(
            f"schedule must be 'constant' with partial_fit, which has no last epoch, got "
            f"{recipe.train.schedule!r}"
        )
    rows = len(data.train)
    config = replace(recipe.train, batch_size=batch_size)  # looks at the size that was given
    size = min(pace_for(config, rows).batch_size, rows)
    config = replace(config, batch_size=size)
    check_last_batch(prepared.model, data, size)
    keep = KeepStanding()
    trainer = Trainer(config, prepared.task, callbacks=[GuardNonFinite(), keep], seed=recipe.seed)
    state = trainer.start(prepared.model, data)
    if before is not None:
        before.restore(state)
    state.epochs, state.last_step = state.epoch + 1, None
    trainer.fit(state, data)
    prepared.model.cpu().eval()
    return keep.standing
