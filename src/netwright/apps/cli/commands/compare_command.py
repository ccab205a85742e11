"""`netwright compare`: an honest answer to which of two or more is better."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from netwright.apps.cli.typed_recipe import typed_recipe

if TYPE_CHECKING:
    from netwright.recipes.judging.comparison import Comparison


def compare(  # noqa: PLR0913, PLR0917 - one argument an option
    entries: Annotated[
        list[str],
        typer.Argument(
            help="Two or more: a model, a model with settings (mlp:dropout=0:lr=0.01), "
            "a recipe file or a run folder. The others are compared with the first."
        ),
    ],
    data: Annotated[
        str | None,
        typer.Option(
            help="The data set, CSV file or folder they all use. (that of the recipes, else digits)"
        ),
    ] = None,
    target: Annotated[
        list[str] | None, typer.Option(help="The column to predict; several are allowed.")
    ] = None,
    drop_missing_target: Annotated[
        bool, typer.Option("--drop-missing-target", help="Drop rows without a target.")
    ] = False,
    seeds: Annotated[int, typer.Option(help="How many times each is trained.")] = 5,
    seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    epochs: Annotated[int | None, typer.Option(help="Passes over the data.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Examples per step.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    metric: Annotated[
        str | None, typer.Option(help="The metric to compare. (accuracy; rmse for regression)")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="SECTION.KEY=VALUE", help="A data or train setting, for all of them."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where the page goes. (the next runs/compare-A-B-NNN)")
    ] = None,
    as_trained: Annotated[
        bool,
        typer.Option(
            "--as-trained", help="Compare run folders as they are, paired by seed; train nothing."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Hide progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The comparison as JSON.")] = False,
) -> None:
    """Train two or more on the same data under the same seeds, and judge the gaps.

    netwright compare logistic mlp --data moons
    netwright compare mlp mlp:dropout=0 --seeds 10
    netwright compare mlp mlp
    netwright compare --as-trained runs/mlp-moons-00* runs/logistic-moons-00*
    """
    from netwright.core.terminal.console import print_message
    from netwright.recipes.judging.compare import prepare_comparison, run_comparison
    from netwright.recipes.judging.compare_runs import compare_runs
    from netwright.recipes.saved.run_folder import create_run_folder

    if as_trained:
        _show(compare_runs(*entries, metric=metric), out, as_json=as_json)
        return
    typed = typed_recipe(
        [],
        None,
        data,
        None,
        settings or [],
        {
            "target": tuple(target) if target else None,
            "drop_missing_target": drop_missing_target or None,
        },
        {"epochs": epochs, "batch_size": batch_size, "lr": lr},
    )
    # The names are those of `train`, which knows defaults; here recipes may name the data.
    typed["model"].pop("name")
    if data is None:
        typed["data"].pop("name")
    prepared = prepare_comparison(
        entries,
        typed["data"],
        seeds=seeds,
        seed=seed,
        metric=metric,
        settings={
            f"{section}.{name}": value
            for section in ("model", "train")
            for name, value in typed[section].items()
        },
    )
    names = "-".join(contender.recipe.model for contender in prepared.contenders)
    folder = create_run_folder(out, "compare", names)
    try:
        comparison = run_comparison(prepared, quiet=quiet or as_json)
    except KeyboardInterrupt:
        folder.rmdir()  # nothing is in it yet
        print_message("interrupted; the comparison is incomplete, so nothing was saved")
        raise typer.Exit(130) from None  # typer would make an Abort of it
    except BaseException:
        folder.rmdir()
        raise
    _show(comparison, folder, as_json=as_json)


def _show(comparison: "Comparison", folder: Path | None, *, as_json: bool) -> None:
    """Write the page and the numbers into the folder, where there is one, and print them."""
    from netwright.core.terminal.console import print_json, print_result, print_table
    from netwright.recipes.saved.run_folder import create_run_folder

    page = None
    if folder is not None:
        create_run_folder(folder, "", "")
        page = comparison.save(folder / "compare.html")
        comparison.save(folder / "compare.json")
    if as_json:
        print_json({"page": page and str(page), **comparison.to_json()})
        return
    print_table(comparison.table_rows(), title=comparison.setting)
    for remark in comparison.remarks:
        print_result(remark)
    if page is not None:
        print_result(f"page: {page}")
