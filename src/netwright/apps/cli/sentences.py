"""What can be named, each with its sentence: kept in a file, so that a list needs no torch.

The sentences are those of the cards. `make sentences` writes the file anew from them, and a test
compares the two.
"""

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TABLES = {
    "models": "netwright.models.catalog:MODELS",
    "recipes": "netwright.recipes.ready.catalog:READY",
    "data": "netwright.data.catalog:SOURCES",
    "optimizers": "netwright.optimizers.catalog:OPTIMIZERS",
    "settings": "netwright.train.setting_list:SETTINGS",
    "schedules": "netwright.optimizers.schedules:SCHEDULES",
    "losses": "netwright.losses.catalog:LOSSES",
    "regularizers": "netwright.recipes.plan.regularizers:REGULARIZERS",
    "augmentations": "netwright.data.augment.catalog:AUGMENTATIONS",
    "activations": "netwright.layers.activations:ACTIVATIONS",
    "initializers": "netwright.layers.initializers:INITIALIZERS",
    "scores": "netwright.layers.attention.attention_scores:SCORES",
    "tokenizers": "netwright.data.text.catalog:TOKENIZERS",
    "claims": "netwright.theory.catalog:CLAIMS",
    "metrics": "netwright.metrics.catalog:METRICS",
    "views": "netwright.recipes.views.catalog:VIEWS",
}
FILE = Path(__file__).with_name("sentences.json")


def kept_sentences() -> dict[str, dict[str, str]]:
    """Kind -> name -> sentence, as the file has them."""
    kept: dict[str, dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return kept


def card_sentences() -> dict[str, dict[str, str]]:
    """The same from the parts themselves, all of which are loaded for it."""
    return {kind: _of_kind(place) for kind, place in TABLES.items()}


def as_text(sentences: Mapping[str, Mapping[str, str]]) -> str:
    """What stands in the file, a line for each name."""
    return json.dumps(sentences, indent=2, ensure_ascii=False) + "\n"


def _of_kind(place: str) -> dict[str, str]:
    module, _, name = place.partition(":")
    table = getattr(importlib.import_module(module), name)
    load = table.__getitem__ if isinstance(table, Mapping) else table.load
    return {name: _sentence(load(name)) for name in table}


def _sentence(part: Any) -> str:
    """A card's sentence, a source's sentence, or the first line of the docstring."""
    card = getattr(part, "card", None)
    if card is not None:
        return str(card.sentence)
    sentence = getattr(part, "sentence", None)
    return str(sentence) if sentence else (part.__doc__ or "").strip().split("\n")[0]


if __name__ == "__main__":
    FILE.write_text(as_text(card_sentences()), encoding="utf-8")
