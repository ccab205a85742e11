"""Settings of training without effect, and the notes that say so.

A rule of its own heeds few of them. In a sweep over models with the same settings for all that is
no mistake; who believes that weight_decay regularises a closed form is to read that it does not,
and what does. In training by gradients some act only beside another, or in a run that is longer.
"""

from collections.abc import Sequence
from typing import cast

from torch import nn

from netwright.core.config import changed_fields, field_names
from netwright.core.errors import ConfigError
from netwright.core.learner import Learner
from netwright.models.ensembles.ensemble import Ensemble, Member
from netwright.recipes.plan.recipe import Recipe
from netwright.train.callback import Callback
from netwright.train.setting_marks import Heeded
from netwright.train.settings import TrainConfig, settings_marked

SAYS_MORE_OF = {  # a setting -> the one without which it has no effect
    "smooth_over": "label_smoothing",
    "average_decay": "average",
    "teacher_forcing_decay": "teacher_forcing_end",
}


def unused_settings(config: TrainConfig) -> tuple[str, ...]:
    """The settings of training that were given, and that a rule of its own does not heed."""
    heeded = settings_marked(Heeded.BY_ANY_RULE)
    return tuple(name for name in changed_fields(config) if name not in heeded)


def unused_notes(recipe: Recipe, model: nn.Module, unused: Sequence[str]) -> tuple[str, ...]:
    """What to say of settings that have no part in the model's rule, or in those of its members.

    Args:
        recipe: of the run.
        model: its model.
        unused: the settings; empty where all are heeded.
    """
    if not unused:
        return ()
    name, who = recipe.model or type(model).__name__, "it"
    rule = "has its own learning rule and does"
    if isinstance(model, Ensemble):
        members = dict.fromkeys(member.name for member in cast(list[Member], list(model.members)))
        name, who = ", ".join(members), recipe.model
        rule = "have their own learning rules and do" if len(members) > 1 else rule
    said = f"{name} {rule} not use {', '.join(unused)}"
    if recipe.model_settings is None:
        return (said,)
    own = ", ".join(f"model.{one}" for one in field_names(type(recipe.model_settings)))
    return (f"{said}: {who} {f'is set by {own}' if own else 'has no settings'}",)


def idle_notes(config: TrainConfig, updates: int) -> tuple[str, ...]:
    """What to say of settings that change nothing in a run by gradients of so many updates."""
    given = changed_fields(config)
    notes = [
        f"{name} has no effect without {other}"
        for name, other in SAYS_MORE_OF.items()
        if name in given and other not in given
    ]
    if config.warmup > updates:
        notes.append(
            f"the warm-up of {config.warmup:,} updates is longer than the run, {updates:,}: "
            f"the learning rate does not get to its full height"
        )
    return tuple(notes)


def check_callbacks(model: nn.Module, name: str, given: Sequence[Callback]) -> None:
    """Refuse callbacks of one's own, as other objects, where nothing would call them."""
    if given and isinstance(model, Learner):
        raise ConfigError(
            f"{name or type(model).__name__} has its own learning rule and does not call "
            f"callbacks: leave them out"
        )
