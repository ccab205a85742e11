"""Options of several commands that ask a run: how a new file is written, how texts are searched."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from netwright.recipes.run.run import Run

WrittenAs = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="data.KEY=VALUE",
        help="The file's format: data.encoding=latin-1, data.thousands=, (as in training)",
    ),
]
LengthPenalty = Annotated[
    float | None,
    typer.Option(help="With --beams: 0 prefers short texts, 1 compares the mean per token. (0.6)"),
]


def read_as(run: "Run", settings: list[str]) -> None:
    """Let a run read its next files so."""
    from netwright.apps.cli.typed_recipe import parse_setting
    from netwright.core.errors import ConfigError

    given = {}
    for text in settings:
        section, keys, value = parse_setting(text)
        if section != "data" or keys not in (["encoding"], ["thousands"]):
            raise ConfigError(
                f"--set takes only data.encoding and data.thousands here, got {text!r}"
            )
        given[keys[0]] = value
    if given:
        run.preprocessor = run.preprocessor.reading(**given)
