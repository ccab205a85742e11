"""`cross_validate`: train a recipe k times, each time measured on the fold that it did not see.

Source: Stone, "Cross-Validatory Choice and Assessment of Statistical Predictions" (1974); Kohavi,
"A study of cross-validation and bootstrap for accuracy estimation" (1995), for stratified folds.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from torch import Tensor

from netwright.core.config import Config, describe, parse
from netwright.core.errors import ConfigError, DataError, NetwrightError
from netwright.core.learner import Learner
from netwright.core.seeding import seeded
from netwright.core.terminal.console import print_message
from netwright.data.spec import DataSpec
from netwright.data.split import hold_out, k_folds
from netwright.data.tables.frames import is_frame
from netwright.models.catalog import MODELS
from netwright.models.ensembles.ensemble import Ensemble, Member
from netwright.recipes.fitting.fit import resolve
from netwright.recipes.fitting.own_model import build_own_model
from netwright.recipes.fitting.own_objects import NO_OBJECTS, OwnObjects
from netwright.recipes.fitting.track_rows import check_untracked
from netwright.recipes.fitting.training import train
from netwright.recipes.judging.cross_validation import CrossValidation, Fold
from netwright.recipes.judging.folds import FoldableData, foldable
from netwright.recipes.plan.chosen_metric import choose_metric
from netwright.recipes.plan.given_settings import given_to
from netwright.recipes.plan.named_recipe import OwnModel
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.plan.sources import settings_type
from netwright.train.own.parts import check_copied, take_all_own
from netwright.train.tasks.catalog import task_for


def cross_validate(
    model: str | Config | OwnModel = "mlp",
    data: Any = "digits",
    *,
    folds: int = 5,
    repeats: int = 1,
    seed: int = 0,
    stratify: bool | None = None,
    metric: str | None = None,
    quiet: bool = False,
    **settings: Any,
) -> CrossValidation:
    """Measure a recipe on every row, each time by a model that did not learn from it.

    All rows are divided, those too that `nw.fit` would hold out; only a test split that comes with
    the data (MNIST's, a table's split column, `Data` with a test) is kept out and not looked at.
    Inputs are encoded by each fold's own training rows. A model that learns by gradients keeps the
    share `val_size` of them to choose its best epoch by, as in `nw.fit`; a model with a rule of its
    own, and an ensemble of such models, learns from all of them.

    Args:
        model: a name, a config, a module of your own, which starts every fold as it is, or a class
            or function that makes one.
        data: what `nw.fit` takes.
        folds: k; as many as there are rows is leave-one-out.
        repeats: how often the rows are divided anew, under the next seed.
        seed: of the first division, and of weights, order and dropout.
        stratify: whether every fold has each class's share; by default where there are classes.
        metric: a name in `nw.metrics.METRICS`; by default the task's own, accuracy or rmse.
        quiet: print nothing.
        **settings: of training, of the model or of the data, as for `nw.fit`, and objects of your
            own: a loss, metrics, an optimizer's class, a training_step ...
    """
    own, settings = take_all_own(settings)
    check_copied(own, "cross_validate")
    check_untracked(settings, "cross_validate")
    recipe, loaded, _ = resolve(model, data, seed=seed, **settings)
    config = frame_settings(data, settings) if is_frame(data) else recipe.data_settings
    return cross_validate_recipe(
        recipe,
        foldable(data, config, loaded),
        OwnObjects(None if isinstance(model, str | Config) else model, own),
        folds=folds,
        repeats=repeats,
        stratify=stratify,
        metric=metric,
        quiet=quiet,
    )


def cross_validate_recipe(
    recipe: Recipe,
    rows: FoldableData,
    mine: OwnObjects = NO_OBJECTS,
    *,
    folds: int = 5,
    repeats: int = 1,
    stratify: bool | None = None,
    metric: str | None = None,
    quiet: bool = False,
) -> CrossValidation:
    """The same for a recipe whose data is at hand; see `cross_validate`."""
    _check_counts(rows, folds, repeats)
    if stratify and rows.classes is None:
        raise ConfigError(f"stratify is for classification, {rows.data.name} has no classes")
    if stratify and rows.groups is not None:
        raise ConfigError("stratify cannot be kept where rows are in groups: leave it out")
    classes = None if stratify is False or rows.groups is not None else rows.classes
    recipe = replace(recipe, own=mine.parts.names)
    own_rule = _learns_by_rules(recipe, mine.model, rows.data.spec)
    chosen = choose_metric(metric, task_for(rows.data))
    done: list[Fold] = []
    for repeat in range(1, repeats + 1):
        again = replace(recipe, seed=recipe.seed + repeat - 1)
        divided = k_folds(rows.count, folds, seed=again.seed, classes=classes, groups=rows.groups)
        for place, (learned, held_out) in enumerate(divided, start=1):
            parts = (*_keep_back(learned, rows, again.seed, classes, own_rule), held_out)
            done.append(_measure(again, rows, mine, parts, (repeat, place)))
            score = done[-1].metrics.get(chosen.name)
            if score is None:
                raise DataError(
                    f"{chosen.name} has no value on the {len(held_out)} rows of fold {place}"
                )
            if not quiet:
                told = f"{chosen.name} {score:.4g} ({done[-1].seconds:.1f} s)"
                print_message(f"{len(done)}/{folds * repeats}  {told}")
    return CrossValidation(
        recipe=recipe.to_mapping(),
        data=rows.data.name,
        rows=rows.count,
        metric=chosen.name,
        better=chosen.better,
        stratified=classes is not None,
        folds=tuple(done),
        notes=rows.notes,
    )


def _learns_by_rules(recipe: Recipe, model: OwnModel | None, spec: DataSpec) -> bool:
    """Whether nothing in the model learns by gradients, so that there is no epoch to choose."""
    module = None if model is None else build_own_model(model, spec, recipe.seed)
    kind = MODELS.load(recipe.model) if module is None else type(module)
    if not issubclass(kind, Ensemble):
        return issubclass(kind, Learner)
    if module is None:
        with seeded(recipe.seed):
            module = kind.build(recipe.model_settings, spec)
    members = cast(Ensemble, module).members
    return all(isinstance(cast(Member, member).model, Learner) for member in members)


def _keep_back(
    learned: Tensor, rows: FoldableData, seed: int, classes: Tensor | None, own_rule: bool
) -> tuple[Tensor, Tensor]:
    """Of the rows to learn from, those to train on and those to choose the best epoch by."""
    train, val, _ = hold_out(
        len(learned),
        val_size=0.0 if own_rule else rows.val_share,
        test_size=0.0,
        seed=seed,
        classes=None if classes is None else classes[learned],
        groups=None if rows.groups is None else rows.groups[learned],
    )
    return learned[train], learned[val]


def _measure(
    recipe: Recipe,
    rows: FoldableData,
    mine: OwnObjects,
    parts: tuple[Tensor, Tensor, Tensor],
    place: tuple[int, int],
) -> Fold:
    """Train on a fold's rows and measure on those that it holds out."""
    repeat, fold = place
    try:
        prepared = mine.prepare(recipe, rows.build(*parts))
        if prepared.task.unmeasured:
            raise ConfigError(f"there is nothing to measure: {prepared.task.unmeasured}")
        results = train(prepared, quiet=True, keep_folder=False).results
    except NetwrightError as error:
        raise type(error)(f"repeat {repeat}, fold {fold}: {error}") from error
    training, val, held_out = parts
    return Fold(
        repeat=repeat,
        fold=fold,
        trained_on=len(training) + len(val),
        held_out=len(held_out),
        metrics=results["metrics"],
        baseline=results["baseline"],
        seconds=results["seconds"],
    )


def _check_counts(rows: FoldableData, folds: int, repeats: int) -> None:
    for name, value, least in (("folds", folds, 2), ("repeats", repeats, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ConfigError(f"{name} must be an integer of at least {least}, got {value!r}")
    if folds > rows.count:
        raise ConfigError(
            f"folds must be at most the {rows.count} rows of {rows.data.name}, got {folds}"
        )


def frame_settings(data: Any, settings: Mapping[str, Any]) -> Config | None:
    """The settings of a frame, which no recipe holds."""
    given = given_to("data", settings)
    kind = settings_type(data, given)
    if kind is None:
        return None
    names = {field.name for field in describe(kind)}
    return parse(kind, {k: v for k, v in given.items() if k in names}, "data")
