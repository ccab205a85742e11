"""Outputs that end in a softmax, a sigmoid or a tanh, where the loss wants any real numbers.

Cross-entropy applies the softmax itself. Of scores that lie between 0 and 1 it can make no more
than e / (e + C - 1) of the right class: the loss stays high, and its gradients are small.
Of log-probabilities it makes the same once more, which does no harm. Real targets are standardised,
so that half of them lie below 0 and a third beyond 1.

Shapes: B rows, C classes, outputs (B, C) or (B, ...).
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from netwright.core.evaluation import evaluating
from netwright.core.finding import Finding
from netwright.core.outputs import logits_of
from netwright.core.trees import Tree, take_rows
from netwright.train.tasks.task import Task

MOST_ROWS = 8  # that are shown to the model; one where each has many outputs
SUMS_TO_ONE = 1e-4  # as far off 1 a sum of probabilities may be
# What autograd calls an operation -> what a user does.
SQUASHING: Mapping[str, str] = {
    "SoftmaxBackward0": "softmax",
    "SigmoidBackward0": "sigmoid",
    "TanhBackward0": "tanh",
}
RECTIFYING: Mapping[str, str] = {"ReluBackward0": "ReLU", "SoftplusBackward0": "softplus"}
# Operations that only put numbers elsewhere.
MOVING = frozenset(
    "View Reshape UnsafeView Squeeze Unsqueeze Transpose T Permute Clone ToCopy Slice Alias".split()
)
CLASS_DIM: Mapping[str, int] = {"class": 1, "mask": 1, "tokens": -1, "tags": -1, "span": 1}
# Losses that squash scores themselves; those of a margin do not, and nll takes log-probabilities.
SQUASHED_BY_LOSS = frozenset(
    {"cross-entropy", "binary-cross-entropy", "dice", "cross-entropy-dice"}
)
MANY_OUTPUTS = frozenset({"mask", "tokens", "tags", "span"})
SEE: Mapping[str, str] = {"labels": "binary-cross-entropy", "real": "squared-error"}


def find_squashed_outputs(model: nn.Module, inputs: Tree, task: Task) -> Finding | None:
    """What the outputs end in, where the loss is not for it.

    Args:
        model: as it is; it is looked at only.
        inputs: a few rows.
        task: what it learns.
    """
    if task.own_loss is not None:
        return None  # it may be for such outputs
    is_real = task.target == "real"
    if not is_real and task.to_json()["loss"] not in SQUASHED_BY_LOSS:
        return None
    rows = 1 if task.target in MANY_OUTPUTS else MOST_ROWS
    with evaluating(model), torch.enable_grad():
        outputs = logits_of(model(take_rows(inputs, slice(rows))))
    end = last_activation(outputs, task.target)
    if not end:
        return None
    own = "sigmoid" if task.target == "labels" else "softmax"
    wanted = f"the loss expects unbounded logits and applies a {own} itself"
    if is_real:
        wanted = "targets are standardised, so half of them are negative and many exceed 1"
    return Finding(
        illness="squashed-outputs",
        sentence=f"the model's outputs end in a {end}, but {wanted}",
        fix=f"Remove the final {end}, so that the model returns its input",
        see=SEE.get(task.target, "cross-entropy"),
    )


def last_activation(outputs: Tensor, target: str) -> str:
    """The name of a squashing function that made the outputs; empty where none did."""
    squashing = {**SQUASHING, **RECTIFYING} if target == "real" else SQUASHING
    last = last_operation(outputs)
    if last in squashing:
        return squashing[last]
    dim = CLASS_DIM.get(target)
    if dim is None or outputs.shape[dim] == 1 or bool((outputs < 0).any()):
        return ""
    is_one = (outputs.sum(dim=dim) - 1).abs() <= SUMS_TO_ONE
    return "softmax" if bool(is_one.all()) else ""


def last_operation(outputs: Tensor) -> str:
    """What autograd calls the operation that made a tensor, beside those that only move numbers."""
    node = outputs.grad_fn
    while node is not None and node.name().removesuffix("Backward0") in MOVING:
        node = node.next_functions[0][0]
    return "" if node is None else node.name()
