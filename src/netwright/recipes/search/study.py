"""A study: the folder that a search leaves, and the object that tells what was found.

search.yaml      the recipe, the space and how it is searched
study.journal    every trial, as Optuna writes it; study.db with SQLite
trials.json      the same in plain values        best.yaml   the best recipe, to train with
report.html      the search on one page          locks/      which processes are at work
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netwright.core.errors import RunError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import write_json, write_text
from netwright.data.dataset import Data
from netwright.inspection.drawing.notebook import in_notebook
from netwright.inspection.drawing.page import table, text
from netwright.inspection.drawing.view import plain
from netwright.recipes.fitting.own_objects import NO_OBJECTS, OwnObjects
from netwright.recipes.fitting.training import train
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.plan.recipe_file import to_yaml
from netwright.recipes.plan.typed_settings import setting_words
from netwright.recipes.run.run import Run
from netwright.recipes.search.plan import SearchPlan
from netwright.recipes.search.space import Value, apply
from netwright.recipes.search.trial_result import TrialResult, read_trial

if TYPE_CHECKING:
    import optuna

FORMAT = 1
BEST, TRIALS = "best.yaml", "trials.json"


class Study:
    """Trials of a search, made by `nw.search`.

    Args:
        folder: where it lies.
        plan: what was searched.
        record: Optuna's own study.
        data: what was searched on.
        mine: what the user handed over in Python.
    """

    def __init__(
        self,
        folder: Path,
        plan: SearchPlan,
        record: "optuna.Study",
        data: Data,
        mine: OwnObjects = NO_OBJECTS,
    ) -> None:
        self.folder, self.plan, self.record = folder, plan, record
        self.data, self.mine = data, mine

    def __repr__(self) -> str:
        return f"Study({self.folder}: {self.sentence})"

    def __str__(self) -> str:
        tried = [", ".join(f"{k} {v}" for k, v in row.items()) for row in self.table_rows()]
        return "\n".join([self.sentence, *tried])

    def _repr_html_(self) -> str:
        tried = table(self.table_rows(), numbers=["trial", self.plan.metric])
        return in_notebook(text(self.sentence), tried)

    def table_rows(self) -> list[dict[str, str]]:
        """What came of each trial: its metric, or why it has none, and its settings."""
        return [
            {
                "trial": str(trial.number),
                self.plan.metric: trial.why if trial.value is None else f"{trial.value:.4g}",
                **{name: str(value) for name, value in readable(trial.settings).items()},
            }
            for trial in self.trials
        ]

    @property
    def trials(self) -> tuple[TrialResult, ...]:
        """All of them, by number; read anew each time, since other processes may add some."""
        return tuple(map(read_trial, self.record.get_trials(deepcopy=False)))

    @property
    def best(self) -> TrialResult:
        """The complete trial with the best value; the first of equals."""
        done = {trial.number: trial.value for trial in self.trials if trial.value is not None}
        if not done:
            reasons = [f": {trial.why}" for trial in self.trials if trial.why]
            raise RunError(f"{self.folder} has no complete trial{reasons[0] if reasons else ''}")
        choose = min if self.plan.is_lower_better else max
        return self.trials[choose(done, key=lambda number: done[number])]

    @property
    def best_value(self) -> float:
        """The best value of the metric, on the validation rows."""
        value = self.best.value
        return float("nan") if value is None else value

    @property
    def best_recipe(self) -> Recipe:
        """The recipe of the best trial, which trains to the same weights again."""
        return apply(self.plan.recipe, self.best.settings)

    @property
    def sentence(self) -> str:
        """How many trials there are, and the best of them."""
        counts = [trial.state for trial in self.trials]
        done = f"{counts.count('complete')} complete and {counts.count('pruned')} pruned trials"
        if "complete" not in counts:
            return done
        return f"{done}, best {self.plan.metric} {self.best_value:.6g} in trial {self.best.number}"

    def line(self, number: int) -> str:
        """What came of one trial, in one line."""
        trials = self.trials
        done = sum(trial.state in {"complete", "pruned"} for trial in trials)
        trial = trials[number]
        value = trial.why if trial.value is None else f"{self.plan.metric} {trial.value:.4g}"
        settings = ", ".join(setting_words(readable(trial.settings)))
        best = f"; best {self.best_value:.4g}" if has_file(self.folder / BEST) else ""
        return f"{done}/{self.plan.trials}  trial {number}: {value}{best}; {settings}"

    @property
    def command(self) -> str:
        """What trains the best recipe again; a line of Python where no command can."""
        is_typed = self.plan.is_typed
        return f"netwright train -c {self.folder / BEST}" if is_typed else "study.fit_best()"

    def best_rows(self) -> list[dict[str, str]]:
        """The settings of the best trial beside what was searched: one row a setting."""
        best = readable(self.best.settings)
        return [
            {"setting": name, "best": str(best[name]), "searched": values.text}
            for name, values in self.plan.space.items()
        ]

    def fit_best(self, *, out: str | Path | None = None, quiet: bool = False) -> Run:
        """Train the best recipe, and leave a run folder."""
        prepared = self.mine.prepare(self.best_recipe, self.data)
        return train(prepared, out=None if out is None else Path(out), quiet=quiet)

    def to_json(self) -> dict[str, Any]:
        """The best trial and all others, as plain values."""
        best = self.best
        return {
            "format": FORMAT,
            "metric": self.plan.metric,
            "best": best.number,
            "best_value": best.value,
            "trials": plain(self.trials),
        }

    def write(self) -> None:
        """Write `trials.json`, and `best.yaml` where a trial is complete."""
        trials = self.trials
        write_json(self.folder / TRIALS, {"format": FORMAT, "trials": plain(trials)})
        if any(trial.state == "complete" for trial in trials):
            write_text(self.folder / BEST, to_yaml(self.best_recipe.to_mapping()))


def readable(settings: Mapping[str, Value]) -> dict[str, Value]:
    """Numbers with four digits: for the eye, not to train with."""
    return {
        name: float(f"{value:.4g}") if isinstance(value, float) else value
        for name, value in settings.items()
    }
