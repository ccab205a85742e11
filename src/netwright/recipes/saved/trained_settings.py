"""Settings that shapes do not show: with other ones, weights fit and mean something else.

With another number of heads the same width is cut otherwise, after other norms the same matrix gets
other vectors. Which tokens read each other, and what becomes of all of them at the end, may be
chosen anew; how weights were drawn, and what was dropped while they learned, says nothing of them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn

from netwright.core.config import to_mapping
from netwright.core.errors import ConfigError
from netwright.core.files.inside import has_file, has_folder
from netwright.core.files.storage import read_json
from netwright.models.model import Model
from netwright.recipes.plan.recipe_file import read_own_recipe
from netwright.recipes.saved.run_folder import SavedModel

OF_TRAINING = frozenset(
    {"dropout", "embeddings", "embeddings_sha256", "initializer", "max_norm", "max_phase"}
    | {"r_max", "r_min", "spread"}
    | {"context"}  # how long texts may be: learned positions show it by their shape
)
CHOSEN_ANEW = frozenset(
    {"attention", "attention_block", "attention_window", "global_tokens", "random_blocks"}
    | {"pool", "global_pool"}
)
# What `transformers` calls the settings that shapes do not show.
THEIR_NAMES = {
    "n_head": "heads",
    "num_attention_heads": "heads",
    "num_heads": "heads",
    "relative_attention_max_distance": "farthest",
}


def check_settings(module: nn.Module, source: Path) -> tuple[str, ...]:
    """Refuse weights that were trained with other settings; what should be said of the others.

    Args:
        module: that gets them.
        source: the folder of a run, or a .safetensors file, perhaps with a config.json beside it.
    """
    if not isinstance(module, Model):
        return ()
    was, now = trained_settings(source), to_mapping(module.config)
    # None stands for what other settings imply, and sizes are seen by their shapes.
    other = [
        name
        for name, value in now.items()
        if name not in OF_TRAINING and value is not None
        if was.get(name) is not None and was[name] != value
    ]
    wrong = [name for name in other if name not in CHOSEN_ANEW]
    if wrong:
        raise ConfigError(
            f"the weights of {source} do not fit this model: they were trained with "
            f"{_in_words(wrong, was, now)}"
        )
    if not other:
        return ()
    return (f"the weights of {source} were trained with {_in_words(other, was, now)}",)


def trained_settings(source: Path) -> Mapping[str, Any]:
    """The settings of the model that was trained, by our names; of some files none are known."""
    told: Any = {}
    if has_folder(source / "model"):
        told = SavedModel(source / "model").described.get("settings")
    elif source.is_dir():  # of a run that has not finished
        told = read_own_recipe(source).get("model") if has_file(source / "config.yaml") else {}
    elif has_file(source.with_name("config.json")):
        beside = read_json(source.with_name("config.json"))
        known = beside if isinstance(beside, dict) else {}
        theirs = {ours: known[name] for name, ours in THEIR_NAMES.items() if name in known}
        told = known.get("settings", theirs)  # the file may be of a run
    return told if isinstance(told, dict) else {}


def _in_words(names: list[str], was: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    return " and ".join(
        f"model.{name}={_typed(was[name])} (here {_typed(now[name])})" for name in names
    )


def _typed(value: Any) -> str:
    """A value as a person types it, cut: a file may hold any."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{text:.40}"
