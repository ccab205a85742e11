"""Hyperband that prunes after a kill as it would have without it.

Optuna's takes the bracket of a trial from its number, lets trials that were interrupted compete,
and takes the most epochs of the trials that are complete when a process first asks. So a trial that
is made again, under another number and by another process, would be pruned by other rules.

Source: Li et al., "Hyperband" (2018); optuna.pruners.HyperbandPruner.
"""

from copy import copy
from typing import TYPE_CHECKING

from netwright.recipes.search.trial_place import place_of

if TYPE_CHECKING:
    from optuna import Study
    from optuna.pruners import HyperbandPruner
    from optuna.trial import FrozenTrial

NO_BRACKET = -1


def build_hyperband(study: "Study", *, min_resource: int) -> "HyperbandPruner":
    """A pruner with brackets by the places of trials; those that were interrupted are in none.

    Args:
        study: whose first complete trial tells the most epochs; where there is none, the first of
            this process does.
        min_resource: epochs before a trial may be pruned.
    """
    from optuna.pruners import HyperbandPruner  # noqa: PLC0415 - optional
    from optuna.trial import TrialState  # noqa: PLC0415 - optional

    class ByPlace(HyperbandPruner):
        def _get_bracket_id(self, study: "Study", trial: "FrozenTrial") -> int:
            if trial.state == TrialState.FAIL:
                return NO_BRACKET
            placed = copy(trial)
            placed.number = place_of(trial)
            return super()._get_bracket_id(study, placed)

    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    steps = [trial.last_step for trial in complete if trial.last_step is not None]
    return ByPlace(min_resource, steps[0] + 1 if steps else "auto")
