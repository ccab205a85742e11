"""A search on one page: what is best, how to train it, how the search came to it."""

from pathlib import Path
from typing import Literal

from netwright.core.files.storage import write_text
from netwright.inspection.drawing.page import (
    Html,
    Page,
    code,
    folded,
    note,
    picture,
    table,
    text,
    tiles,
)
from netwright.inspection.drawing.wording import number
from netwright.inspection.training.search_history import SearchHistory, measure_search_history
from netwright.inspection.training.setting_effects import (
    SearchedSetting,
    SettingEffects,
    measure_setting_effects,
)
from netwright.recipes.plan.recipe_file import to_yaml
from netwright.recipes.plan.reproduce import without_folders
from netwright.recipes.search.space import Choices, Range, Value
from netwright.recipes.search.study import Study, readable
from netwright.recipes.search.trial_result import TrialResult

FILE = "report.html"
SHOWN = 20  # trials in the table
CAUTION = (
    "The best of many trials looks slightly better on the validation rows than it is, because it "
    "was selected on them. The test rows were not used in the search; train the best recipe to "
    "see its test score."
)


def write_search_report(study: Study) -> Path | None:
    """Write report.html into the study's folder; nothing where no trial is complete."""
    complete = [trial for trial in study.trials if trial.value is not None]
    if not complete:
        return None
    page = Page(f"Search: {study.plan.recipe.model or 'module'} on {study.data.name}")
    page.section(
        "Best", _tiles(study), table(study.best_rows()), code(study.command), note(CAUTION)
    )
    page.section("How it went", picture(history_view(study, complete)))
    page.section("Settings", picture(settings_view(study, complete)))
    page.section("Trials", *_trials_table(study, complete))
    recipe = without_folders(study.best_recipe.to_mapping())
    page.section("The best recipe", folded("best.yaml", code(to_yaml(recipe))))
    path = study.folder / FILE
    write_text(path, page.render())
    return path


def history_view(study: Study, complete: list[TrialResult]) -> SearchHistory:
    """The values in the order of trials."""
    return measure_search_history(
        {trial.number: trial.value for trial in complete if trial.value is not None},
        metric=study.plan.metric,
        better=_better(study),
        pruned=tuple(trial.number for trial in study.trials if trial.state == "pruned"),
    )


def settings_view(study: Study, complete: list[TrialResult]) -> SettingEffects:
    """The values against every setting."""
    return measure_setting_effects(
        [trial.value for trial in complete if trial.value is not None],
        [
            _searched(name, values, [trial.settings[name] for trial in complete])
            for name, values in study.plan.space.items()
        ],
        metric=study.plan.metric,
        better=_better(study),
    )


def _searched(name: str, values: Range | Choices, tried: list[Value]) -> SearchedSetting:
    if isinstance(values, Choices):
        places = tuple(float(values.values.index(str(one))) for one in tried)
        return SearchedSetting(name=name, values=places, choices=values.values)
    numbers = tuple(float(one) for one in tried)
    ends = (values.low, values.high)
    return SearchedSetting(
        name=name, values=numbers, ends=ends, is_log=values.is_log, is_whole=values.is_whole
    )


def _better(study: Study) -> Literal["higher", "lower"]:
    return "lower" if study.plan.is_lower_better else "higher"


def _tiles(study: Study) -> Html:
    trials = study.trials
    pruned = sum(trial.state == "pruned" for trial in trials)
    seconds = sum(trial.seconds or 0.0 for trial in trials)
    complete = sum(trial.state == "complete" for trial in trials)
    return tiles(
        [
            (f"best {study.plan.metric}", number(study.best_value), f"trial {study.best.number}"),
            ("trials", str(complete + pruned), f"{complete} complete, {pruned} pruned"),
            ("training", f"{seconds:,.0f} s", "in all trials"),
        ]
    )


def _trials_table(study: Study, complete: list[TrialResult]) -> list[Html]:
    ranked = sorted(complete, key=lambda trial: trial.value or 0.0)
    ranked = ranked if study.plan.is_lower_better else ranked[::-1]
    rows = [
        {
            "trial": str(trial.number),
            study.plan.metric: f"{trial.value:.6g}",
            **{name: str(value) for name, value in readable(trial.settings).items()},
            "epochs": "-" if trial.epochs is None else str(trial.epochs),
            "seconds": "-" if trial.seconds is None else f"{trial.seconds:.1f}",
        }
        for trial in ranked[:SHOWN]
    ]
    numbers = ["trial", study.plan.metric, "epochs", "seconds"]
    shown = text(f"The best {len(rows)} of {len(complete)} complete trials.")
    return [shown, table(rows, numbers=numbers)]
