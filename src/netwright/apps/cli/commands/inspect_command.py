"""`netwright inspect`: look inside a run, one view at a time."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from netwright.inspection.drawing.view import View
    from netwright.recipes.run.run import Run


def inspect(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    view: Annotated[
        str, typer.Argument(help="The view; without one, the views of this run are listed.")
    ] = "",
    example: Annotated[
        int | None,
        typer.Option(help="Index of the example in the split, for views of one example."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Other labelled data to use. (the run's own)")
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(
            help='An input of your own in place of an example: a row "a=1,b=x" or JSON, a text, '
            "or the path of an image."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the view; see `explain`."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the picture (.svg, .png) or a page (.html) here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The numbers as JSON.")] = False,
) -> None:
    """Inspect a run without retraining.

    netwright inspect runs/lenet-mnist-001
    netwright inspect runs/lenet-mnist-001 saliency --example 3 --save seven.svg
    netwright inspect runs/mlp-digits-001 backprop --example 3 --save steps.html
    netwright inspect runs/mlp-digits-001 landscape --set cells=41 --save landscape.png
    netwright inspect runs/mlp-flowers-csv-001 occlusion --of "petal_length=4.7,petal_width=1.4"
    netwright inspect runs/gpt-notes-txt-001 attention --of "the cat sat on the mat"
    """
    from netwright.core.errors import ConfigError
    from netwright.core.terminal.console import print_json, print_result, print_table
    from netwright.inspection.drawing.view import check_can_save
    from netwright.recipes.run import look_inside
    from netwright.recipes.run.run import open_run

    if not view:
        if save is not None or example is not None or of is not None or settings:
            raise ConfigError("--save, --example, --of and --set need the name of a view")
        shown = look_inside.inspectable(run, data=data)
        if as_json:
            print_json(shown)
        else:
            print_table([{"view": name, "what it shows": told} for name, told in shown.items()])
        return
    if save is not None:
        check_can_save(save, "a view")
    chosen = _settings(settings or []) | ({} if example is None else {"example": example})
    opened = open_run(run)
    own = None if of is None else _own_input(opened, of)
    seen = look_inside.inspect(opened, view, data=data, of=own, **chosen)
    if as_json:
        print_json(seen.to_json())
    elif save is None:
        _tell(seen)
    else:
        print_result(seen.caption)  # the picture shows the rest
    if save is not None:
        seen.save(save)
        if not as_json:
            print_result(f"written: {save}")


def _own_input(run: "Run", typed: str) -> Any:
    """A row of a table by its columns; a text or the path of an image as it is."""
    from netwright.apps.cli.typed_row import read_row
    from netwright.data.tables.encoding import TableEncoder

    encoder = run.preprocessor
    if isinstance(encoder, TableEncoder):
        return read_row(typed, [one.name for one in encoder.features], "--of")
    return read_row(typed, option="--of") if encoder.kind == "arrays" else typed


def _settings(typed: list[str]) -> dict[str, Any]:
    """Key -> value as typed: each view's settings know their types."""
    from netwright.core.errors import ConfigError

    found: dict[str, Any] = {}
    for pair in typed:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ConfigError(f"--set must be KEY=VALUE, got {pair!r}")
        found[key.strip().replace("-", "_")] = value.strip()
    return found


def _tell(view: "View") -> None:
    from netwright.core.terminal.console import print_result, print_table

    rows = view.table_rows()
    if rows:
        print_table(rows)
    print_result(view.text())
