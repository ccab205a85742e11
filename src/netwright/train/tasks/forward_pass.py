"""How far a model goes for a task: to its outputs, or short of logits that are made in parts."""

from collections.abc import Callable

from torch import Tensor, nn

from netwright.core.outputs import Output, TokenScorer, UnscoredTokens
from netwright.core.trees import Tree
from netwright.train.tasks.task import Task

ModelOutput = Tensor | Output | UnscoredTokens
Forward = Callable[[Tree], ModelOutput]


def forward_for(model: nn.Module, task: Task) -> Forward:
    """What gives `task.score` its output.

    A model that is watched from outside is called as a whole: its hooks run then.
    """
    is_watched = bool(model._forward_hooks or model._forward_pre_hooks)
    if task.scores_in_parts and isinstance(model, TokenScorer) and not is_watched:
        return model.unscored
    return model
