"""A run said again: as a command, as a recipe file and as Python, each with what is not default."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netwright.core.config import Config, describe, parse
from netwright.data.catalog import SOURCES
from netwright.models.catalog import MODELS
from netwright.recipes.plan.recipe_file import to_yaml
from netwright.train.settings import DEFAULT_OPTIMIZER, TrainConfig

Settings = Mapping[str, Any]
# Settings with an option of their own on the command line; the others are given by --set.
OPTIONS = {
    "train": (
        "epochs",
        "batch_size",
        "optimizer",
        "lr",
        "weight_decay",
        "patience",
        "precision",
        "device",
        "max_steps",
        "eval_every",
        "max_time",
        "freeze",
        "unfreeze_every",
        "layer_decay",
    ),
    "data": ("target", "target_kind"),
}


def as_command(config: Settings) -> str:
    """The `netwright train` that makes this run; empty where model or data came from Python."""
    model, data = config["model"]["name"], config["data"]["name"]
    if not model or not data:
        return ""
    words = ["netwright", "train", model, _data_word(config)]
    changed = changed_settings(config)
    for section in ("data", "model", "train"):
        for name, value in changed[section].items():
            words += _options(section, name, value)
    if config.get("from"):
        words += ["--from", config["from"]]
    if config["seed"]:
        words += ["--seed", str(config["seed"])]
    return shlex.join(words)


def as_python(config: Settings) -> str:
    """The `nw.fit` that makes this run; `model` and `data` stand for what came from Python."""
    model, data = config["model"]["name"], config["data"]["name"]
    changed = changed_settings(config)
    # A data set drawn by a seed of its own is loaded first: `seed` of `nw.fit` is the run's.
    drawn = changed.pop("data") if "seed" in changed["data"] else {}
    load = f"data = nw.data.load({_arguments([repr(data)], drawn)})\n" if drawn else ""
    where = repr(_data_word(config)) if data and not drawn else "data"
    settings = {name: value for section in changed.values() for name, value in section.items()}
    beginning = {"start_from": config["from"]} if config.get("from") else {}
    arguments = _arguments(
        [repr(model) if model else "model", where],
        {**settings, **beginning, "seed": config["seed"]},
    )
    return f"import netwright as nw\n\n{load}run = nw.fit({arguments})\n"


def as_yaml(config: Settings) -> str:
    """The recipe file for `netwright train -c`, with every setting."""
    return to_yaml(dict(config))


def changed_settings(config: Settings) -> dict[str, dict[str, Any]]:
    """The settings of model, data and training that are not the default."""
    model, data = config["model"]["name"], config["data"]["name"]
    kinds: dict[str, type[Config] | None] = {
        "model": MODELS.load(model).settings if model else None,
        "data": SOURCES.load(data).config if data else None,
        "train": TrainConfig,
    }
    changed = {}
    for section, kind in kinds.items():
        default = {field.name: field.default for field in describe(kind)} if kind else {}
        changed[section] = {
            name: value
            for name, value in config[section].items()
            if name in default and value != default[name] and name != "path"
        }
    if changed["train"].get("optimizer") == DEFAULT_OPTIMIZER and not _is_linear(config["model"]):
        del changed["train"]["optimizer"]
    return changed


def _is_linear(settings: Settings) -> bool:
    """Whether the model may choose another optimizer than the usual one."""
    own = dict(settings)
    name = own.pop("name")
    if not name:
        return False
    kind = MODELS.load(name)
    return kind.is_linear(parse(kind.settings, own))


def without_folders(config: Settings) -> dict[str, Any]:
    """The recipe with the file's name alone: where it lies is nobody's business but the owner's."""
    data = dict(config["data"])
    if "path" in data:
        data["path"] = Path(data["path"]).name
    beginning = {"from": Path(config["from"]).name} if config.get("from") else {}
    return {**config, "data": data, **beginning}


def _data_word(config: Settings) -> str:
    """A file is named by its path, everything else by its name."""
    data = config["data"]
    return str(data.get("path") or data["name"])


def _options(section: str, name: str, value: Any) -> list[str]:
    """One setting as words of a command."""
    if section == "data" and name == "drop_missing_target":
        return ["--drop-missing-target"]
    if name in OPTIONS.get(section, ()):
        values = value if isinstance(value, list) else [value]
        return [word for one in values for word in (f"--{name.replace('_', '-')}", str(one))]
    if isinstance(value, Mapping):
        return [word for key, one in value.items() for word in _set(f"{section}.{name}.{key}", one)]
    return _set(f"{section}.{name}", value)


def _set(path: str, value: Any) -> list[str]:
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return ["--set", f"{path}={text.lower() if isinstance(value, bool) else text}"]


def _arguments(first: list[str], settings: Settings) -> str:
    """Arguments of a call, as one writes them."""
    values = {
        name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()
    }
    return ", ".join([*first, *(f"{name}={value!r}" for name, value in values.items())])
