"""A run said again: as a command, as a recipe file and as Python, each with what is not default."""

import shlex
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from netwright.core.config import Config, describe, parse
from netwright.data.catalog import SOURCES
from netwright.models.catalog import MODELS
from netwright.recipes.plan.given_settings import SOURCE, Kinds, known_names
from netwright.recipes.plan.recipe import has_own_rule, own_parts, reader_of
from netwright.recipes.plan.recipe_file import to_yaml
from netwright.recipes.plan.recipe_paths import PATHS, names_corpus
from netwright.recipes.plan.typed_settings import setting_words
from netwright.train.setting_marks import Typed
from netwright.train.settings import DEFAULT_OPTIMIZER, TrainConfig, settings_marked

Settings = Mapping[str, Any]
# Arguments of `nw.fit` that are no settings: a setting of the same name is given by its exact one.
TAKEN = (
    *("model", "data", "validation", "test", "groups", "seed", "out", "resume", "allow"),
    *("start_from", "callbacks", "output", "metrics", "parameter_groups", "training_step"),
    *("quiet", "save", "train"),
)
# Settings with an option of their own on the command line; the others are given by --set.
OPTIONS = {"train": settings_marked(Typed.AS_OPTION), "data": ("target", "target_kind")}


def as_command(config: Settings) -> str:
    """The `netwright train` that makes this run; empty where a part of it came from Python."""
    model, data = config["model"]["name"], config["data"]["name"]
    if not model or not data or own_parts(config):
        return ""
    words = ["netwright", "train", model, _data_word(config)]
    changed, kinds = changed_settings(config), section_kinds(config)
    if needs_source(config, changed["data"]):
        words += ["--set", f"{SOURCE}={data}"]
    for section in ("data", "model", "train"):
        for name, value in changed[section].items():
            words += _options(section, name, value, kinds[section])
    if config.get("from"):
        words += ["--from", config["from"]]
    if config["seed"]:
        words += ["--seed", str(config["seed"])]
    return shlex.join(words)


def as_python(config: Settings) -> str:
    """The program that makes this run; `model` and `data` stand for what came from Python."""
    return f"import netwright as nw\n\nrun = {_as_call(config)}\n"


def as_resumed(config: Settings, folder: Path) -> str:
    """What resumes the run in a folder: the command, or a call where a part came from Python."""
    if as_command(config):
        return shlex.join(["netwright", "train", "--resume", str(folder)])
    return _as_call(config, resume=str(folder))


def _as_call(config: Settings, **more: str) -> str:
    """The call of `nw.fit`, with further arguments."""
    model, data = config["model"]["name"], config["data"]["name"]
    changed, kinds = changed_settings(config), section_kinds(config)
    settings = {SOURCE: data} if needs_source(config, changed["data"]) else {}
    own_rule = has_own_rule(model)
    settings |= {
        called_name(section, name, kinds, own_rule=own_rule, taken=TAKEN): value
        for section, given in changed.items()
        for name, value in given.items()
    }
    if config.get("from"):
        settings["start_from"] = config["from"]
    words = [repr(model) if model else "model", repr(_data_word(config)) if data else "data"]
    words += [f"{part}={part}" for part in own_parts(config)]
    words += call_words({**settings, "seed": config["seed"], **more})
    return f"nw.fit({', '.join(words)})"


def called_name(
    section: str, name: str, kinds: Kinds, *, own_rule: bool = False, taken: Container[str] = ()
) -> str:
    """A setting as a call names it: exactly where its short name is of two sections, or taken."""
    owners = [part for part, names in known_names(kinds).items() if name in names]
    if owners == ["model", "train"] and own_rule:
        owners = ["model"]
    return name if owners == [section] and name not in taken else f"{section}.{name}"


def call_words(settings: Settings) -> list[str]:
    """Arguments of a call, as one writes them; exact names come last, in a mapping."""
    values = {
        name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()
    }
    words = [f"{name}={value!r}" for name, value in values.items() if "." not in name]
    exact = {name: value for name, value in values.items() if "." in name}
    return [*words, f"**{exact!r}"] if exact else words


def needs_source(config: Settings, given: Settings) -> bool:
    """Whether a file, with these settings, would be read by another source than it was."""
    path = config["data"].get("path")
    if not path or names_corpus(path):
        return False
    return reader_of(path, given) != str(config["data"]["name"])


def as_yaml(config: Settings) -> str:
    """The recipe file for `netwright train -c`, with every setting."""
    return to_yaml(dict(config))


def changed_settings(config: Settings) -> dict[str, dict[str, Any]]:
    """The settings of model, data and training that are not the default."""
    changed = {}
    for section, kind in section_kinds(config).items():
        default = {field.name: field.default for field in describe(kind)} if kind else {}
        changed[section] = {
            name: value
            for name, value in config[section].items()
            if name in default and value != default[name] and name != "path"
        }
    if changed["train"].get("optimizer") == DEFAULT_OPTIMIZER and not _is_linear(config["model"]):
        del changed["train"]["optimizer"]
    return changed


def section_kinds(config: Settings) -> dict[str, type[Config] | None]:
    """The config of each section; None for what came from Python."""
    model, data = config["model"]["name"], config["data"]["name"]
    return {
        "model": MODELS.load(model).settings if model else None,
        "data": SOURCES.load(data).config if data else None,
        "train": TrainConfig,
    }


def _is_linear(settings: Settings) -> bool:
    """Whether the model may choose another optimizer than the usual one."""
    own = dict(settings)
    name = own.pop("name")
    if not name:
        return False
    kind = MODELS.load(name)
    return kind.is_linear(parse(kind.settings, own))


def without_folders(config: Settings) -> dict[str, Any]:
    """The recipe with the names of files alone: where they lie is their owner's business."""
    bare = dict(config)
    for section, settings in PATHS.items():
        names = {name: Path(path).name for name in settings if (path := config[section].get(name))}
        bare[section] = {**config[section], **names}
    beginning = {"from": Path(config["from"]).name} if config.get("from") else {}
    return {**bare, **beginning}


def _data_word(config: Settings) -> str:
    """A file is named by its path, everything else by its name."""
    data = config["data"]
    path = data.get("path")
    if path and names_corpus(path):
        return str(path)
    return file_word(str(path)) if path else str(data["name"])


def file_word(path: str) -> str:
    """A path that neither reads as the name of a data set nor as an option."""
    is_clear = any(mark in path for mark in "/.\\") and not path.startswith("-")
    return path if is_clear else f"./{path}"


def _options(section: str, name: str, value: Any, kind: type[Config] | None) -> list[str]:
    """One setting as words of a command."""
    if section == "data" and name == "drop_missing_target":
        return ["--drop-missing-target"]
    is_no_span = name == "max_time" and "e" in str(value)  # 1e-05 is not how one says a time
    if name in OPTIONS.get(section, ()) and value is True:
        return [f"--{name.replace('_', '-')}"]
    if name in OPTIONS.get(section, ()) and not is_no_span:
        values = value if isinstance(value, list) else [value]
        return [word for one in values for word in (f"--{name.replace('_', '-')}", str(one))]
    typed = setting_words({name: value}, kind)
    return [word for one in typed for word in ("--set", f"{section}.{one}")]
