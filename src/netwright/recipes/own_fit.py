"""Learning by a model's own rule: the driver pulls its steps, measures, and stops when asked."""

import time
from contextlib import closing
from pathlib import Path

from netwright.core.console import Bar
from netwright.core.errors import RunError
from netwright.core.interrupts import Interrupt
from netwright.core.learner import Learner
from netwright.data.dataset import Data
from netwright.recipes.outcome import Outcome
from netwright.train.history import History, Row, append_rows
from netwright.train.settings import TrainConfig


def own_fit(
    model: Learner,
    data: Data,
    config: TrainConfig,
    *,
    seed: int,
    folder: Path | None,
    quiet: bool = False,
) -> Outcome:
    """Let the model learn in place; each of its steps is a row of the history.

    Only the time limit of `config` applies: everything else is the model's own affair.
    """
    history, bar, started = History(), Bar(None, quiet=quiet), time.monotonic()
    status, steps = "done", 0
    with Interrupt() as interrupt, closing(bar):
        for numbers in model.fit_steps(data.train, seed):
            steps += 1
            elapsed = time.monotonic() - started
            rows = _rows(numbers, steps, len(data.train), elapsed)
            history.rows.extend(rows)
            if folder is not None:
                append_rows(folder / "metrics.jsonl", rows)
            if interrupt.signal is not None:
                status = f"interrupted by {interrupt.signal.name}"
                break
            if config.max_time is not None and elapsed >= config.max_time:
                status = f"the time limit of {config.max_time:g} s"
                break
    bar.line(f"{steps} step{'' if steps == 1 else 's'} of its own rule: {status}")
    return Outcome(
        history=history,
        status=status,
        epochs=steps,
        best_epoch=steps,
        seconds=time.monotonic() - started,
        exit_code=interrupt.exit_code,
    )


def _rows(numbers: dict[str, float], step: int, examples: int, elapsed: float) -> list[Row]:
    for name, value in numbers.items():
        if not value - value == 0:  # NaN and infinity both fail this
            raise RunError(f"{name} is not a finite number at step {step}, got {value}")
    return [
        Row(
            step=step,
            epoch=step,
            samples=step * examples,
            time=round(elapsed, 4),
            split="train",
            name=name,
            value=value,
        )
        for name, value in numbers.items()
    ]
