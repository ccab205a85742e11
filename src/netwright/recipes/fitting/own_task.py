"""What a model is trained for: what its data asks for, with the user's own loss and metrics."""

from torch import nn

from netwright.core.config import changed_fields
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.core.learner import Learner
from netwright.data.dataset import Data
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.fitting.first_own_step import why_unmeasured
from netwright.recipes.plan.recipe import Recipe
from netwright.train.own.metrics import check_measurable
from netwright.train.own.model_loss import build_own_loss
from netwright.train.own.parts import OwnParts, check_beside
from netwright.train.settings import TrainConfig, pace_of
from netwright.train.tasks.catalog import task_for
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.tasks.task import Task
from netwright.train.tasks.unlabelled import NEEDS_LOSS, Unlabelled

OWN_RULE = "the data has no targets, and the learning rule has a loss of its own"
UNLABELLED = "the batches have no targets that predictions could be compared with"


def own_task(recipe: Recipe, data: Data, module: nn.Module, own: OwnParts) -> Task:
    """The task of a recipe; objects of one's own that would have no part in it are refused."""
    check_beside(own, changed_fields(recipe.train))
    check_measurable(own.metrics, data.spec.target)
    if isinstance(module, Learner | Ensemble):
        for name in own.names:
            raise ConfigError(f"{recipe.model} has its own learning rule and does not use {name}")
        if isinstance(module, Ensemble) and recipe.train.target_transform is not None:
            raise ConfigError("target_transform is not for ensembles, whose members are averaged")
        weighing = TrainConfig(class_weight=recipe.train.class_weight)
        task = task_for(data, weighing, scale_targets=False)  # its rule has its own loss
    else:
        task = task_for(data, recipe.train, scale_targets=own.loss is None)
    task.own_metrics = own.metrics
    if isinstance(task, Unlabelled) and isinstance(module, Learner):
        task.unmeasured = OWN_RULE
        return task
    if isinstance(task, Unlabelled) and own.loss is None and own.training_step is None:
        raise ConfigError(NEEDS_LOSS)
    if own.training_step is not None:
        rows = pace_of(recipe.train, data.train).batch_size
        is_labelled = not isinstance(task, Unlabelled)
        task.unmeasured = why_unmeasured(module, data, task, rows) if is_labelled else UNLABELLED
    if own.loss is not None:
        predicts_next = isinstance(task, LanguageModelling) and task.targets_follow
        task.own_loss = build_own_loss(own.loss, module, predicts_next=predicts_next)
        task.own_loss.to(device_of(module))
    return task
