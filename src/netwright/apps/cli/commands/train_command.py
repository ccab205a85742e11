"""`netwright train`: from names, files and settings to a run folder."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netwright.apps.cli.dry_run import show_dry_run
from netwright.apps.cli.learning_rate_table import show_learning_rates
from netwright.apps.cli.recipe_options import (
    DataName,
    DropMissingTarget,
    ModelName,
    RecipeFiles,
    Settings,
    SourceColumn,
    Target,
    Text,
)
from netwright.apps.cli.results_table import show_results, write_report
from netwright.apps.cli.typed_recipe import first_recipe, parse_seconds, typed_recipe

if TYPE_CHECKING:
    from netwright.recipes.fitting.prepared import Prepared
    from netwright.recipes.plan.recipe import Recipe


def train(  # noqa: PLR0913, PLR0917 - one argument an option
    context: typer.Context,
    model: ModelName = None,
    data: DataName = None,
    config: RecipeFiles = None,
    settings: Settings = None,
    target: Target = None,
    text: Text = None,
    source: SourceColumn = None,
    target_kind: Annotated[
        str | None, typer.Option(help="The kind of target: class, real or labels. (inferred)")
    ] = None,
    drop_missing_target: DropMissingTarget = False,
    epochs: Annotated[int | None, typer.Option(help="Passes over the data.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Examples per step.")] = None,
    optimizer: Annotated[str | None, typer.Option(help="Optimizer.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    weight_decay: Annotated[float | None, typer.Option(help="Weight decay.")] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            help="Early stopping: stop after this many evaluations without a better val/loss."
        ),
    ] = None,
    track: Annotated[
        str | None,
        typer.Option(help="Also write the run for tensorboard, wandb (offline) or mlflow."),
    ] = None,
    profile: Annotated[
        bool,
        typer.Option(
            "--profile",
            help="Profile some updates: time by part, FLOP utilisation, memory by kind.",
        ),
    ] = False,
    precision: Annotated[str | None, typer.Option(help="fp32, bf16-mixed or fp16-mixed.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda, cuda:N or mps.")] = None,
    max_steps: Annotated[
        int | None,
        typer.Option(help="Stop after this many updates; without --epochs, the length of the run."),
    ] = None,
    eval_every: Annotated[
        int | None,
        typer.Option(help="Updates between validations, in addition to those after epochs."),
    ] = None,
    max_time: Annotated[
        str | None, typer.Option(help="Stop after this time: 90s, 10m, 2h.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Random seed for weights, order and dropout. (0)")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The run folder. (the next runs/MODEL-DATA-NNN)")
    ] = None,
    resume: Annotated[
        str,
        typer.Option(
            metavar="auto|PATH|never",
            help="Resume exactly: auto for the unfinished run of this recipe, or a run folder.",
        ),
    ] = "never",
    allow: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="What may have changed since the checkpoint: batch_size, data ...",
        ),
    ] = "",
    start_from: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="RUN_OR_WEIGHTS",
            help="Initialise from the weights of a run or a .safetensors file.",
        ),
    ] = None,
    freeze: Annotated[
        str | None,
        typer.Option(
            metavar="PART", help="Freeze the model up to and including this part: layer3."
        ),
    ] = None,
    unfreeze_every: Annotated[
        int | None,
        typer.Option(help="Unfreeze one more part every so many epochs."),
    ] = None,
    layer_decay: Annotated[
        float | None,
        typer.Option(help="Each part's learning rate, as a fraction of the next part's."),
    ] = None,
    nproc: Annotated[
        int, typer.Option(help="Data-parallel processes, each with a part of every batch.")
    ] = 1,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show shapes, one batch and the cost, without training."),
    ] = False,
    find_lr: Annotated[
        bool,
        typer.Option("--find-lr", help="Try learning rates and suggest one, without training."),
    ] = False,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the resolved recipe, without training.")
    ] = False,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Do not write report.html into the run folder.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Hide progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Results as JSON.")] = False,
) -> None:
    """Train a model on data and save a run folder.

    netwright train
    netwright train mlp moons --epochs 100
    netwright train Default.csv --target default
    netwright train mlp Default.csv --target default --set model.hidden=64,64
    netwright train lstm reviews.tsv --text sentence --target label
    netwright train gpt book.txt
    netwright train lstm sales.csv --set data.name=series --target sales
    netwright train transformer pairs.tsv --source en --target de
    netwright train mlp moons --find-lr
    netwright train -c recipe.yaml --lr 3e-4
    netwright train mlp mnist --track tensorboard
    netwright train gpt book.txt --profile
    netwright train mlp mnist --resume auto
    netwright train --resume runs/mlp-mnist-001
    netwright train resnet18 photos/ --from runs/resnet18-cifar10-001 --freeze layer3
    """
    from netwright.core.terminal.console import print_message, print_result
    from netwright.recipes.fitting.fit import check_one_beginning, put_together, run_path
    from netwright.recipes.fitting.launch import launch
    from netwright.recipes.fitting.training import train as train_prepared
    from netwright.recipes.plan.recipe import parse_recipe, starting_from
    from netwright.recipes.plan.recipe_file import to_yaml
    from netwright.recipes.plan.sources import load_configured
    from netwright.recipes.saved.resume import NEVER
    from netwright.recipes.saved.run_data import resumed_data
    from netwright.train.setting_marks import Typed
    from netwright.train.settings import settings_marked

    typed = {name: context.params[name] for name in settings_marked(Typed.AS_OPTION)}
    given_train = {
        **typed,
        "profile": profile or None,  # a recipe's own stays
        "max_time": None if max_time is None else parse_seconds(max_time),
    }
    given_data: dict[str, Any] = {
        "target": tuple(target) if target else None,
        "target_kind": target_kind,
        "text": text,
        "source": source,
    }
    if drop_missing_target:
        given_data["drop_missing_target"] = True
    rank = os.environ.get("RANK")  # given by `launch` below or by torchrun
    quiet = quiet or rank not in {None, "0"}
    recipe = parse_recipe(
        typed_recipe(
            config or [],
            model,
            data,
            seed,
            settings or [],
            given_data,
            given_train,
            first=first_recipe(resume),
        )
    )
    check_one_beginning(resume, start_from)
    if start_from is not None:
        recipe = starting_from(recipe, run_path(start_from))
    if print_config:
        print_result(to_yaml(recipe.to_mapping()))
        return
    if nproc != 1 and rank is None and not (dry_run or find_lr):
        raise typer.Exit(launch(sys.argv[1:], nproc, recipe.train.rank_timeout))
    loaded = resumed_data(recipe, resume) or load_configured(recipe)
    for note in () if quiet or as_json else loaded.notes:
        print_message(f"  {note}")
    prepared = put_together(_with_a_rate(recipe) if find_lr else recipe, loaded)
    if dry_run or find_lr:
        if resume == NEVER:  # a run that goes on has its own weights
            _begin_as_training_would(prepared, quiet=quiet or as_json)
        _show_untrained(prepared, recipe, dry_run=dry_run, find_lr=find_lr, as_json=as_json)
        return
    try:
        run = train_prepared(
            prepared,
            out=out,
            resume=resume,
            allow=allow,
            quiet=quiet or as_json,
        )
    except KeyboardInterrupt as interrupt:  # typer would swallow what it says
        print_message(f"interrupted; {str(interrupt) or 'nothing is saved'}")
        raise typer.Exit(130) from None
    if rank in {None, "0"}:
        show_results(run, as_json=as_json, report=None if no_report else write_report(run))


def _with_a_rate(recipe: "Recipe") -> "Recipe":
    from netwright.recipes.fitting.find_lr import with_a_rate  # and with it pages and curves

    return with_a_rate(recipe)


def _begin_as_training_would(prepared: "Prepared", *, quiet: bool) -> None:
    """Take the weights of --from, and say what is to be said of them."""
    from netwright.core.terminal.console import print_warning
    from netwright.recipes.fitting.training import take_first_weights

    notes = take_first_weights(prepared)
    for note in () if quiet else notes:
        print_warning(note)


def _show_untrained(
    prepared: "Prepared", recipe: "Recipe", *, dry_run: bool, find_lr: bool, as_json: bool
) -> None:
    """What one batch shows, the learning rates, or the one after the other."""
    from netwright.core.terminal.console import print_json, print_result
    from netwright.recipes.fitting.find_lr import find_prepared_lr

    shown: dict[str, Any] = {}
    if dry_run:
        shown |= show_dry_run(prepared, quiet=as_json)
    if dry_run and find_lr and not as_json:
        print_result("")
    if find_lr:
        shown |= show_learning_rates(find_prepared_lr(prepared), recipe, quiet=as_json)
    if as_json:
        print_json(shown)
