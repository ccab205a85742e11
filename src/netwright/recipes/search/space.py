"""What a search may change: settings of a recipe, each with a range or with choices.

train.lr=log:1e-4..1e-1          a range, drawn evenly on a logarithmic scale
model.dropout=0..0.6             a range of reals; of whole numbers where the setting is one
model.hidden=64|128,64|256,128   choices, each as one would type it

"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from math import prod
from typing import TYPE_CHECKING, Any

from netwright.core.checks import nearest
from netwright.core.config import Config, describe, parse, to_mapping
from netwright.core.errors import ConfigError
from netwright.models.catalog import MODELS
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.plan.recipe import Recipe, has_own_rule
from netwright.recipes.plan.recipe_file import typed_value
from netwright.recipes.plan.typed_settings import typed_settings
from netwright.train.settings import TrainConfig

if TYPE_CHECKING:
    from optuna.trial import Trial

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
RANGE = re.compile(rf"(log:)?\s*({NUMBER})\s*\.\.\s*({NUMBER})")
LIKE = "train.lr=log:1e-4..1e-1 or model.hidden=64|128,64"
NOTHING = "none"  # typed for None, and for an empty list
BATCH_SIZES = (16, 32, 64, 128)
# For a model that learns by gradients: settings that it has, and where good values tend to lie.
USUAL = {
    "train.lr": "log:1e-4..1e-1",
    "train.weight_decay": "log:1e-6..1e-2",
    "model.dropout": "0..0.6",
    "model.hidden": "64|128|128,64|256,128",
}

Value = int | float | str


@dataclass(frozen=True, kw_only=True)
class Range:
    """Numbers from low to high, both included."""

    low: float
    high: float
    is_log: bool
    is_whole: bool

    @property
    def ends(self) -> tuple[Value, ...]:
        """Its lowest and its highest value."""
        return (int(self.low), int(self.high)) if self.is_whole else (self.low, self.high)

    @property
    def text(self) -> str:
        """The range as one types it."""
        low, high = self.ends
        return f"{'log:' if self.is_log else ''}{low}..{high}"

    def suggest(self, name: str, trial: "Trial") -> Value:
        """A value for this trial."""
        if self.is_whole:
            return trial.suggest_int(name, int(self.low), int(self.high), log=self.is_log)
        return trial.suggest_float(name, self.low, self.high, log=self.is_log)

    def options(self) -> Sequence[Value] | None:
        """Every value; None where there is no end of them."""
        return range(int(self.low), int(self.high) + 1) if self.is_whole else None


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Values as one types them."""

    values: tuple[str, ...]

    @property
    def ends(self) -> tuple[Value, ...]:
        """All of them."""
        return self.values

    @property
    def text(self) -> str:
        """The choices as one types them."""
        return "|".join(self.values)

    def suggest(self, name: str, trial: "Trial") -> Value:
        """A value for this trial."""
        return trial.suggest_categorical(name, self.values)

    def options(self) -> Sequence[Value]:
        """Every value."""
        return self.values


Space = dict[str, Range | Choices]


def read_space(written: str | Sequence[str] | Mapping[str, Any], recipe: Recipe) -> Space:
    """The space that a person wrote; what the recipe's settings refuse is refused.

    Args:
        written: ["train.lr=log:1e-4..1e-1"], or {"train.lr": "log:1e-4..1e-1",
            "model.hidden": [(64,), (128, 64)]}; one text is one entry.
        recipe: what is searched around.
    """
    space: Space = {}
    for name, values in _pairs(written):
        kind = _kind_of(name, recipe)
        if name in space:
            raise ConfigError(f"{name!r} appears twice in the search space")
        space[name] = _read_values(name, values, kind)
        for end in space[name].ends:
            apply(recipe, {name: end})
    return space


def usual_space(recipe: Recipe, rows: int) -> Space:
    """The space that is searched where none is given: of settings that are as they come."""
    if has_own_rule(recipe.model) or not recipe.model:
        names = ", ".join(_known("model", recipe))
        raise ConfigError(
            f"there is no default search space for {recipe.model or 'a module of your own'}; "
            f"give one{f', of its settings {names}' if names else ''}"
        )
    if issubclass(MODELS.load(recipe.model), Ensemble):
        raise ConfigError(
            "an ensemble has no default search space: give one, such as model.members=5|20"
        )
    written = dict(USUAL)
    width = getattr(recipe.model_settings, "hidden", None)
    if isinstance(width, int):  # of all layers, not a list of widths
        written["model.hidden"] = f"{width // 2}|{width}|{2 * width}"
    elif width is None:  # it follows another setting
        del written["model.hidden"]
    optimizer = recipe.train.rule
    if "weight_decay" not in signature(optimizer.make).parameters:
        del written["train.weight_decay"]
    sizes = [str(size) for size in BATCH_SIZES if 2 * size <= rows]
    if len(sizes) > 1 and not optimizer.full_batch:
        written["train.batch_size"] = "|".join(sizes)
    free = _as_they_come(recipe)
    return read_space({name: text for name, text in written.items() if name in free}, recipe)


def count_cells(space: Space) -> int | None:
    """How many settings there are in all; None where there is no end of them."""
    options = [values.options() for values in space.values()]
    return None if None in options else prod(len(values or ()) for values in options)


def cell_of(space: Space, number: int) -> dict[str, Value]:
    """The settings of this number, from 0, in a space of so many; the first setting turns first."""
    cell: dict[str, Value] = {}
    for name, values in space.items():
        options = values.options() or ()
        number, place = divmod(number, len(options))
        cell[name] = options[place]
    return cell


def apply(recipe: Recipe, values: Mapping[str, Value]) -> Recipe:
    """The recipe with these settings, checked."""
    sections: dict[str, dict[str, Any]] = {"train": to_mapping(recipe.train)}
    if recipe.model_settings is not None:
        sections["model"] = to_mapping(recipe.model_settings)
    for name, value in values.items():
        section, *way, key = name.split(".")
        place = sections[section]
        for step in way:
            place[step] = dict(place.get(step) or {})
            place = place[step]
        place[key] = _untyped(name, value, recipe) if isinstance(value, str) else value
    recipe = replace(recipe, train=parse(TrainConfig, sections["train"], "train"))
    if recipe.model_settings is None:
        return recipe
    settings = parse(type(recipe.model_settings), sections["model"], "model")
    return replace(recipe, model_settings=settings)


def _as_they_come(recipe: Recipe) -> set[str]:
    """The settings that have their default."""
    parts: tuple[tuple[str, Config | None], ...] = (
        ("train", recipe.train),
        ("model", recipe.model_settings),
    )
    return {
        f"{section}.{field.name}"
        for section, config in parts
        if config is not None
        for field in describe(type(config))
        if to_mapping(config)[field.name] == field.default
    }


def _untyped(name: str, value: str, recipe: Recipe) -> Any:
    """The value of a choice; the config reads it further where the setting is declared."""
    kind = _kind_of(name, recipe)
    if value != NOTHING:
        return value if kind else typed_value(value)
    if not kind or "nothing" in kind.split():
        return None
    return () if kind.startswith("list of") else value


def _pairs(written: str | Sequence[str] | Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(written, Mapping):
        for name, values in written.items():
            if not isinstance(name, str):
                raise ConfigError(f"a search space is written like {LIKE}, got {name!r}")
            yield name, values
        return
    texts = [written] if isinstance(written, str) else written
    if not isinstance(texts, Sequence):
        raise ConfigError(f"a search space is written like {LIKE}, got {written!r}")
    for text in texts:
        name, equals, values = text.partition("=") if isinstance(text, str) else ("", "", "")
        if not equals:
            raise ConfigError(f"a search space is written like {LIKE}, got {text!r}")
        section, *rest = name.strip().split(".")
        yield ".".join([section, *(part.replace("-", "_") for part in rest[:1]), *rest[1:]]), values


def _kind_of(name: str, recipe: Recipe) -> str:
    """What the setting is declared to be; empty where it lies deeper and nobody declares it."""
    section, _, rest = name.partition(".")
    key, *deeper = rest.split(".")
    if section == "data":
        raise ConfigError(
            f"a search space has model. and train. settings: {name!r} would change the rows"
        )
    if section not in {"model", "train"} or not key:
        raise ConfigError(f"a search space is written like {LIKE}, got {name!r}")
    if section == "train" and has_own_rule(recipe.model):
        raise ConfigError(
            f"{recipe.model} has its own learning rule: its search space has only model. "
            f"settings, got {name!r}"
        )
    known = _known(section, recipe)
    if key not in known:
        names = [f"{section}.{other}" for other in known]
        hint = nearest(name, names) or f"; there are {', '.join(names)}"
        raise ConfigError(f"unknown setting {name!r}{hint}")
    return "" if deeper else known[key]


def _known(section: str, recipe: Recipe) -> dict[str, str]:
    """Setting -> its type in words."""
    if section == "train":
        kind: type[Config] | None = TrainConfig
    else:
        kind = MODELS.load(recipe.model).settings if recipe.model else None
    return {} if kind is None else {field.name: field.kind for field in describe(kind)}


def _read_values(name: str, values: Any, kind: str) -> Range | Choices:
    if not isinstance(values, str):
        return _read_choices(name, _typed(name, values))
    match = RANGE.fullmatch(values.strip())
    if match is None:
        return _read_choices(name, [value.strip() for value in values.split("|")])
    texts = match[2], match[3]
    low, high = map(float, texts)
    is_whole = "int" in kind.split() or (not kind and all(text.isdecimal() for text in texts))
    if is_whole and not (low.is_integer() and high.is_integer()):
        raise ConfigError(f"{name} is an integer, got the range {values.strip()!r}")
    if not low < high:
        raise ConfigError(f"the range of {name} must be increasing, got {values.strip()!r}")
    if match[1] and low <= 0:
        raise ConfigError(f"a log range must lie above 0, got {values.strip()!r} for {name}")
    return Range(low=low, high=high, is_log=bool(match[1]), is_whole=is_whole)


def _typed(name: str, values: Any) -> list[str]:
    """Choices that were given as Python values."""
    if not isinstance(values, list | tuple) or any(isinstance(one, Mapping) for one in values):
        raise ConfigError(
            f"{name} takes a range like '0..0.6' or a list of choices, got {values!r}"
        )
    plain = [list(value) if isinstance(value, tuple) else value for value in values]
    return [
        NOTHING if value is None or value == [] else typed_settings({name: value})[name]
        for value in plain
    ]


def _read_choices(name: str, values: list[str]) -> Choices:
    if len(values) < 2 or "" in values:
        raise ConfigError(
            f"{name} needs a range like 0..0.6, or at least two choices, got {'|'.join(values)!r}"
        )
    if len(set(values)) < len(values):
        raise ConfigError(f"a choice of {name} appears twice, got {'|'.join(values)!r}")
    return Choices(values=tuple(values))
