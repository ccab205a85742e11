"""A comparison said again: as a command and as Python, each with what is not default."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from netwright.recipes.plan.given_settings import SOURCE
from netwright.recipes.plan.recipe import has_own_rule, own_parts
from netwright.recipes.plan.reproduce import (
    call_words,
    called_name,
    changed_settings,
    file_word,
    needs_source,
    section_kinds,
)
from netwright.recipes.plan.typed_settings import setting_words

Settings = Mapping[str, Any]
# Arguments of `nw.compare` that are no settings: a setting of the same name is given exactly.
TAKEN = ("data", "seeds", "seed", "metric", "quiet", "train")


def comparison_as_command(configs: Sequence[Settings], *, seeds: int, metric: str) -> str:
    """The `netwright compare` that gives it; empty where a part of it came from Python.

    Args:
        configs: the resolved recipes, the first with the first seed.
        seeds: how many.
        metric: what was compared.
    """
    section, kinds = configs[0]["data"], section_kinds(configs[0])
    if not section["name"] or not all(map(_is_typed, configs)):
        return ""
    path, for_data = section.get("path"), _data_settings(configs)
    words = ["netwright", "compare", *_entries(configs), "--data"]
    words.append(file_word(path) if path else section["name"])
    if needs_source(configs[0], for_data):
        words += ["--set", f"{SOURCE}={section['name']}"]
    for part, settings in (("data", for_data), ("train", _common(configs))):
        for word in setting_words(settings, kinds[part]):
            words += ["--set", f"{part}.{word}"]
    words += ["--seeds", str(seeds), "--seed", str(configs[0]["seed"]), "--metric", metric]
    return shlex.join(words)


def comparison_as_python(configs: Sequence[Settings], *, seeds: int, metric: str) -> str:
    """The `nw.compare` that gives it; `data` and `entry1` ... stand for what came from Python."""
    section = configs[0]["data"]
    given = {"name": section["name"], **_data_settings(configs)}
    if section.get("path"):
        given["path"] = section["path"]
    data = "data" if not section["name"] else repr(given if len(given) > 1 else section["name"])
    entries = enumerate(zip(configs, _entries(configs), strict=True), start=1)
    arguments = [repr(said) if _is_typed(one) else f"entry{n}" for n, (one, said) in entries]
    arguments += [f"data={data}", f"seeds={seeds}", f"seed={configs[0]['seed']}"]
    arguments.append(f"metric={metric!r}")
    kinds = {part: kind for part, kind in section_kinds(configs[0]).items() if part != "model"}
    shared = {
        called_name("train", name, kinds, taken=TAKEN): value
        for name, value in _common(configs).items()
    }
    objects = [f"{part}={part}" for part in own_parts(configs[0])]
    words = ", ".join([*arguments, *objects, *call_words(shared)])
    return f"import netwright as nw\n\nnw.compare({words})\n"


def entry_words(config: Settings, train: Settings) -> str:
    """A resolved recipe as one entry: the model's name, what is not default, and `train`."""
    model = config["model"]["name"]
    kinds = {part: kind for part, kind in section_kinds(config).items() if part != "data"}
    words = [model]
    for part, settings in (("model", changed_settings(config)["model"]), ("train", train)):
        for name, value in settings.items():
            called = called_name(part, name, kinds, own_rule=has_own_rule(model))
            prefix = called.removesuffix(name)
            words += [f"{prefix}{word}" for word in setting_words({name: value}, kinds[part])]
    return ":".join(words)


def _is_typed(config: Settings) -> bool:
    """Whether words say all of it: no objects from Python, and no weights to start from."""
    return bool(config["model"]["name"]) and not own_parts(config) and not config.get("from")


def _entries(configs: Sequence[Settings]) -> list[str]:
    common = _common(configs)
    return [
        entry_words(
            config,
            {k: v for k, v in changed_settings(config)["train"].items() if k not in common},
        )
        for config in configs
    ]


def _common(configs: Sequence[Settings]) -> dict[str, Any]:
    """The settings of training that are not default and the same in all recipes."""
    first, *others = (changed_settings(config)["train"] for config in configs)
    return {k: v for k, v in first.items() if all(k in other and other[k] == v for other in others)}


def _data_settings(configs: Sequence[Settings]) -> dict[str, Any]:
    return changed_settings(configs[0])["data"]
