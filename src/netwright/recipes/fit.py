"""`fit`: from a model and data, by name or in person, to a run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import nn

from netwright.core.checks import nearest
from netwright.core.config import Config, describe, parse
from netwright.core.devices import device_of, pick_device
from netwright.core.errors import ConfigError
from netwright.core.learner import Learner
from netwright.core.seeding import derive_seed, seeded
from netwright.core.storage import write_json, write_text
from netwright.data.dataset import Data, check_data
from netwright.models.catalog import MODELS
from netwright.models.model import check_fits
from netwright.recipes.environment import describe_environment
from netwright.recipes.first_batch import FirstBatch, try_first_batch
from netwright.recipes.gradient_fit import check_monitor, gradient_fit
from netwright.recipes.outcome import Outcome
from netwright.recipes.own_fit import own_fit
from netwright.recipes.recipe import Recipe, check_seed
from netwright.recipes.recipe_file import to_yaml
from netwright.recipes.run import Run
from netwright.recipes.run_folder import create_run_folder, save_model
from netwright.recipes.sources import load_source, settings_type
from netwright.train.callback import Callback
from netwright.train.evaluate import evaluate, evaluate_baseline
from netwright.train.settings import TrainConfig, pace_for
from netwright.train.tasks.catalog import task_for
from netwright.train.tasks.task import Task
from netwright.train.trainer import Trainer


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A recipe put together and tried on one batch; nothing is learned or written yet."""

    recipe: Recipe
    model: nn.Module
    data: Data
    task: Task
    first_batch: FirstBatch


def fit(
    model: str | Config | nn.Module = "mlp",
    data: Any = "digits",
    *,
    seed: int = 0,
    out: str | Path | None = None,
    callbacks: Sequence[Callback] = (),
    quiet: bool = False,
    **settings: Any,
) -> Run:
    """Train a model on data and leave a run folder.

    Args:
        model: a name ("mlp"), a config (`MLPConfig(hidden=(64,))`), or a module of your own.
        data: a name ("digits"), a path ("Default.csv"), (inputs, targets), a frame, or `Data`.
        seed: of weights, order and dropout; the same seed gives the same run, bit for bit.
        out: the run folder; by default the next free runs/MODEL-DATA-NNN.
        callbacks: your own, beside those that every run has.
        quiet: print nothing.
        **settings: of training (epochs, lr ...), of the model (hidden, dropout ...) or of the data
            (target, noise ...), each by its name.
    """
    prepared = prepare(model, data, seed=seed, **settings)
    return train(prepared, out=None if out is None else Path(out), extra=callbacks, quiet=quiet)


def prepare(
    model: str | Config | nn.Module, data: Any, *, seed: int = 0, **settings: Any
) -> Prepared:
    """Resolve names and settings, load the data, build the model, and try one batch."""
    return put_together(*resolve(model, data, seed=seed, **settings))


def resolve(
    model: str | Config | nn.Module, data: Any, *, seed: int = 0, **settings: Any
) -> tuple[Recipe, Data, nn.Module | None]:
    """The recipe of these names and settings, its data, and the user's own module if it is one."""
    check_seed(seed)
    name, kind = _model_type(model)
    own, for_data, for_train = _sort_settings(settings, kind, settings_type(data))
    train_config = parse(TrainConfig, for_train, "train")
    if own and not isinstance(model, str):
        raise ConfigError(f"{next(iter(own))!r} is given beside a model that is already configured")
    data_name, data_config, loaded = load_source(data, for_data)
    config = parse(kind, own, "model") if isinstance(model, str) and kind is not None else None
    recipe = Recipe(
        model=name,
        model_settings=model if isinstance(model, Config) else config,
        data=data_name,
        data_settings=data_config,
        train=train_config,
        seed=seed,
    )
    return recipe, loaded, model if isinstance(model, nn.Module) else None


def put_together(
    recipe: Recipe, data: Data, module: nn.Module | None = None, *, is_part: bool = False
) -> Prepared:
    """Build the recipe's model (or take the user's) for this data, and try one batch.

    Args:
        recipe: what to build.
        data: what to learn from.
        module: the user's own, for a recipe without a model.
        is_part: more rows will come, so these may be of one class.
    """
    check_data(data, is_part=is_part)
    rows = len(data.train)
    size = recipe.train.batch_size
    if size is not None and size > rows:
        raise ConfigError(
            f"batch_size {size} is more than the {rows} training rows of {data.name}; "
            f"give {rows} or less"
        )
    pace = pace_for(recipe.train, rows)
    chosen = replace(recipe.train, batch_size=pace.batch_size, epochs=pace.epochs)
    recipe = replace(recipe, train=chosen)
    if module is None:
        kind = MODELS.load(recipe.model)
        check_fits(kind, recipe.model, data.spec)
        with seeded(derive_seed(recipe.seed, "weights")):
            module = kind.build(recipe.model_settings, data.spec)
    module.to(pick_device(recipe.train.device))
    check_last_batch(module, rows, pace.batch_size)
    learns_by_itself = isinstance(module, Learner)
    balanced = recipe.train.class_weight == "balanced"
    task = task_for(data, balanced=balanced, scale_targets=not learns_by_itself)
    if not learns_by_itself:
        check_monitor(recipe.train, data, task)
        Trainer(recipe.train, task).start(module, data)  # refuses settings before a folder is made
    first = try_first_batch(module, data, task, pace.batch_size)
    return Prepared(recipe=recipe, model=module, data=data, task=task, first_batch=first)


def check_last_batch(module: nn.Module, rows: int, size: int) -> None:
    """Refuse a batch of one row where batch norm would have to find its spread."""
    normalises = any(isinstance(part, nn.BatchNorm1d) for part in module.modules())
    if not normalises or (size > 1 and rows % size != 1):
        return
    better = next(other for other in range(max(2, size - 1), rows + 1) if rows % other != 1)
    raise ConfigError(
        f"batch norm cannot normalise one row: batch_size {size} leaves a batch of one "
        f"of the {rows} training rows; give {better}"
    )


def train(
    prepared: Prepared,
    *,
    out: Path | None = None,
    extra: Sequence[Callback] = (),
    quiet: bool = False,
    keep_folder: bool = True,
) -> Run:
    """Let the prepared model learn, then measure it and write what is worth keeping.

    Ctrl-C and SIGTERM end training after the step at hand; the run is saved as usual, and then
    `KeyboardInterrupt` or `SystemExit` is raised.
    """
    recipe, model, data, task = prepared.recipe, prepared.model, prepared.data, prepared.task
    name = recipe.model or type(model).__name__
    folder = create_run_folder(out, name, data.name) if keep_folder else None
    config = recipe.to_mapping()
    device = pick_device(recipe.train.device)
    if folder is not None:
        write_text(folder / "config.yaml", to_yaml(config))
        write_json(folder / "env.json", describe_environment(device))
    if isinstance(model, Learner):
        outcome = own_fit(
            model, data, task, recipe.train, seed=recipe.seed, folder=folder, quiet=quiet
        )
    else:
        outcome = gradient_fit(
            model,
            data,
            task,
            recipe.train,
            seed=recipe.seed,
            folder=folder,
            extra=extra,
            quiet=quiet,
        )
    model.eval()
    results = _results(prepared, outcome)
    if folder is not None:
        save_model(folder, model, recipe, data, task)
        write_json(folder / "results.json", results)
    run = Run(
        model=model,
        spec=data.spec,
        task=task,
        preprocessor=data.preprocessor,
        results=results,
        history=outcome.history,
        config=config,
        folder=folder,
        data=data,
        guess=task.baseline(data.train),
    )
    if outcome.exit_code == 130:
        raise KeyboardInterrupt(f"the run is saved in {folder}" if folder else "nothing is saved")
    if outcome.exit_code:
        raise SystemExit(outcome.exit_code)
    return run


def _results(prepared: Prepared, outcome: Outcome) -> dict[str, Any]:
    """What the run is worth, beside the trivial baseline: on test, else on what there is."""
    data, task = prepared.data, prepared.task
    split = [name for name, _ in data.splits()][-1]
    examples = data.split(split).to(device_of(prepared.model))
    return {
        "format": 1,
        "status": outcome.status,
        "split": split,
        "rows": len(examples),
        "metrics": evaluate(prepared.model, examples, task),
        "baseline": evaluate_baseline(examples, task.baseline(data.train), task),
        "baseline_rule": task.describe_baseline(
            data.train, data.spec.class_names or data.spec.target_names
        ),
        "parameters": prepared.first_batch.parameters,
        "epochs": outcome.epochs,
        "best_epoch": outcome.best_epoch,
        "seconds": round(outcome.seconds, 3),
        "notes": list(data.notes),
    }


def _model_type(model: str | Config | nn.Module) -> tuple[str, type[Config] | None]:
    """The catalog's name and settings of what the caller calls a model."""
    if isinstance(model, str):
        return model, MODELS.load(model).settings
    if isinstance(model, nn.Module):
        return "", None
    for name in MODELS:
        if MODELS.load(name).settings is type(model):
            return name, type(model)
    raise ConfigError(
        f"model must be a name, a config of a model or an nn.Module, got {type(model).__name__}"
    )


def _sort_settings(
    settings: dict[str, Any], model: type[Config] | None, data: type[Config] | None
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Settings for the model, the data and training; each name belongs to one of them."""
    known = {
        part: [field.name for field in describe(kind)] if kind is not None else []
        for part, kind in (("model", model), ("data", data), ("train", TrainConfig))
    }
    sorted_out: dict[str, dict[str, Any]] = {"model": {}, "data": {}, "train": {}}
    for name, value in settings.items():
        parts = [part for part, names in known.items() if name in names]
        if not parts:
            everything = [name for names in known.values() for name in names]
            hint = nearest(name, everything) or f"; there are {', '.join(everything)}"
            raise ConfigError(f"unknown setting {name!r}{hint}")
        if len(parts) > 1:
            raise ConfigError(f"{name!r} is a setting of {' and of '.join(parts)}; use a recipe")
        sorted_out[parts[0]][name] = value
    return sorted_out["model"], sorted_out["data"], sorted_out["train"]
