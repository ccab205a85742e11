"""Models whose loss is convex in their weights: by default they are trained to their optimum.

A linear or logistic regression has one least loss, and no luck of a learning rate has a part in
it. Where neither optimizer nor learning rate is given, it is found by L-BFGS on all rows, from
weights of 0, until nothing is left of the gradient; the last weights are kept, not those of the
best validation loss. From 0 the way stays in the span of the rows: where several weights are
equally good, it ends near those of least length.

Fewer than twice as many rows as features are linearly separable however they are labelled (Cover,
1965): a classifier of words has no optimum worth going to. It is trained as a network is, by Adam
until the validation loss is at its best.

What L-BFGS cannot do (batches, noise, clipping, several processes, more rows than memory) is left
to Adam, with longer steps than a network would take.
"""

from dataclasses import replace

import torch
from torch import nn

from netwright.core.config import changed_fields
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Data
from netwright.models.model import Model
from netwright.train.ranks import count_processes
from netwright.train.setting_marks import ConvexSearch
from netwright.train.settings import DEFAULT_OPTIMIZER, TrainConfig, settings_marked
from netwright.train.tasks.task import Task

SEARCH = "lbfgs"
LR = 1e-2  # of Adam, for weights that start far from their optimum and have no minimum to miss
SMOOTH = frozenset({"squared-error", "huber", "cross-entropy", "binary-cross-entropy"})
MOST_NUMBERS = 2**28  # inputs that are read at once: 1 GiB
IMPOSSIBLE, OTHER_LOSS = map(settings_marked, ConvexSearch)


def has_optimum(module: nn.Module, task: Task, data: Data) -> bool:
    """Whether the loss is convex and smooth in the weights, and rows are enough to say which."""
    if not (isinstance(module, Model) and module.is_linear(module.config)):
        return False
    if task.own_loss is not None or task.loss_name not in SMOOTH:
        return False
    if data.spec.feature_levels:  # vectors of categories times weights: not convex, stuck at 0
        return False
    if isinstance(data.train, SourceSplit):  # not all of its rows are at hand at once
        return False
    enough = len(data.train) >= 2 * (data.spec.num_features + 1)
    return enough or data.spec.target == "real"  # least squares end somewhere in any case


def goes_to_optimum(config: TrainConfig, module: nn.Module, task: Task, data: Data) -> bool:
    """Whether resolved settings lead to the optimum of a convex loss."""
    return config.optimizer == SEARCH and has_optimum(module, task, data)


def choose_optimizer(config: TrainConfig, module: nn.Module, task: Task, data: Data) -> TrainConfig:
    """The settings with an optimizer, and with whether the best weights are put back."""
    if config.optimizer is None and config.lr is None and has_optimum(module, task, data):
        config = (
            replace(config, optimizer=SEARCH)
            if _can_search(config, data)
            else replace(config, optimizer=DEFAULT_OPTIMIZER, lr=LR)
        )
    if config.optimizer is None:
        config = replace(config, optimizer=DEFAULT_OPTIMIZER)
    is_open = config.restore_best is None and config.patience is None
    if is_open and goes_to_optimum(config, module, task, data):
        config = replace(config, restore_best=False)
    return config


def is_whole_loss(config: TrainConfig) -> bool:
    """Whether what training makes small is the mean loss with its L2 penalty, and nothing else."""
    return changed_fields(config).keys().isdisjoint(OTHER_LOSS)


@torch.no_grad()
def start_at_zero(module: nn.Module) -> None:
    """The weights from which the way to the optimum begins."""
    for weight in module.parameters():
        weight.zero_()


def _can_search(config: TrainConfig, data: Data) -> bool:
    """Whether L-BFGS can take all rows at once with these settings."""
    is_possible = changed_fields(config).keys().isdisjoint((*IMPOSSIBLE, *OTHER_LOSS))
    numbers = len(data.train) * data.spec.num_features
    return is_possible and numbers <= MOST_NUMBERS and count_processes() == 1
