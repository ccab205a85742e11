"""`search`: try settings of a recipe, and keep those that do best on the validation rows.

The test rows have no part in it: they are set aside before the first trial.

Source: Bergstra et al., "Algorithms for Hyper-Parameter Optimization" (2011), for the sampler; Li
et al., "Hyperband" (2018), for stopping early.
"""

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netwright.core.config import Config
from netwright.core.errors import ConfigError, DataError
from netwright.core.learner import Learner
from netwright.core.terminal.console import print_message
from netwright.core.time_span import read_time_limit
from netwright.data.dataset import Data
from netwright.data.fingerprint import fingerprint
from netwright.data.given.given import take_splits
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.fitting.fit import resolve
from netwright.recipes.fitting.own_objects import NO_OBJECTS, OwnObjects
from netwright.recipes.fitting.prepared import Prepared
from netwright.recipes.plan.chosen_metric import choose_metric
from netwright.recipes.plan.named_recipe import OwnModel
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.plan.sources import load_configured
from netwright.recipes.search.folder import enter_search_folder
from netwright.recipes.search.plan import SearchPlan, read_plan
from netwright.recipes.search.report import write_search_report
from netwright.recipes.search.server import telling_of_server
from netwright.recipes.search.space import Value, apply, count_cells, read_space, usual_space
from netwright.recipes.search.storage import import_optuna
from netwright.recipes.search.study import Study
from netwright.recipes.search.trial_queue import TrialQueue, Tried
from netwright.recipes.search.trial_training import TrialTraining
from netwright.train.own.parts import check_copied, take_all_own
from netwright.train.tasks.catalog import task_for
from netwright.train.tasks.task import Task

if TYPE_CHECKING:
    from optuna.trial import Trial

TRIALS = 20
Objective = Callable[["Trial", Mapping[str, Value]], Tried | None]


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """How a search is to be done; see `search`."""

    space: str | Sequence[str] | Mapping[str, Any] | None = None
    trials: int = TRIALS
    metric: str = "val/loss"
    sampler: str = "tpe"
    pruner: str | None = None
    storage: str = "journal"
    seed: int = 0


def search(  # noqa: PLR0913 - the one door, with a name for each question
    model: str | Config | OwnModel = "mlp",
    data: Any = "digits",
    *,
    space: Mapping[str, Any] | Sequence[str] | str | None = None,
    trials: int = TRIALS,
    metric: str = "val/loss",
    sampler: str = "tpe",
    pruner: str | None = None,
    storage: str = "journal",
    max_time: float | str | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    quiet: bool = False,
    **settings: Any,
) -> Study:
    """Search settings of a recipe, and leave a folder that can be joined and resumed.

    Args:
        model: a name, a config, a module of your own, or a class or function that makes one.
        data: what `nw.fit` takes; it needs validation rows, its own or those of `validation`.
        space: {"train.lr": "log:1e-4..1e-1", "model.hidden": [(64,), (128, 64)]}; by default what
            is usual for the model.
        trials: how many are finished in the end, by all processes together; fewer where the space
            has no more.
        metric: "val/loss", "val/accuracy" ...
        sampler: "tpe" learns from the trials before, "random" does not, "grid" tries everything.
        pruner: "median", "hyperband" or "none"; by default median, where epochs are measured.
        storage: "journal" or "sqlite", files of the folder; or "postgresql://USER@HOST/DATABASE",
            by which machines that share no folder make one and the same search together. Its
            password is PostgreSQL's: PGPASSWORD or ~/.pgpass.
        max_time: seconds, or "10m"; the trial at hand is then cut short, and queued for the next
            time.
        seed: of weights, order and dropout in every trial, and of the sampler.
        out: the folder; where it holds this very search, it is joined. By default the next free
            searches/MODEL-DATA-NNN.
        quiet: print nothing.
        **settings: of training, of the model or of the data, as for `nw.fit`, and objects of your
            own: a loss, an optimizer's class, a training_step ...
    """
    own, settings = take_all_own(settings)
    check_copied(own, "search")
    data, settings = take_splits(data, settings)
    recipe, loaded, _ = resolve(model, data, seed=seed, **settings)
    mine = OwnObjects(None if isinstance(model, str | Config) else model, own)
    asked = SearchRequest(
        space=space,
        trials=trials,
        metric=metric,
        sampler=sampler,
        pruner=pruner,
        storage=storage,
        seed=seed,
    )
    place = None if out is None else Path(out)
    return start_search(recipe, loaded, asked, mine, out=place, max_time=max_time, quiet=quiet)


def start_search(
    recipe: Recipe,
    data: Data,
    asked: SearchRequest,
    mine: OwnObjects = NO_OBJECTS,
    *,
    out: Path | None = None,
    max_time: float | str | None = None,
    quiet: bool = False,
) -> Study:
    """Search around a recipe in a new folder, or in one that holds this very search."""
    seconds = read_time_limit(max_time)
    plan = plan_search(recipe, data, asked, mine)
    folder = enter_search_folder(out, plan, data.name)
    return run_search(folder, plan, data, mine, max_time=seconds, quiet=quiet)


def resume_search(
    folder: Path,
    *,
    trials: int | None = None,
    storage: str | None = None,
    max_time: float | str | None = None,
    quiet: bool = False,
) -> Study:
    """Go on with the search of a folder, also beside other processes.

    Args:
        folder: what a search has left.
        trials: how many are finished in the end; by default as many as before.
        storage: the address of the server that keeps the trials, where one does: the folder may
            be a stranger's, and connects to nothing by itself.
        max_time: seconds, or "10m".
        quiet: print nothing.
    """
    seconds = read_time_limit(max_time)
    import_optuna()
    plan = read_plan(folder)
    if storage != (plan.storage if plan.on_server else None):
        given = f"give --storage {shlex.quote(plan.storage)}"
        wanted = given if plan.on_server else "leave out --storage"
        raise ConfigError(f"{folder} keeps its trials with storage {plan.storage}: {wanted}")
    data = load_configured(plan.recipe)
    now = replace(plan, data=digests(data), trials=plan.trials if trials is None else trials)
    return run_search(
        enter_search_folder(folder, now, data.name), now, data, max_time=seconds, quiet=quiet
    )


def plan_search(
    recipe: Recipe, data: Data, asked: SearchRequest, mine: OwnObjects = NO_OBJECTS
) -> SearchPlan:
    """Resolve and refuse everything before the first trial, at the ends of the space too."""
    import_optuna()
    if data.val is None:
        raise DataError(f"a search needs a val split, {data.name} has none")
    prepared = mine.prepare(recipe, data)
    if prepared.task.unmeasured:
        raise ConfigError(f"a search needs a measure to choose by, but {prepared.task.unmeasured}")
    own_rule = isinstance(prepared.model, Learner | Ensemble)  # it reports nothing on its way
    task = task_for(data)
    _check_metric(asked.metric, task)
    space = (
        usual_space(recipe, len(data.train))
        if asked.space is None
        else read_space(asked.space, recipe)
    )
    if not space:
        raise ConfigError("the search space is empty")
    for name, values in space.items():
        for end in values.ends:
            tried = mine.prepare(apply(recipe, {name: end}), data)
            _check_used(name, tried)
    return SearchPlan(
        recipe=replace(recipe, own=mine.parts.names),
        space=space,
        metric=asked.metric,
        trials=asked.trials,
        sampler=asked.sampler,
        pruner=_choose_pruner(asked, task, own_rule),
        storage=asked.storage,
        seed=asked.seed,
        data=digests(data),
    )


def digests(data: Data) -> dict[str, Any]:
    """What tells these training and validation rows from others."""
    return {name: fingerprint(split) for name, split in data.splits() if name != "test"}


def run_search(
    folder: Path,
    plan: SearchPlan,
    data: Data,
    mine: OwnObjects = NO_OBJECTS,
    *,
    max_time: float | None = None,
    quiet: bool = False,
) -> Study:
    """Work on the search of a folder until its trials are done, or the time is up."""
    deadline = None if max_time is None else time.monotonic() + max_time
    server = f" --storage {shlex.quote(plan.storage)}" if plan.on_server else ""
    command = f"netwright search --resume {shlex.quote(str(folder))}{server}"
    if not quiet:
        help_us = f"; to add a worker from another terminal: {command}" if plan.is_typed else ""
        print_message(f"searching in {folder}{help_us}")
    go_on = command if plan.is_typed else f"the same nw.search, out={str(folder)!r}"
    with telling_of_server(plan.storage):
        queue = TrialQueue(folder, plan, quiet=quiet)
    study = Study(folder, plan, queue.study, data, mine)
    training = TrialTraining(plan=plan, data=replace(data, test=None), mine=mine, deadline=deadline)

    def told(number: int) -> None:
        with queue.guard:
            study.write()
        if not quiet:
            print_message(study.line(number))

    try:
        with telling_of_server(plan.storage):
            work(queue, training, told=told, is_over=lambda: training.is_late)
    except (KeyboardInterrupt, SystemExit):
        if not quiet:
            print_message(
                f"the study is saved, and the current trial is queued again; resume with: {go_on}"
            )
        raise
    if training.is_late and not quiet:
        over = f"the time limit of {max_time:g} s; the interrupted trial is queued again"
        print_message(f"{over}; resume with: {go_on}")
    cells = count_cells(plan.space)
    if cells is not None and cells < plan.trials and queue.is_exhausted and not quiet:
        print_message(
            f"the search space is exhausted: it has {cells} combinations, fewer than "
            f"{plan.trials} trials"
        )
    with queue.guard:
        study.write()
        write_search_report(study)
    return study


def work(
    queue: TrialQueue,
    objective: Objective,
    *,
    told: Callable[[int], None] = lambda number: None,
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Make trials until none is left, or it is over.

    Args:
        queue: hands them out.
        objective: (trial, settings) -> what came of it; None where it has to be made again.
        told: is called with the number of each trial that is finished.
        is_over: no more trials are begun.
    """
    with queue:
        while not is_over() and (taken := queue.take()) is not None:
            trial, settings = taken
            tried = None
            try:
                tried = objective(trial, settings)
            finally:
                if tried is None:
                    queue.give_back(trial)
            if tried is not None:
                queue.finish(trial, tried)
                told(trial.number)


def _check_used(name: str, tried: Prepared) -> None:
    """Refuse a setting of training that nothing in the model heeds, or that is an object's part."""
    section, key, *_ = name.split(".")
    if section == "train" and key in tried.own.names:
        raise ConfigError(f"{key} is one of your own: remove {name} from the search space")
    if section == "train" and key in tried.unused:
        model = tried.recipe.model or "the module"
        raise ConfigError(f"{model} does not use {key}: remove {name} from the search space")


def _check_metric(metric: str, task: Task) -> None:
    split, _, name = metric.partition("/") if isinstance(metric, str) else ("", "", "")
    if split != "val" or not name:
        raise ConfigError(
            f"a search optimises a validation metric: metric must be like val/loss, got {metric!r}"
        )
    if name != "loss":
        choose_metric(name, task)


def _choose_pruner(asked: SearchRequest, task: Task, own_rule: bool) -> str:
    """What was asked for, or median; only what is measured after every epoch can be judged."""
    watched = (f"val/{task.headline}", "val/loss")
    can_prune = not own_rule and asked.metric in watched
    if asked.pruner is None:
        return "median" if can_prune else "none"
    if asked.pruner != "none" and not can_prune:
        what = (
            "a model with its own learning rule has no epochs to prune by"
            if own_rule
            else f"{asked.metric} is not measured after every epoch, as {' and '.join(watched)} are"
        )
        raise ConfigError(f"{what}: pruner must be none, got {asked.pruner!r}")
    return asked.pruner
