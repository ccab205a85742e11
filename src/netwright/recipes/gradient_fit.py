"""Learning by gradients: the trainer with the callbacks that every run has."""

from collections.abc import Sequence
from pathlib import Path

from torch import nn

from netwright.core.checks import nearest
from netwright.core.errors import ConfigError
from netwright.core.interrupts import Interrupt
from netwright.data.dataset import Data
from netwright.recipes.outcome import Outcome
from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.callbacks.history_file import HistoryFile
from netwright.train.callbacks.non_finite import StopOnNonFinite
from netwright.train.callbacks.progress import Progress
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.callbacks.stop_on_signal import StopOnSignal
from netwright.train.callbacks.time_limit import TimeLimit
from netwright.train.settings import TrainConfig
from netwright.train.tasks.task import Task
from netwright.train.trainer import Trainer


def gradient_fit(
    model: nn.Module,
    data: Data,
    task: Task,
    config: TrainConfig,
    *,
    seed: int,
    folder: Path | None,
    extra: Sequence[Callback] = (),
    quiet: bool = False,
) -> Outcome:
    """Train the model in place; with a folder, leave checkpoints and the history there."""
    check_monitor(config, data, task)
    with Interrupt() as interrupt:
        best = _early_stopping(config, data)
        callbacks: list[Callback] = [StopOnNonFinite()]
        if folder is not None:
            callbacks.append(HistoryFile(folder / "metrics.jsonl"))
        watched = [*extra] if best is None else [*extra, best]
        callbacks += [Progress(quiet=quiet), *watched, StopOnSignal(interrupt)]
        if config.max_time is not None:
            callbacks.append(TimeLimit(config.max_time))
        if folder is not None:
            callbacks.append(
                SaveCheckpoints(
                    folder, watched=watched, best=best, every=config.save_every, keep=config.keep
                )
            )
        trainer = Trainer(config, task, callbacks=callbacks, seed=seed)
        state = trainer.start(model, data)
        trainer.fit(state, data)
    return Outcome(
        history=state.history,
        status=state.stop_reason or "done",
        epochs=state.epoch,
        best_epoch=best.best_epoch if best is not None else state.epoch,
        seconds=state.elapsed,
        exit_code=interrupt.exit_code,
    )


def check_monitor(config: TrainConfig, data: Data, task: Task) -> None:
    """Refuse to watch what is not measured while training."""
    names = ("loss", task.headline)
    known = [f"{split}/{name}" for split in ("val", "train") for name in names]
    if config.monitor not in known:
        hint = nearest(config.monitor, known) or f"; there are {', '.join(known)}"
        raise ConfigError(f"monitor {config.monitor!r} is not measured{hint}")
    if config.monitor.startswith("val/") and data.val is None and config.patience is not None:
        raise ConfigError(f"patience watches {config.monitor!r}: {data.name} has no val split")


def _early_stopping(config: TrainConfig, data: Data) -> EarlyStopping | None:
    """What watches the monitored measure; without validation data there is nothing to watch."""
    if config.monitor.startswith("val/") and data.val is None:
        return None
    return EarlyStopping(
        config.monitor,
        patience=config.patience,
        min_delta=config.min_delta,
        restore_best=config.restore_best,
    )
