"""What a person types as a recipe: defaults, then files, then the command line."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def parse_seconds(text: str) -> float:
    """90, 90s, 10m or 2h in seconds."""
    from netwright.core.time_span import parse_time_span

    return parse_time_span("--max-time", text)


def parse_setting(text: str) -> tuple[str, list[str], str]:
    """Split "model.hidden=256,128" into its section, its keys and its value."""
    from netwright.core.errors import ConfigError

    path, equals, value = text.partition("=")
    section, dot, key = path.strip().partition(".")
    if not equals or not dot or not key:
        raise ConfigError(f"--set must be like model.hidden=256,128, got {text!r}")
    if section not in {"model", "data", "train"}:
        raise ConfigError(f"--set takes model., data. and train. settings, got {path!r}")
    first, *rest = key.split(".")
    return section, [first.replace("-", "_"), *rest], value.strip()


def typed_recipe(
    files: list[Path],
    model: str | None,
    data: str | None,
    seed: int | None,
    settings: list[str],
    given_data: dict[str, Any],
    given_train: dict[str, Any],
    *,
    first: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The first recipe, then files in order, then the command line: the last one wins.

    Data may be typed alone: the model is then that of the files, or the default. A ready recipe may
    be typed where a model is.
    """
    from netwright.models.catalog import MODELS
    from netwright.recipes.plan.recipe import DEFAULTS, data_section, merge, names_data
    from netwright.recipes.plan.recipe_file import read_recipe_file
    from netwright.recipes.plan.typed_settings import nest_typed
    from netwright.recipes.ready.catalog import names_ready, recipe_path

    values = dict(DEFAULTS if first is None else first)
    if data is None and model is not None and model not in MODELS and names_ready(model):
        files, model = [Path(model), *files], None
    for file in files:
        values = merge(values, normal_form(read_recipe_file(recipe_path(file))))
    if data is None and model is not None and model not in MODELS and names_data(model):
        model, data = None, model
    typed: dict[str, dict[str, Any]] = {"model": {}, "data": {}, "train": {}}
    if model is not None:
        typed["model"]["name"] = model
    typed["data"].update({key: value for key, value in given_data.items() if value is not None})
    typed["train"].update({key: value for key, value in given_train.items() if value is not None})
    pairs: dict[str, dict[str, str]] = {section: {} for section in typed}
    for text in settings:
        section, keys, value = parse_setting(text)
        pairs[section][".".join(keys)] = value  # data.types.age=category
    for section, given in pairs.items():
        typed[section].update(nest_typed(given))
    if data is not None:
        typed["data"] = {**data_section(data, typed["data"]), **typed["data"]}
    values = merge(values, typed)
    values["data"] = _with_one_target(values.get("data"))
    return values if seed is None else {**values, "seed": seed}


def _with_one_target(section: Any) -> Any:
    """--target may be typed several times; a source that predicts one column takes its name."""
    from netwright.core.config import describe
    from netwright.data.catalog import SOURCES

    if not isinstance(section, Mapping):  # a file may hold anything: it is refused as a whole
        return section
    target, name = section.get("target"), section.get("name")
    if not isinstance(target, tuple) or len(target) != 1:
        return section
    if not isinstance(name, str) or name not in SOURCES:
        return section
    kinds = {field.name: field.kind for field in describe(SOURCES.load(name).config)}
    takes_several = kinds.get("target", "").startswith("list of")
    return section if takes_several else {**section, "target": target[0]}


def first_recipe(resume: str) -> dict[str, Any]:
    """What holds unless something else is said: the recipe of the run to go on with, or defaults.

    The limits that ended the run before do not end it again; that of the steps stays where it is
    the length of the run, or one of each member.
    """
    from netwright.core.errors import ConfigError
    from netwright.core.files.inside import has_file
    from netwright.models.catalog import MODELS
    from netwright.models.ensembles.ensemble import Ensemble
    from netwright.recipes.plan.recipe import DEFAULTS, merge
    from netwright.recipes.plan.recipe_file import read_own_recipe
    from netwright.recipes.saved.resume import AUTO, NEVER, check_named, run_of

    if resume in {AUTO, NEVER}:
        return dict(DEFAULTS)
    folder = run_of(Path(resume))
    if not has_file(folder / "config.yaml"):
        raise ConfigError(f"--resume must be auto, never or the folder of a run, got {resume!r}")
    check_named(folder)
    values = normal_form(read_own_recipe(folder))
    limits = {"max_time": None, "max_steps": None}
    length = values.get("train", {}).get("epochs")
    if length is None or issubclass(MODELS.load(values["model"]["name"]), Ensemble):
        del limits["max_steps"]
    return merge(values, {"train": limits})


def normal_form(values: dict[str, Any]) -> dict[str, Any]:
    """A recipe file with `model: mlp` or `data: Default.csv` in its long form."""
    from netwright.recipes.plan.recipe import data_section

    values = dict(values)
    if isinstance(values.get("model"), str):
        values["model"] = {"name": values["model"]}
    if isinstance(values.get("data"), str):
        values["data"] = data_section(values["data"])
    return values
