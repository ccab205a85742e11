"""`find_lr`: try learning rates for a model on data before training; nothing is learned or written.

found = nw.find_lr("mlp", "digits")
nw.fit("mlp", "digits", lr=found.suggestion)
"""

from dataclasses import replace
from typing import Any

from netwright.core.adapted_module import module_name
from netwright.core.config import Config
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.core.learner import Learner
from netwright.data.given.given import take_splits
from netwright.inspection.training.learning_rate_range import LearningRateRange
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.fitting.fit import put_together, resolve
from netwright.recipes.fitting.prepared import Prepared
from netwright.recipes.plan.named_recipe import OwnModel
from netwright.recipes.plan.recipe import Recipe
from netwright.train.learning_rate_range import try_learning_rates
from netwright.train.own.parts import check_copied, take_all_own
from netwright.train.settings import DEFAULT_OPTIMIZER


def find_lr(
    model: str | Config | OwnModel = "mlp", data: Any = "digits", *, seed: int = 0, **settings: Any
) -> LearningRateRange:
    """Try learning rates from 1e-7 to 10 and suggest one; the arguments are those of `fit`.

    A module of one's own is afterwards as it was, and on the device on which it was.
    """
    own, settings = take_all_own(settings)
    own = replace(own, schedule=None)  # the rate rises by itself
    check_copied(own, "find_lr")
    data, settings = take_splits(data, settings)
    recipe, loaded, module = resolve(model, data, seed=seed, **settings)
    recipe = with_a_rate(recipe)
    if module is None:
        return find_prepared_lr(put_together(recipe, loaded, own=own))
    device = device_of(module)
    try:
        return find_prepared_lr(put_together(recipe, loaded, module, own=own))
    finally:
        module.to(device)


def with_a_rate(recipe: Recipe) -> Recipe:
    """The recipe with an optimizer that has a rate: a convex optimum is found without one."""
    optimizer = recipe.train.optimizer or DEFAULT_OPTIMIZER
    return replace(recipe, train=replace(recipe.train, optimizer=optimizer))


def find_prepared_lr(prepared: Prepared) -> LearningRateRange:
    """Try learning rates on a prepared recipe; it can be trained afterwards as if never tried."""
    recipe, model = prepared.recipe, prepared.model
    if isinstance(model, Ensemble):
        raise ConfigError(
            f"{recipe.model} has no learning rate of its own: find the one of a member"
        )
    if isinstance(model, Learner):
        name = recipe.model or module_name(model)
        raise ConfigError(f"{name} has its own learning rule and no learning rate to find")
    return try_learning_rates(
        model, prepared.data, prepared.task, recipe.train, seed=recipe.seed, own=prepared.own
    )
