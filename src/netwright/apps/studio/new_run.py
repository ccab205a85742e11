"""What the page of a new run asks for: the forms of a plan, how it is said elsewhere, its start."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from netwright.apps.studio.data_choices import (
    check_inside,
    checked_data,
    column_names,
)
from netwright.apps.studio.jobs import LOGS, Job, Jobs
from netwright.core.checks import check_seed
from netwright.core.errors import ConfigError, NetwrightError
from netwright.core.files.storage import make_folder, write_text
from netwright.recipes.doctor.doctor import doctor_recipe
from netwright.recipes.plan.recipe import Recipe
from netwright.recipes.plan.recipe_file import to_yaml
from netwright.recipes.plan.reproduce import as_command, as_python, file_word
from netwright.recipes.plan.run_plan import PlannedRun, fitting_models, form_fields

Asked = Mapping[str, Any]
MOST_SETTINGS = 200


class NewRun:
    """A plan that a browser sent.

    Args:
        top: the folder of the studio.
        asked: {"data": ..., "model": ..., "settings": {...}, "seed": 0}.
    """

    def __init__(self, top: Path, asked: Asked) -> None:
        self.top = top
        self.data = checked_data(top, _text(asked, "data"))
        settings = asked.get("settings", {})
        if not isinstance(settings, dict) or len(settings) > MOST_SETTINGS:
            raise ConfigError("settings must be a mapping of names and typed values")
        self.settings = {str(name): _text(settings, name) for name in settings}
        check_inside(top, self.settings)
        self.model = _text(asked, "model")
        self.seed = asked.get("seed", 0)
        check_seed(self.seed)

    def recipe(self) -> Recipe:
        """The checked recipe; none of its settings leads out of the folder."""
        planned = PlannedRun(
            data=self.data, model=self.model, settings=self.settings, seed=self.seed
        )
        recipe = planned.recipe()
        config = recipe.to_mapping()
        unchecked = {name: one for name, one in config["data"].items() if one != self.data}
        check_inside(self.top, {**config, "data": unchecked})
        return recipe

    def plan(self) -> dict[str, Any]:
        """The models that fit, the forms, and the run as command, YAML and Python, or why not."""
        models = fitting_models(self.data, self.settings)
        if self.model not in models:
            self.model = next(iter(models), "mlp")
        fields = form_fields(self.model, self.data, self.settings)
        told: dict[str, Any] = {
            "models": models,
            "model": self.model,
            "fields": {name: [asdict(one) for one in fields[name]] for name in fields},
            "columns": column_names(Path(self.data)) if os.path.isabs(self.data) else [],
        }
        try:
            config = self.recipe().to_mapping()
        except NetwrightError as error:
            return {**told, "error": self._seen_from_the_folder(str(error))}
        said = {"command": as_command(config), "yaml": to_yaml(config), "python": as_python(config)}
        shown = {name: self._seen_from_the_folder(text) for name, text in said.items()}
        return {**told, **shown, "error": ""}

    def start(self, jobs: Jobs) -> Job:
        """Train it, in a process of its own; its recipe is kept with what it prints."""
        recipe = self.recipe()
        words = self._seen_from_the_folder(as_command(recipe.to_mapping()))
        make_folder(self.top / LOGS)
        path = self.top / LOGS / f"recipe-{os.urandom(6).hex()}.yaml"
        write_text(path, to_yaml(recipe.to_mapping()), inside=self.top)
        return jobs.start(["train", "-c", f"{LOGS}/{path.name}", "--quiet"], words)

    def examine(self) -> dict[str, Any]:
        """What the doctor says of the data and the model, before anything is trained."""
        diagnosis = doctor_recipe(self.recipe(), is_model_given=True)
        return {"said": str(diagnosis), "command": self._doctor_command()}

    def _doctor_command(self) -> str:
        words = ["netwright", "doctor", self.data, "--model", self.model]
        for name, value in self.settings.items():
            words += ["--set", f"{name}={value}"]
        return self._seen_from_the_folder(shlex.join(words))

    def _seen_from_the_folder(self, text: str) -> str:
        """The text with the path that is right for who works in the folder."""
        if not os.path.isabs(self.data):
            return text
        return text.replace(self.data, file_word(str(Path(self.data).relative_to(self.top))))


def _text(values: Mapping[Any, Any], name: Any) -> str:
    value = values.get(name, "")
    if not isinstance(value, str) or len(value) > 10_000:
        raise ConfigError(f"{name!r:.60} must be text, got {value!r:.60}")
    return value
