"""`netwright list`: what can be named."""

from typing import Annotated

import typer

from netwright.apps.cli.sentences import TABLES, kept_sentences


def list_names(
    kind: Annotated[str, typer.Argument(help=f"One of: {', '.join(TABLES)}.")] = "models",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List models, data sets, optimizers ..., each with one sentence.

    netwright list models
    netwright list data --json
    """
    from netwright.core.checks import nearest
    from netwright.core.errors import ConfigError
    from netwright.core.terminal.console import print_json, print_table

    if kind not in TABLES:
        hint = nearest(kind, TABLES) or f"; there are {', '.join(TABLES)}"
        raise ConfigError(f"unknown kind {kind!r}{hint}")
    sentences = kept_sentences()[kind]
    if as_json:
        print_json(sentences)
    else:
        print_table([{"name": name, "what it is": text} for name, text in sentences.items()])
