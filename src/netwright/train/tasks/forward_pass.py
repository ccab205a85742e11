"""How far a model goes for a task: to its outputs, or short of logits that are made in parts."""

from collections.abc import Callable

from torch import Tensor, nn

from netwright.core.outputs import Output, TokenScorer, UnscoredTokens
from netwright.core.trees import Tree
from netwright.layers.module_hooks import is_watched
from netwright.train.tasks.task import Task

ModelOutput = Tensor | Output | UnscoredTokens
Forward = Callable[[Tree], ModelOutput]


def forward_for(model: nn.Module, task: Task) -> Forward:
    """What gives `task.score` its output.

    A model that is watched from outside is called as a whole, from when on it is: its hooks run
    then.
    """
    if not (task.scores_in_parts and isinstance(model, TokenScorer)) or is_watched(model):
        return model

    def short_of_logits(inputs: Tree) -> ModelOutput:
        output: ModelOutput = model(inputs) if is_watched(model) else model.unscored(inputs)
        return output

    return short_of_logits
