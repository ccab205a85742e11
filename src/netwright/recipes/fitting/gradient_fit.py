"""Learning by gradients: the trainer with the callbacks that every run has."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from netwright.core.checks import nearest
from netwright.core.errors import ConfigError
from netwright.core.finding import Finding
from netwright.core.terminal.console import print_message, print_warning
from netwright.core.terminal.interrupts import Interrupt
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Data
from netwright.recipes.fitting.outcome import Outcome
from netwright.recipes.fitting.prepared import Prepared, RunContext
from netwright.recipes.plan.convex_training import goes_to_optimum, has_optimum, is_whole_loss
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.plan.recipe_file import read_own_recipe
from netwright.recipes.plan.unused_settings import idle_notes
from netwright.recipes.saved.run_folder import write_recipe
from netwright.train.callback import Callback
from netwright.train.callbacks.doctor import Doctor
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.callbacks.history_file import HistoryFile
from netwright.train.callbacks.keep_batches import KeepBatches
from netwright.train.callbacks.keep_path import KeepPath
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.callbacks.progress import Progress
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.callbacks.step_limit import StepLimit
from netwright.train.callbacks.step_rows import StepRows
from netwright.train.callbacks.stop_on_signal import StopOnSignal
from netwright.train.callbacks.time_limit import TimeLimit
from netwright.train.callbacks.watch_convergence import WatchConvergence
from netwright.train.own.optimizer import first_rate
from netwright.train.profiling.onednn import Use, agreed_use
from netwright.train.profiling.profile_file import FILE as PROFILE_FILE
from netwright.train.profiling.profile_updates import ProfileUpdates
from netwright.train.saving.agreement import check_agreement
from netwright.train.saving.checkpoint import load_checkpoint, run_around
from netwright.train.saving.conditions import saved_onednn
from netwright.train.saving.kept_path import FILE as PATH_FILE
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.task import Task
from netwright.train.trainer import Trainer
from netwright.train.watching.convergence import (
    no_finite_optimum,
    not_converged,
    not_converged_convex,
)
from netwright.train.watching.layer_history import FILE as LAYER_FILE


def gradient_fit(prepared: Prepared, here: RunContext) -> Outcome:
    """Train the model in place; with a folder, leave checkpoints and the history there."""
    config, data, task = prepared.recipe.train, prepared.data, prepared.task
    check_monitor(config, data, task)
    config = replace(config, onednn=_onednn(prepared, here))
    with Interrupt() as interrupt:
        best = _early_stopping(config, data, task)
        doctor = _doctor(config, here)
        watched = [*_watched(config, here, best), *_kept_batches(data, here), doctor]
        guard = GuardNonFinite(config.on_non_finite, watched)
        callbacks = [guard, *_profile(prepared, here)]
        callbacks += _callbacks(config, here, watched, interrupt)
        convergence = _convergence(prepared)
        if convergence is not None:
            callbacks.append(convergence)
        with_state = [guard, *watched]  # the guard itself does not go back with what it watches
        save = _saving(config, here, with_state, best)
        trainer = Trainer(
            config,
            task,
            callbacks=callbacks if save is None else [*callbacks, save],
            seed=prepared.recipe.seed,
            ranks=here.ranks,
            own=prepared.own,
            to_optimum=convergence is not None and convergence.stops,
        )
        if not prepared.recipe.model:  # each process has drawn the weights of a module of its own
            here.ranks.follow_first(part.detach() for part in prepared.model.state_dict().values())
        state = trainer.start(prepared.model, data)
        if not here.ranks.is_alone:
            check_agreement(here.ranks, state.conditions())
        if here.checkpoint is not None:
            remarks = load_checkpoint(here.checkpoint, state, with_state, allow=here.allow)
            if not here.quiet:
                print_message(
                    f"resuming from {here.checkpoint}: epoch {state.epoch + 1}, step {state.step}"
                )
                for remark in remarks:
                    print_warning(remark)
            if here.folder is not None and here.ranks.is_first:
                _write_again(here.folder, prepared.recipe)
        idle = idle_notes(config, min(state.all_updates, config.max_steps or state.all_updates))
        for note in () if here.quiet else idle:
            print_warning(note)
        trainer.fit(state, data)
    kept = best if best is not None and best.weights and best.restore_best else None
    return Outcome(
        history=state.history,
        status=state.stop_reason or "done",
        epochs=state.epoch,
        best_epoch=kept.best_epoch if kept is not None else state.epoch,
        steps=state.step,
        best_step=kept.best_step if kept is not None else state.step,
        seconds=state.elapsed,
        compile_seconds=state.compile_seconds,
        finished=not state.is_cut_short,
        notes=(*idle, *_describe_passed_over(state), *state.notes),
        layer_history=doctor.seen,
        ending=_ending(state, convergence),
        lr=None if prepared.own.optimizer is None else first_rate(state.optimizer),
        exit_code=interrupt.exit_code,
    )


def _write_again(folder: Path, recipe: Recipe) -> None:
    """The recipe with what was changed, which was allowed; where its weights came from stays."""
    origin = read_own_recipe(folder).get("from", "")
    write_recipe(folder, replace(recipe, start_from=recipe.start_from or origin))


def _onednn(prepared: Prepared, here: RunContext) -> Use:
    """Whether to train with oneDNN; a resumed run goes on as it was, unless it is set."""
    config = prepared.recipe.train
    if config.onednn == "auto" and here.checkpoint is not None:
        return saved_onednn(here.checkpoint, inside=run_around(here.checkpoint))
    return agreed_use(prepared.model, config, here.ranks)


def _watched(config: TrainConfig, here: RunContext, best: EarlyStopping | None) -> list[Callback]:
    """What has a state that is saved with the run; the last of them is the first to end."""
    watched = list(here.extra)
    if here.folder is not None or config.log_every is not None:  # rows nobody asked for need a file
        watched.append(StepRows(config.log_every))
    if best is not None:
        watched.append(best)
    if here.folder is not None:  # after the best weights are put back, the last ones are gone
        frozen = "" if config.unfreeze_every else config.freeze
        watched.append(KeepPath(here.folder / PATH_FILE, config.keep_path, frozen=frozen))
    return watched


def _callbacks(
    config: TrainConfig,
    here: RunContext,
    watched: Sequence[Callback],
    interrupt: Interrupt,
) -> list[Callback]:
    """What every run has after its guard, in the order in which it is called."""
    callbacks: list[Callback] = []
    if here.folder is not None and here.ranks.is_first:
        callbacks.append(HistoryFile(here.folder / "metrics.jsonl"))
    if here.tracking is not None:
        callbacks.append(here.tracking)
    callbacks += [] if here.quiet else [Progress()]
    callbacks += [*watched, StopOnSignal(interrupt)]
    if config.max_steps is not None and config.epochs is not None:
        callbacks.append(StepLimit(config.max_steps))
    if config.max_time is not None:
        callbacks.append(TimeLimit(config.max_time))
    return callbacks


def _profile(prepared: Prepared, here: RunContext) -> list[Callback]:
    """What profiles some updates, where that is asked for and there is a folder to write it to."""
    config = prepared.recipe.train
    if not config.profile or here.folder is None or not here.ranks.is_first:
        return []
    is_counted = prepared.own.training_step is None
    return [ProfileUpdates(here.folder / PROFILE_FILE, config, is_counted=is_counted)]


def _kept_batches(data: Data, here: RunContext) -> list[Callback]:
    """What keeps the place in a loader of the caller's own, where there is one."""
    if not isinstance(data.train, SourceSplit):
        return []
    return [KeepBatches(data.train.source, may_differ="data" in here.allow, quiet=here.quiet)]


def _doctor(config: TrainConfig, here: RunContext) -> Doctor:
    """What watches the layers; it is there where it is off, too, to keep what it saw before."""
    path = here.folder / LAYER_FILE if here.folder is not None and here.ranks.is_first else None
    return Doctor(path, is_on=config.doctor, quiet=here.quiet, precision=config.precision)


def _saving(
    config: TrainConfig,
    here: RunContext,
    watched: Sequence[Callback],
    best: EarlyStopping | None,
) -> SaveCheckpoints | None:
    """What saves the run; nothing does where it is kept in memory."""
    if here.folder is None:
        return None
    return SaveCheckpoints(
        here.folder,
        watched=watched,
        best=best,
        every=config.save_every,
        every_steps=config.save_steps,
        keep=config.keep,
        origin=here.checkpoint,
    )


def _describe_passed_over(state: TrainState) -> Iterator[str]:
    if state.passed_over:
        epoch, place = state.passed_over[0]
        yield (
            f"batches skipped because of non-finite values: {len(state.passed_over)}, "
            f"the first is batch {place + 1} of epoch {epoch + 1}"
        )


def check_monitor(config: TrainConfig, data: Data, task: Task) -> None:
    """Refuse to watch what is not measured while training."""
    names = filter(None, ("loss", task.headline))
    known = [f"{split}/{name}" for split in ("val", "train") for name in names]
    known += [f"val/{name}" for name in task.own_metrics]
    if config.monitor not in known:
        hint = nearest(config.monitor, known) or f"; there are {', '.join(known)}"
        raise ConfigError(f"monitor {config.monitor!r} is not measured{hint}")
    if data.val is None and config.eval_every is not None:
        raise ConfigError(
            f"eval_every needs a val split, which {data.name} does not have: set val_size"
        )
    if task.unmeasured and config.monitor.startswith("val/") and config.patience is not None:
        raise ConfigError(f"patience needs {config.monitor!r}, but {task.unmeasured}")
    if config.monitor.startswith("val/") and data.val is None and config.patience is not None:
        raise ConfigError(
            f"patience needs {config.monitor!r}, but {data.name} has no val split: set val_size, "
            f"or monitor=train/loss"
        )


def _early_stopping(config: TrainConfig, data: Data, task: Task) -> EarlyStopping | None:
    """What watches the monitored measure; without validation data there is nothing to watch."""
    if config.monitor.startswith("val/") and (data.val is None or task.unmeasured):
        return None
    return EarlyStopping(
        config.monitor,
        patience=config.patience,
        min_delta=config.min_delta,
        restore_best=config.restore_best is not False,
        own=task.own_metrics,
    )


def _convergence(prepared: Prepared) -> WatchConvergence | None:
    """What watches the gradient of a convex loss; nothing where noise or decay is no part of it."""
    config, of = prepared.recipe.train, (prepared.model, prepared.task, prepared.data)
    if prepared.own.training_step is not None:
        return None
    stops = goes_to_optimum(config, *of)
    if not stops and not (config.doctor and is_whole_loss(config) and has_optimum(*of)):
        return None
    return WatchConvergence(prepared.data.train, config, stops=stops)


def _ending(state: TrainState, convergence: WatchConvergence | None) -> Finding | None:
    """That the last epoch was over too early, or that no optimum could be come to."""
    if convergence is None:
        return None if state.stop_reason else not_converged(state.history)
    left = convergence.left
    unconverged = None if left is None else not_converged_convex(left, state.epoch)
    return unconverged or (no_finite_optimum(state.history) if convergence.stops else None)
