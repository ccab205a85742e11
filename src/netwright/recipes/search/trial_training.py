"""One trial: train a recipe with the trial's settings, and measure it on the validation rows."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from netwright.core.errors import NetwrightError
from netwright.data.dataset import Data
from netwright.recipes.fitting.own_objects import NO_OBJECTS, OwnObjects
from netwright.recipes.fitting.training import train
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.search.plan import SearchPlan
from netwright.recipes.search.space import Value, apply
from netwright.recipes.search.trial_pruning import PruneTrial
from netwright.recipes.search.trial_queue import Tried

if TYPE_CHECKING:
    from optuna.trial import Trial


@dataclass(frozen=True, kw_only=True)
class TrialTraining:
    """What a search does with the settings that it is given.

    Args:
        plan: what is searched.
        data: without test rows.
        mine: what the user handed over in Python.
        deadline: when the search is to end, by `time.monotonic`; None for never.
    """

    plan: SearchPlan
    data: Data
    mine: OwnObjects = NO_OBJECTS
    deadline: float | None = None

    def __call__(self, trial: "Trial", settings: Mapping[str, Value]) -> Tried | None:
        """Train and measure; None where the deadline cut the training short."""
        started, metric = time.monotonic(), self.plan.metric
        watch = [] if self.plan.pruner == "none" else [PruneTrial(trial, metric)]
        try:
            recipe = self._within_time(apply(self.plan.recipe, settings))
            prepared = self.mine.prepare(recipe, self.data)
            results = train(prepared, extra=watch, quiet=True, keep_folder=False).results
        except (NetwrightError, RuntimeError, MemoryError) as error:
            # Settings that do not go together, a loss of NaN, or no room for so large a model.
            reason = str(error).partition("\n")[0] or type(error).__name__
            seconds = round(time.monotonic() - started, 3)
            return Tried(value=None, notes={"why": f"not trained: {reason}", "seconds": seconds})
        if not results["finished"] and self.is_late:
            return None
        notes = {"epochs": results["epochs"], "seconds": results["seconds"]}
        if any(callback.is_pruned for callback in watch):
            return Tried(value=None, notes={**notes, "why": results["status"]})
        value = results["metrics"].get(metric.partition("/")[2])
        if value is None:
            return Tried(value=None, notes={**notes, "why": f"{metric} has no value"})
        return Tried(value=value, notes=notes)

    @property
    def is_late(self) -> bool:
        """Whether the search is to end."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _within_time(self, recipe: Recipe) -> Recipe:
        """The recipe, with what is left of the search's time as a limit."""
        if self.deadline is None:
            return recipe
        left = max(1e-3, self.deadline - time.monotonic())
        limit = min(left, recipe.train.max_time or left)
        return replace(recipe, train=replace(recipe.train, max_time=limit))
