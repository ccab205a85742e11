"""`netwright list`: what can be named."""

import importlib
from collections.abc import Mapping
from typing import Annotated, Any

import typer

TABLES = {
    "models": "netwright.models.catalog:MODELS",
    "recipes": "netwright.recipes.ready.catalog:READY",
    "data": "netwright.data.catalog:SOURCES",
    "optimizers": "netwright.optimizers.catalog:OPTIMIZERS",
    "schedules": "netwright.optimizers.schedules:SCHEDULES",
    "losses": "netwright.losses.catalog:LOSSES",
    "regularizers": "netwright.recipes.regularizers:REGULARIZERS",
    "augmentations": "netwright.data.augment.catalog:AUGMENTATIONS",
    "activations": "netwright.layers.activations:ACTIVATIONS",
    "initializers": "netwright.layers.initializers:INITIALIZERS",
    "scores": "netwright.layers.attention_scores:SCORES",
    "tokenizers": "netwright.data.text.catalog:TOKENIZERS",
    "claims": "netwright.theory.catalog:CLAIMS",
    "metrics": "netwright.metrics.catalog:METRICS",
    "views": "netwright.recipes.views.catalog:VIEWS",
}


def list_names(
    kind: Annotated[str, typer.Argument(help=f"One of: {', '.join(TABLES)}.")] = "models",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List models, data sets, optimizers ..., each with one sentence.

    netwright list models
    netwright list data --json
    """
    from netwright.core.checks import nearest
    from netwright.core.console import give_json, give_table
    from netwright.core.errors import ConfigError

    if kind not in TABLES:
        hint = nearest(kind, TABLES) or f"; there are {', '.join(TABLES)}"
        raise ConfigError(f"unknown kind {kind!r}{hint}")
    rows = [{"name": name, "what it is": sentence} for name, sentence in _sentences(kind)]
    if as_json:
        give_json({row["name"]: row["what it is"] for row in rows})
    else:
        give_table(rows)


def _sentences(kind: str) -> list[tuple[str, str]]:
    """Name and sentence of every row; a part that cannot be loaded says so in its own row."""
    catalog = _catalog(kind)
    load = catalog.__getitem__ if isinstance(catalog, Mapping) else catalog.load
    found = []
    for name in catalog:
        try:
            sentence = _sentence(load(name))
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
