"""`doctor`: look at data and a model before anything is learned, and say what seems wrong.

print(nw.doctor("Default.csv", target="default"))
nw.doctor((inputs, targets), model="softmax").save("doctor.html")
"""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from netwright.core.config import Config, describe, parse, to_mapping
from netwright.core.errors import DataError
from netwright.data.catalog import SOURCES
from netwright.data.checkup.examination import Examination
from netwright.data.checkup.loaded_data import look_at_data
from netwright.data.checkup.origin import Origin
from netwright.data.checkup.raw_source import FORGIVING, look_at_source
from netwright.data.dataset import Data
from netwright.data.given.arrays import ARRAYS
from netwright.data.given.catalog import form_of
from netwright.data.spec import DataSpec
from netwright.data.tables.frames import is_frame
from netwright.models.catalog import MODELS
from netwright.recipes.doctor.diagnosis import Diagnosis
from netwright.recipes.doctor.model_checkup import look_at_model
from netwright.recipes.fitting.fit import put_together, resolve
from netwright.recipes.plan.given_settings import given_to
from netwright.recipes.plan.named_recipe import OwnModel
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.plan.sources import load_named, settings_type, source_section
from netwright.train.own.parts import NO_PARTS, OwnParts, check_copied, take_all_own


def doctor(
    data: Any = "digits",
    model: str | Config | OwnModel | None = None,
    *,
    seed: int = 0,
    **settings: Any,
) -> Diagnosis:
    """Look at data and a model before training; nothing is learned or written.

    Args:
        data: a name, a path, (inputs, targets), a frame, or `Data`, as `fit` takes it.
        model: a name, a config, a module or what makes one; if not given, what is usual for such
            data.
        seed: of the model's first weights.
        **settings: of the data (target ...), of the model or of training, each by its name; also a
            loss ... of your own, as in `nw.fit`.
    """
    own, settings = take_all_own(settings)
    check_copied(own, "doctor")
    given = given_to("data", settings)
    kind = settings_type(data, given)
    has_columns = is_frame(data) or isinstance(data, Data | str | Path) or form_of(data) is ARRAYS
    return _diagnose(
        None if isinstance(data, str | Path) or not has_columns else data,
        None if kind is None or not has_columns else _config(data, kind, given),
        lambda: resolve(
            "mlp" if model is None else model,
            data,
            seed=seed,
            **_with_data(settings, _forgiving(kind)),
        ),
        is_model_given=model is not None,
        own=own,
    )


def doctor_recipe(recipe: Recipe, *, is_model_given: bool) -> Diagnosis:
    """The same for a recipe; one without a model of its own is looked at with the usual one."""
    config = recipe.data_settings
    given = {} if config is None else to_mapping(config)
    forgiving = {**given, **_forgiving(SOURCES.load(recipe.data).config)}
    return _diagnose(
        None,
        config,
        lambda: (recipe, load_named(recipe.data, forgiving), None),
        is_model_given=is_model_given,
    )


def usual_model(spec: DataSpec) -> str:
    """A model that reads such inputs and predicts such targets."""
    if spec.target == "mask":
        return "unet"
    if spec.target == "boxes":
        return "detr"
    if spec.inputs == "pairs":
        return "encoder-decoder"
    return "lstm" if spec.inputs in {"tokens", "series"} else "mlp"


def _config(data: Any, kind: type[Config], given: dict[str, Any]) -> Config:
    names = {field.name for field in describe(kind)}
    own = {name: value for name, value in given.items() if name in names}
    if isinstance(data, str | Path):
        own = {**source_section(data, given), **own}
        del own["name"]
    return parse(kind, own, "data")


def _with_data(settings: dict[str, Any], instead: dict[str, Any]) -> dict[str, Any]:
    """The settings with others of the data instead, whichever way these were named."""
    exact = {f"data.{name}": value for name, value in instead.items()}
    return {name: value for name, value in settings.items() if name not in instead} | exact


def _forgiving(kind: type[Config] | None) -> dict[str, Any]:
    """The settings with which a source loads what it can; what it cannot is told."""
    names = {field.name for field in describe(kind)} if kind is not None else set()
    return {name: value for name, value in FORGIVING.items() if name in names}


def _diagnose(
    source: Any,
    config: Config | None,
    load: Callable[[], tuple[Recipe, Data, nn.Module | None]],
    *,
    is_model_given: bool,
    own: OwnParts = NO_PARTS,
) -> Diagnosis:
    started = time.monotonic()
    seen = look_at_source(source, config)
    name, model = Path(getattr(config, "path", "")).name or "arrays", ""
    try:
        recipe, data, module = load()
    except DataError as refusal:
        if not seen.findings:
            raise
        left = f"everything else, because the data cannot be loaded: {refusal}"
        seen += Examination(not_looked_at=(left,))
    else:
        if not is_model_given:
            recipe = _with_usual_model(recipe, data.spec)
        name, model = data.name, recipe.model or type(module).__name__
        seen += look_at_data(data, Origin(source=source, config=config))
        seen += look_at_model(put_together(recipe, data, module, own=own))
    return Diagnosis(data=name, model=model, seen=seen, seconds=time.monotonic() - started)


def _with_usual_model(recipe: Recipe, spec: DataSpec) -> Recipe:
    name = usual_model(spec)
    if name == recipe.model:
        return recipe
    return replace(
        recipe, model=name, model_settings=parse(MODELS.load(name).settings, {}, "model")
    )
