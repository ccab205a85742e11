"""A recipe put together, and the context in which it is trained."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import nn

from netwright.data.dataset import Data
from netwright.recipes.fitting.first_batch import FirstBatch
from netwright.recipes.fitting.track_rows import TrackRows
from netwright.recipes.plan.recipe import Recipe
from netwright.train.callback import Callback
from netwright.train.own.parts import NO_PARTS, OwnParts
from netwright.train.ranks import ALONE, Ranks
from netwright.train.tasks.task import Task


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A recipe put together and tried on one batch; nothing is learned or written yet.

    Args:
        recipe: with what was not given chosen.
        model: built for the data.
        data: what it learns from.
        task: what it learns.
        first_batch: what came of one batch.
        own: what else the user handed over in Python.
        unused: settings of training that were given, and have no part in the model's own rule.
    """

    recipe: Recipe
    model: nn.Module
    data: Data
    task: Task
    first_batch: FirstBatch
    own: OwnParts = NO_PARTS
    unused: tuple[str, ...] = ()


def _pass_by(numbers: Mapping[str, float]) -> None:
    """Nobody is told of the steps of a rule."""


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """Where and with whom a model learns; none of it changes what it learns.

    Args:
        folder: the run folder, or None for a run kept in memory.
        checkpoint: where the run goes on from, or None where it begins.
        allow: the conditions that may have changed since that checkpoint.
        ranks: the processes that train the model together.
        extra: the user's own callbacks.
        on_own_step: called after each step of a model's own rule, with its numbers.
        tracking: what writes the run for other packages, or None.
        quiet: print nothing.
    """

    folder: Path | None = None
    checkpoint: Path | None = None
    allow: Sequence[str] = ()
    ranks: Ranks = ALONE
    extra: Sequence[Callback] = ()
    on_own_step: Callable[[Mapping[str, float]], None] = _pass_by
    tracking: TrackRows | None = None
    quiet: bool = False
