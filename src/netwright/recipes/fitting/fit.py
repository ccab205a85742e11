"""`fit`: from a model and data, by name or in person, to a run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from netwright.core.adapted_module import Place
from netwright.core.checks import check_no_nul
from netwright.core.config import Config
from netwright.core.devices import pick_device
from netwright.core.errors import ConfigError, DataError
from netwright.core.learner import Learner
from netwright.core.seeding import derive_seed, in_turn, torch_seeded
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Data, check_data
from netwright.data.given.given import with_splits
from netwright.models.catalog import MODELS
from netwright.models.dry_build import check_size
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.fitting.adapting import adapt
from netwright.recipes.fitting.ensemble_fit import prepare_ensemble
from netwright.recipes.fitting.first_batch import (
    FirstBatch,
    check_last_batch,
    normalisable_size,
    try_first_batch,
)
from netwright.recipes.fitting.first_own_step import try_first_step
from netwright.recipes.fitting.gradient_fit import check_monitor
from netwright.recipes.fitting.own_model import build_own_model
from netwright.recipes.fitting.own_module import check_complex, check_own_module
from netwright.recipes.fitting.own_task import own_task
from netwright.recipes.fitting.prepared import Prepared
from netwright.recipes.fitting.ready_batches import fit_to_module
from netwright.recipes.fitting.training import train
from netwright.recipes.plan.convex_training import choose_optimizer, goes_to_optimum, start_at_zero
from netwright.recipes.plan.model_fit import check_model_fits
from netwright.recipes.plan.named_recipe import OwnModel, change_recipe, model_type, name_recipe
from netwright.recipes.plan.recipe import DEFAULTS, Recipe, starting_from
from netwright.recipes.plan.sources import (
    check_readable,
    load_configured,
    load_source,
    text_settings,
)
from netwright.recipes.plan.unused_settings import check_callbacks, unused_settings
from netwright.recipes.run.run import Run
from netwright.recipes.saved.load_recipe import ready_recipe
from netwright.recipes.saved.resume import AUTO, NEVER
from netwright.recipes.saved.run_data import resumed_data
from netwright.recipes.saved.take_vectors import with_file_sum
from netwright.train.callback import Callback, Hook, read_callbacks
from netwright.train.engines.catalog import build_device, rows_tried
from netwright.train.own.metrics import read_metrics
from netwright.train.own.optimizer import Grouping
from netwright.train.own.parts import NO_PARTS, OwnParts, take_own
from netwright.train.own_step import TrainingStep
from netwright.train.settings import pace_of
from netwright.train.tasks.task import Task
from netwright.train.trainer import Trainer


@in_turn  # with its data: a Dataset of one's own is read under a seed, too
def fit(  # noqa: PLR0913 - the one door, with a name for each question
    model: str | Config | OwnModel | Recipe = "mlp",
    data: Any = None,
    *,
    validation: Any = None,
    test: Any = None,
    groups: Any = None,
    seed: int | None = None,
    out: str | Path | None = None,
    resume: str | Path = "never",
    allow: str | Sequence[str] = (),
    start_from: str | Path | Run = "",
    callbacks: Sequence[Callback | Hook] | Mapping[str, Hook] = (),
    output: Place | None = None,
    metrics: Any = (),
    parameter_groups: Grouping | None = None,
    training_step: TrainingStep | None = None,
    quiet: bool = False,
    save: bool = True,
    **settings: Any,
) -> Run:
    """Train a model on data and leave a run folder, or with `save=False` nothing but the run.

    Calls in several threads take turns, since all draw from the same generators.

    Args:
        model: a name ("mlp"), a config (`MLPConfig(hidden=(64,))`), a module of your own, a class
            or function that makes one, of nothing or of a `DataSpec`, or a whole recipe
            ("ready/mnist-cnn", `nw.load_recipe("recipe.yaml")`), which names its data.
        data: a name ("digits", which is the default), a path ("Default.csv"), a frame, (inputs,
            targets[, weights]), a torch or Hugging Face `Dataset`, a `DataLoader` (its batches are
            taken as they are), texts, or `Data`. Inputs are arrays, a tuple or dict of them, a
            sparse matrix, a frame, texts, or pillow images or paths of images in a list.
        validation: rows to choose the best epoch by, in the form of `data`; then every row of
            `data` is learned from, unless `test_size` is set too.
        test: rows to report on, in the form of `data`; then none of `data` are held out for it.
        groups: of each row of `data` (N,), or the column of a table that names it: rows of one
            group are never in two splits.
        seed: of weights, order and dropout; the same seed gives the same run, bit for bit. By
            default the recipe's, or 0.
        out: the run folder; by default the next free runs/MODEL-DATA-NNN.
        resume: "never"; "auto": go on in `out`, or in the newest unfinished run of the same
            recipe, and begin where there is none; or the folder of a run or checkpoint to go on in.
        allow: conditions that may have changed since the checkpoint ("batch_size", "data" ...).
        start_from: a run, or a .safetensors file, whose weights are the first ones of this new
            run; the last part may have other outputs, and is then a new one.
        callbacks: your own, beside those that every run has: objects, functions that have the name
            of an event, or a dict, `{"on_epoch_end": function of the state}`.
        output: where a module of your own returns a tuple, dict or dataclass, the place, key or
            field of its prediction; by default `logits`, `output` or `pred`, or the only tensor
            that it can be; without targets the one of the inputs' shape, else the first.
        metrics: beside those of the table: functions of (predictions, targets), scikit-learn's
            metrics and scorers, torchmetrics' objects; a list, or by name. They stand in results
            and report, and may be watched: `monitor="val/NAME"`.
        parameter_groups: a function of the module that gives the groups of parameters, with
            settings of their own, for its optimizer.
        training_step: a function of (module, batch) that returns the loss; or yields pairs of a
            name and a loss, for an optimizer by name each. batch has inputs, targets and weights.
        quiet: print nothing.
        save: False trains in memory and writes nothing; `run.save(folder)` may do so afterwards.
        **settings: of training (epochs, lr ...), of the model (hidden, dropout ...) or of the data
            (target, noise ...), each by its name; where two sections have a name, by its exact
            one: `**{"model.kernel": 5}`. `loss` may be a function of (output, targets), or "model":
            a module of your own is called with labels and computes it. `optimizer` may be a class,
            a function of parameters, an instance or one of these for each child by name,
            `schedule` a function of the optimizer that gives one of torch's schedulers.
            `train=nw.TrainConfig(...)` is training as a whole. With text="sentence" a table or
            a frame is one that has a text in each row, in this column.
    """
    for name, place in {"out": out, "resume": resume, "start_from": start_from}.items():
        check_no_nul(name, place)
    check_one_beginning(resume, start_from)
    _check_save(save, out, resume, settings)
    extra = read_callbacks(callbacks)
    given = with_splits(data, validation, test, groups)
    own, settings = take_own(
        settings,
        output=output,
        metrics=read_metrics(metrics),
        parameter_groups=parameter_groups,
        training_step=training_step,
    )
    prepared = _prepared(model, given, seed, run_path(start_from), settings, own, resume)
    check_callbacks(prepared.model, prepared.recipe.model, extra)
    return train(
        prepared,
        out=None if out is None else Path(out),
        resume=resume,
        allow=allow,
        extra=extra,
        quiet=quiet,
        keep_folder=save,
    )


def prepare(
    model: str | Config | OwnModel,
    data: Any,
    *,
    seed: int = 0,
    own: OwnParts = NO_PARTS,
    **settings: Any,
) -> Prepared:
    """Resolve names and settings, load the data, build the model, and try one batch."""
    return _prepared(model, data, seed, "", settings, own)


def _prepared(
    model: str | Config | OwnModel | Recipe,
    data: Any,
    seed: int | None,
    start_from: str,
    settings: dict[str, Any],
    own: OwnParts = NO_PARTS,
    resume: str | Path = NEVER,
) -> Prepared:
    model = ready_recipe(model) if data is None and isinstance(model, str) else model
    if isinstance(model, Recipe):
        if data is not None:
            raise ConfigError(f"{model!r} names its data: leave out data, or give a model's name")
        recipe = change_recipe(model, seed=seed, **settings)
        recipe = starting_from(recipe, start_from or recipe.start_from)
        return put_together(
            recipe, resumed_data(recipe, resume) or load_configured(recipe), own=own
        )
    data = DEFAULTS["data"]["name"] if data is None else data
    name = model_type(model)[0]
    settings = {**text_settings(name, data, settings, start_from), **settings}
    check_readable(name, data, settings)
    recipe, loaded, module = resolve(model, data, seed=0 if seed is None else seed, **settings)
    loaded = resumed_data(recipe, resume) or loaded
    return put_together(replace(recipe, start_from=start_from), loaded, module, own=own)


def resolve(
    model: str | Config | OwnModel, data: Any, *, seed: int = 0, **settings: Any
) -> tuple[Recipe, Data, nn.Module | None]:
    """The recipe of these names and settings, its data, and the user's own module if it is one."""
    recipe, given = name_recipe(model, data, seed=seed, **settings)
    name, config, loaded = load_source(data, given)
    recipe = replace(recipe, data=name, data_settings=config)
    if isinstance(model, str | Config):
        return recipe, loaded, None
    module = model if isinstance(model, nn.Module) else build_own_model(model, loaded.spec, seed)
    return recipe, loaded, module


@in_turn
def put_together(
    recipe: Recipe,
    data: Data,
    module: nn.Module | None = None,
    *,
    own: OwnParts = NO_PARTS,
    is_part: bool = False,
    rehearses: bool = True,
) -> Prepared:
    """Build the recipe's model (or take the user's) for this data, and try one batch.

    Args:
        recipe: what to build.
        data: what to learn from.
        module: the user's own, for a recipe without a model.
        own: what else the user handed over.
        is_part: more rows will come, so these may be of one class.
        rehearses: refuse settings of training now, before a folder is made; else the trainer does.
    """
    is_loader = isinstance(data.train, SourceSplit)
    check_data(data, is_part=is_part or is_loader)
    rows = data.train.total
    size = recipe.train.batch_size
    if size is not None and size > rows and not is_loader:
        raise ConfigError(
            f"batch_size {size} is more than the {rows} training rows of {data.name}; use {rows} "
            f"or fewer"
        )
    module = _module(recipe, data, module, own)
    data = fit_to_module(data, module, recipe)
    learns_by_itself = isinstance(module, Learner | Ensemble)
    task = own_task(recipe, data, module, own)
    recipe = replace(recipe, own=own.names, model_settings=with_file_sum(recipe.model_settings))
    if not learns_by_itself:
        if own.optimizer is None and own.training_step is None:
            recipe = replace(recipe, train=choose_optimizer(recipe.train, module, task, data))
        if goes_to_optimum(recipe.train, module, task, data):
            start_at_zero(module)
    pace = pace_of(recipe.train, data.train)
    if recipe.train.batch_size is None and not is_loader:
        size = normalisable_size(module, data, pace.batch_size)
        if size != pace.batch_size:
            recipe = replace(recipe, train=replace(recipe.train, batch_size=size))
            pace = pace_of(recipe.train, data.train)
    size = pace.batch_size
    check_last_batch(module, data, size)
    if not learns_by_itself:
        epochs = pace.epochs if pace.last_step is None else None
        recipe = replace(recipe, train=replace(recipe.train, batch_size=size, epochs=epochs))
        check_monitor(recipe.train, data, task)
    first = _try_out(recipe, data, module, task, own, size, rehearses=rehearses)
    prepared = Prepared(
        recipe=recipe,
        model=module,
        data=data,
        task=task,
        own=own,
        first_batch=first,
        unused=unused_settings(recipe.train) if learns_by_itself else (),
    )
    return prepare_ensemble(prepared, put_together) if isinstance(module, Ensemble) else prepared


def _try_out(
    recipe: Recipe,
    data: Data,
    module: nn.Module,
    task: Task,
    own: OwnParts,
    size: int,
    *,
    rehearses: bool,
) -> FirstBatch:
    """The settings of training, then one batch, or one step of the caller's own."""
    learns_by_itself = isinstance(module, Learner | Ensemble)
    if not learns_by_itself and (rehearses or own.training_step is not None):
        state = Trainer(recipe.train, task, own=own).rehearse(module, data)
        if own.training_step is not None:
            return try_first_step(module, data, own.training_step, state.optimizer, size)
    goes_back = not recipe.model and not learns_by_itself
    rows = rows_tried(recipe.train.parallel, pick_device(recipe.train.device), size)
    return try_first_batch(module, data, task, rows, goes_back=goes_back)


def _module(recipe: Recipe, data: Data, module: nn.Module | None, own: OwnParts) -> nn.Module:
    """The model of the recipe's name, or the user's own as it will be called, on its device."""
    device = build_device(recipe.train.parallel, pick_device(recipe.train.device))
    if module is not None:
        check_own_module(module)
        check_complex(module, recipe.train)
        return adapt(module.to(device), data, own.output, gives_whole=own.wants_whole)
    if own.output is not None:
        raise ConfigError(f"{recipe.model} returns one tensor: remove output={own.output!r}")
    kind = MODELS.load(recipe.model)
    check_model_fits(recipe.model, data.spec)
    try:
        check_size(lambda: kind.build(recipe.model_settings, data.spec))
        with torch_seeded(derive_seed(recipe.seed, "weights")):
            return kind.build(recipe.model_settings, data.spec).to(device)
    except (RuntimeError, MemoryError, DataError) as error:  # there is no room for it
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"{recipe.model} cannot be built: {reason:.200}") from None


def check_one_beginning(resume: str | Path, start_from: object) -> None:
    """Refuse two answers to the question where the weights come from."""
    if start_from and resume not in {AUTO, NEVER}:
        raise ConfigError("a resumed run has its own weights: give resume or from, not both")


def _check_save(
    save: bool, out: str | Path | None, resume: str | Path, settings: dict[str, Any]
) -> None:
    """Refuse a folder for a run that is to leave none."""
    if not isinstance(save, bool):
        raise ConfigError(f"save must be True or False, got {save!r}; a folder is given by out")
    folders = {"out": out is not None, "resume": resume != NEVER}
    folders |= {name: bool(settings.get(name)) for name in ("track", "profile")}
    for name, is_given in folders.items():
        if is_given and not save:
            raise ConfigError(f"save=False trains without a run folder: drop the argument {name!r}")


def run_path(run: str | Path | Run) -> str:
    """The folder of a run, or a file of weights, in full; empty for none."""
    if isinstance(run, Run):
        if run.folder is None:
            raise ConfigError(
                "a run kept in memory has no folder to start from: save it with run.save(folder)"
            )
        run = run.folder
    return str(Path(run).resolve()) if str(run) else ""
