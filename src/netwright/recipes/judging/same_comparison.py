"""A comparison said again: as a command and as Python, each with what is not default."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from netwright.recipes.plan.same_run import changed_settings

Settings = Mapping[str, Any]


def comparison_as_command(configs: Sequence[Settings], *, seeds: int, metric: str) -> str:
    """The `netwright compare` that gives it; empty where the data came from Python.

    Args:
        configs: the resolved recipes, the first with the first seed.
        seeds: how many.
        metric: what was compared.
    """
    section = configs[0]["data"]
    if not section["name"]:
        return ""
    words = ["netwright", "compare", *_entries(configs), "--data"]
    words.append(str(section.get("path") or section["name"]))
    for part, settings in (("data", _data_settings(configs)), ("train", _common(configs))):
        for word in setting_words(settings):
            words += ["--set", f"{part}.{word}"]
    words += ["--seeds", str(seeds), "--seed", str(configs[0]["seed"]), "--metric", metric]
    return shlex.join(words)


def comparison_as_python(configs: Sequence[Settings], *, seeds: int, metric: str) -> str:
    """The `nw.compare` that gives it; `data` stands for what came from Python."""
    section = configs[0]["data"]
    given = {"name": section["name"], **_data_settings(configs)}
    if section.get("path"):
        given["path"] = section["path"]
    data = "data" if not section["name"] else repr(given if len(given) > 1 else section["name"])
    arguments = [repr(entry) for entry in _entries(configs)]
    arguments += [f"data={data}", f"seeds={seeds}", f"seed={configs[0]['seed']}"]
    arguments.append(f"metric={metric!r}")
    arguments += [f"{name}={value!r}" for name, value in _common(configs).items()]
    return f"import netwright as nw\n\nnw.compare({', '.join(arguments)})\n"


def entry_words(config: Settings, train: Settings) -> str:
    """A resolved recipe as one entry: the model's name, what is not default, and `train`."""
    words = setting_words({**changed_settings(config)["model"], **train})
    return ":".join([config["model"]["name"], *words])


def setting_words(settings: Settings) -> list[str]:
    """Settings as they are typed: hidden=64,32, batch_norm=true, optimizer_options.momentum=0.9."""
    return [f"{name}={value}" for name, value in typed_settings(settings).items()]


def typed_settings(settings: Settings) -> dict[str, str]:
    """Values as they are typed, by name; what lies deeper has a dotted one."""
    typed: dict[str, str] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            typed |= {f"{name}.{deeper}": text for deeper, text in typed_settings(value).items()}
        else:
            values = value if isinstance(value, list) else [value]
            typed[name] = ",".join(
                str(one).lower() if isinstance(one, bool) else str(one) for one in values
            )
    return typed


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
