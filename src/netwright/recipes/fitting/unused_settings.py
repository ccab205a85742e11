"""Settings of training that a rule of its own does not heed, and the note that says so.

Most sweep over models with the same settings for all, so they are no mistake; who believes that
weight_decay regularises a closed form is to read that it does not, and what does.
"""

from collections.abc import Sequence
from typing import cast

from netwright.core.config import changed_fields, field_names
from netwright.core.errors import ConfigError
from netwright.core.learner import Learner
from netwright.models.ensembles.ensemble import Ensemble, Member
from netwright.recipes.fitting.prepared import Prepared
from netwright.train.callback import Callback
from netwright.train.setting_marks import Heeded
from netwright.train.settings import TrainConfig, settings_marked


def unused_settings(config: TrainConfig) -> tuple[str, ...]:
    """The settings of training that were given, and that a rule of its own does not heed."""
    heeded = settings_marked(Heeded.BY_ANY_RULE)
    return tuple(name for name in changed_fields(config) if name not in heeded)


def unused_notes(prepared: Prepared) -> tuple[str, ...]:
    """What to say of settings that have no part in the model's rule, or in those of its members."""
    if not prepared.unused:
        return ()
    model, recipe = prepared.model, prepared.recipe
    name, who = recipe.model or type(model).__name__, "it"
    rule = "has its own learning rule and does"
    if isinstance(model, Ensemble):
        members = dict.fromkeys(member.name for member in cast(list[Member], list(model.members)))
        name, who = ", ".join(members), recipe.model
        rule = "have their own learning rules and do" if len(members) > 1 else rule
    said = f"{name} {rule} not use {', '.join(prepared.unused)}"
    if recipe.model_settings is None:
        return (said,)
    own = ", ".join(f"model.{one}" for one in field_names(type(recipe.model_settings)))
    return (f"{said}: {who} {f'is set by {own}' if own else 'has no settings'}",)


def check_callbacks(prepared: Prepared, given: Sequence[Callback]) -> None:
    """Refuse callbacks of one's own, as other objects, where nothing would call them."""
    if given and isinstance(prepared.model, Learner):
        name = prepared.recipe.model or type(prepared.model).__name__
        raise ConfigError(
            f"{name} has its own learning rule and does not call callbacks: leave them out"
        )
