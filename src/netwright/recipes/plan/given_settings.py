"""Settings as a caller of `nw.fit` gives them: each finds its section of the recipe.

lr=0.1                         by its short name, where one section alone has it
**{"model.kernel": 5}          by its exact name, where two sections have it
**{"data.name": "series"}      the source that reads a file, where its name does not tell
train=TrainConfig(lr=0.1)      training as a whole; names beside it win
"""

from collections.abc import Mapping
from typing import Any

from netwright.core.checks import nearest
from netwright.core.config import Config, changed_fields, field_names
from netwright.core.errors import ConfigError
from netwright.data.catalog import SOURCES
from netwright.train.settings import TrainConfig

SECTIONS = ("model", "data", "train")
OF_FIT = frozenset({"validation", "test", "groups", "callbacks", "start_from", "resume", "allow"})
SOURCE = "data.name"  # no setting of any source: which source it is
WEIGHTS = "sample_weight"  # as scikit-learn calls them; here they stand beside the rows
AS_SERIES = "it belongs to series: data.name=series reads the file as one"

Settings = Mapping[str, Any]
Kinds = Mapping[str, type[Config] | None]


def split_exact(settings: Settings) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Settings whose names say their section, by section; and the others, by short names."""
    exact: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    short: dict[str, Any] = {}
    for name, value in settings.items():
        section, dot, own = name.partition(".")
        if dot and section in SECTIONS:
            exact[section][own] = value
        elif name != "train":
            short[name] = value
    if "train" in settings:
        exact["train"] = {**_whole_training(settings["train"]), **exact["train"]}
    return exact, short


def given_to(section: str, settings: Settings) -> dict[str, Any]:
    """What may be meant for a section: all short names, and the exact ones of the section."""
    exact, short = split_exact(settings)
    return {**short, **exact[section]}


def sort_settings(
    settings: Settings, kinds: Kinds, *, own_rule: bool = False
) -> dict[str, dict[str, Any]]:
    """The settings by section; a name that no section has, or more than one, is refused.

    Args:
        settings: by short or exact names.
        kinds: the config of each section; None for one that takes no settings.
        own_rule: the model learns by a rule of its own: a name that it shares with gradient
            descent (epochs, lr ...) is the model's.
    """
    known = known_names(kinds)
    sections, short = split_exact(settings)
    check_places(sections, kinds)
    for section, given in sections.items():
        for name in given:
            path = f"{section}.{name}"
            if name not in known.get(section, ()) and not (path == SOURCE and known["data"]):
                raise ConfigError(f"unknown setting {path!r}{_hint(name, known, section)}")
    for name, value in short.items():
        owners = [section for section, names in known.items() if name in names]
        if owners == ["model", "train"] and own_rule:
            owners = ["model"]
        _check_is_setting(name)
        if not owners:
            hint = f"; {AS_SERIES}" if _is_of_series(name, kinds) else _hint(name, known)
            raise ConfigError(f"unknown setting {name!r}{hint}")
        paths = [f"{section}.{name}" for section in owners]
        if len(owners) > 1:
            raise ConfigError(
                f"{name!r} is a setting of {' and of '.join(owners)}; write {' or '.join(paths)}"
            )
        if paths[0] in settings:
            raise ConfigError(f"{name!r} is given twice: also as {paths[0]!r}")
        sections[owners[0]][name] = value
    return sections


def _check_is_setting(name: str) -> None:
    """Refuse what is given in another way."""
    if name in OF_FIT:
        raise ConfigError(f"{name!r} is an argument of nw.fit alone")
    if name == WEIGHTS:
        raise ConfigError(
            f"{name!r} is not a setting: give (inputs, targets, weights) as data, or name a "
            "column of the table by weight_column"
        )


def check_places(sections: Mapping[str, Settings], kinds: Kinds) -> None:
    """Refuse a setting in a section that lacks it where another has it, and say which.

    Another model or source may have it in that very section: then it is not said to be a slip.
    """
    known = known_names(kinds)
    for section, given in sections.items():
        for name in given:
            owners = [owner for owner, names in known.items() if name in names]
            if owners and section not in owners:
                place = f"{owners[0]}.{name}"
                hint = (
                    f"did you mean {place!r}?"
                    if section == "train"
                    else f"{name} is a setting of {owners[0]} here: {place}"
                )
                raise ConfigError(f"unknown setting '{section}.{name}'; {hint}")
            if not owners and section == "data" and _is_of_series(name, kinds):
                raise ConfigError(f"unknown setting 'data.{name}'; {AS_SERIES}")


def known_names(kinds: Kinds) -> dict[str, list[str]]:
    """The settings of each section."""
    return {
        section: field_names(kind) if kind is not None else [] for section, kind in kinds.items()
    }


def _is_of_series(name: str, kinds: Kinds) -> bool:
    """Whether a series has a setting that the table lacks; asked where one is refused alone."""
    is_table = kinds.get("data") is SOURCES.load("table").config
    return is_table and name in field_names(SOURCES.load("series").config)


def _hint(name: str, known: Mapping[str, list[str]], section: str = "") -> str:
    names = known.get(section, []) if section else [one for part in known.values() for one in part]
    return nearest(name, names) or f"; there are {', '.join(names) or 'none'}"


def _whole_training(train: Any) -> dict[str, Any]:
    """What a config of training says that is not the default."""
    if not isinstance(train, TrainConfig):
        raise ConfigError(f"train must be a TrainConfig, got {train!r:.60}")
    return changed_fields(train)
