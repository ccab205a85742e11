"""`netwright list`: what can be named."""

import importlib
from typing import Annotated, Any

import typer

TABLES = {
    "models": "netwright.models.catalog:MODELS",
    "data": "netwright.data.catalog:SOURCES",
    "optimizers": "netwright.optimizers.catalog:OPTIMIZERS",
    "schedules": "netwright.optimizers.schedules:SCHEDULES",
    "losses": "netwright.losses.catalog:LOSSES",
    "activations": "netwright.layers.activations:ACTIVATIONS",
    "initializers": "netwright.layers.initializers:INITIALIZERS",
    "claims": "netwright.theory.catalog:CLAIMS",
}
KINDS = (*TABLES, "metrics")


def list_names(
    kind: Annotated[str, typer.Argument(help=f"One of: {', '.join(KINDS)}.")] = "models",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List models, data sets, optimizers ..., each with one sentence.

    netwright list models
    netwright list data --json
    """
    from netwright.core.checks import nearest
    from netwright.core.console import give_json, give_table
    from netwright.core.errors import ConfigError

    if kind not in KINDS:
        hint = nearest(kind, KINDS) or f"; there are {', '.join(KINDS)}"
        raise ConfigError(f"unknown kind {kind!r}{hint}")
    rows = [{"name": name, "what it is": sentence} for name, sentence in _sentences(kind)]
    if as_json:
        give_json({row["name"]: row["what it is"] for row in rows})
    else:
        give_table(rows)


def _sentences(kind: str) -> list[tuple[str, str]]:
    """Name and sentence of every row; a part that cannot be loaded says so in its own row."""
    if kind == "metrics":
        from netwright.metrics.catalog import METRICS

        return [(name, metric.card.sentence) for name, metric in METRICS.items()]
    catalog = _catalog(kind)
    found = []
    for name in catalog:
        try:
            sentence = _sentence(catalog.load(name))
        except Exception as error:
            sentence = f"cannot be loaded: {type(error).__name__}: {error}"
        found.append((name, sentence))
    return found


def _catalog(kind: str) -> Any:
    module, _, name = TABLES[kind].partition(":")
    return getattr(importlib.import_module(module), name)


def _sentence(part: Any) -> str:
    """A card's sentence, a source's sentence, or the first line of the docstring."""
    card = getattr(part, "card", None)
    if card is not None:
        return str(card.sentence)
    sentence = getattr(part, "sentence", None)
    return str(sentence) if sentence else (part.__doc__ or "").strip().split("\n")[0]
