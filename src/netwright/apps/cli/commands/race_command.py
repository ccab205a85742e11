"""`netwright race`: optimizers side by side on surfaces of two variables."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from netwright.theory.optimizers.optimizer_race import Race

MOST_STEPS = 10_000


def race(
    optimizers: Annotated[
        list[str] | None, typer.Argument(help="The optimizers; by default six well-known ones.")
    ] = None,
    surface: Annotated[
        str, typer.Option(help="rosenbrock, saddle, ravine, beale, or all of them.")
    ] = "all",
    steps: Annotated[int, typer.Option(help="Steps per optimizer, at most 10,000.")] = 200,
    lr: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=RATE", help="A fixed learning rate for one optimizer, not searched."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a page (.html) or pictures (.png, .svg) here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Compare optimizers on a test surface, each at its best learning rate of a grid.

    netwright race
    netwright race sgd momentum adam --surface ravine --out race.png
    netwright race sgd adam newton --surface saddle --lr sgd=0.1 --out race.html
    """
    from netwright.core.errors import ConfigError
    from netwright.core.terminal.console import print_json, print_result, print_table
    from netwright.inspection.drawing.view import check_can_save
    from netwright.theory.optimizers.optimizer_race import RACERS, run_race
    from netwright.theory.optimizers.surfaces import SURFACES

    if not 1 <= steps <= MOST_STEPS:
        raise ConfigError(f"--steps must be from 1 to {MOST_STEPS}, got {steps}")
    names, rates = list(dict.fromkeys(optimizers or RACERS)), _rates(lr or [])
    surfaces = list(SURFACES) if surface == "all" else [surface]
    if out is not None:
        check_can_save(out, "a race")
    races = [run_race(one, names, steps=steps, rates=rates) for one in surfaces]
    if as_json:
        print_json({"steps": steps, "races": [one.to_json() for one in races]})
    else:
        for one in races:
            print_table(one.rows(), title=one.surface)
    if out is not None:
        for path in _write(races, out, steps):
            if not as_json:
                print_result(f"written: {path}")


def _rates(typed: list[str]) -> dict[str, float]:
    from netwright.core.errors import ConfigError

    rates: dict[str, float] = {}
    for pair in typed:
        name, _, value = pair.partition("=")
        if name in rates:
            raise ConfigError(f"--lr must be given once for {name}, got two")
        try:
            rates[name] = float(value)
        except ValueError:
            raise ConfigError(f"--lr must be NAME=RATE, got {pair!r}") from None
        if not 0 < rates[name] < float("inf"):
            raise ConfigError(f"the learning rate of {name} must be above 0, got {value}")
    return rates


def _write(races: list["Race"], out: Path, steps: int) -> list[Path]:
    """One page for all, or one picture a surface."""
    from netwright.core.files.storage import write_text
    from netwright.theory.optimizers.optimizer_race import race_page

    if out.suffix.lower() == ".html":
        write_text(out, race_page(races, steps=steps))
        return [out]
    if len(races) == 1:
        return [races[0].view.save(out)]
    return [one.view.save(out.with_stem(f"{out.stem}-{one.surface}")) for one in races]
