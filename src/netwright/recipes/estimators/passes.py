"""Learning that goes on: one pass over new rows a call, the trainer's state kept in between.

Between two passes everything rests on the CPU as plain values and tensors, so it can be copied and
pickled, and opens on a machine without an accelerator.
"""

from dataclasses import replace
from typing import Any

from netwright.core.errors import ConfigError
from netwright.core.trees import map_tensors
from netwright.recipes.fitting.first_batch import check_last_batch
from netwright.recipes.fitting.prepared import Prepared
from netwright.train.callback import Callback
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.profiling.onednn import use_in
from netwright.train.settings import pace_for
from netwright.train.state import PLACE, TrainState
from netwright.train.trainer import Trainer

TrainingState = dict[str, Any]  # of `TrainState.state_dict` what goes on from pass to pass


class KeepTrainingState(Callback):
    """Notes where training stands at its end, on the CPU.

    The weights are left out, since the estimator has the model itself, and so is the place in the
    pass: the next one is over other rows.
    """

    training_state: TrainingState

    def on_fit_end(self, state: TrainState) -> None:
        """Take note, while the generators are still the trainer's."""
        parts = state.state_dict().items()
        kept = {name: part for name, part in parts if name not in {"model", "passed_over", *PLACE}}
        self.training_state = map_tensors(lambda tensor: tensor.cpu(), kept)


def learn_one_pass(
    prepared: Prepared,
    before: TrainingState | None,
    *,
    batch_size: int | None = None,
    has_length: bool = False,
) -> TrainingState:
    """Let the model go once over the training rows, on from where it stood.

    The settings and the seed are the recipe's; the order of the rows and every random draw follow
    from them and from `before`, so k passes over the same rows are a run of k epochs, bit for bit.

    Args:
        prepared: the model, its task, and the rows to learn from.
        before: where the last pass ended; None begins.
        batch_size: examples a step, or fewer where there are fewer; None: as many as suit the rows.
        has_length: whether epochs or max_steps were given, over which a schedule is spread; past
            their end the learning rate stays.
    """
    recipe, data = prepared.recipe, prepared.data
    if recipe.train.average != "none":
        raise ConfigError(
            f"average must be 'none' with partial_fit, which has no last epoch, got "
            f"{recipe.train.average!r}"
        )
    _check_schedule(prepared, has_length=has_length)
    rows = len(data.train)
    config = replace(recipe.train, batch_size=batch_size)  # looks at the size that was given
    size = min(pace_for(config, rows).batch_size, rows)
    # By this process alone.
    config = replace(config, batch_size=size, parallel="replicate", offload=False)
    config = replace(config, onednn=use_in(prepared.model, config))  # as `fit` chooses it
    check_last_batch(prepared.model, data, size)
    keep = KeepTrainingState()
    callbacks, own = [GuardNonFinite(), keep], prepared.own
    trainer = Trainer(config, prepared.task, callbacks=callbacks, seed=recipe.seed, own=own)
    state = trainer.start(prepared.model, data)
    if before is not None:
        state.load_state_dict(before)
    state.epochs, state.last_step = state.epoch + 1, None
    trainer.fit(state, data)
    prepared.model.cpu().eval()
    return keep.training_state


def _check_schedule(prepared: Prepared, *, has_length: bool) -> None:
    """Refuse a schedule whose end is not known, or that waits for the measures of other rows."""
    own, named = prepared.own.names.get("schedule"), prepared.recipe.train.schedule
    if own is not None or named == "plateau":
        raise ConfigError(
            f"partial_fit takes the schedules that follow from the step, got {own or named!r}"
        )
    if named != "constant" and not has_length:
        raise ConfigError(
            f"schedule {named!r} needs its length with partial_fit: give epochs, the number of "
            "calls, or max_steps"
        )
