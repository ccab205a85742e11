"""What a model makes of examples: outputs in batches, the loss, and the measures.

Shapes: N examples, C classes or labels, K reals.
"""

import torch
from torch import Tensor, nn

from netwright.core.evaluation import evaluating
from netwright.core.outputs import Output
from netwright.data.dataset import Split
from netwright.data.loader import BatchLoader
from netwright.train.tasks.task import Task

EVALUATION_BATCH = 1024


def measure_quickly(model: nn.Module, split: Split, task: Task) -> dict[str, float]:
    """The loss and the headline measure of a split: what is looked at after every epoch."""
    loss = torch.zeros((), dtype=torch.float64)
    headline = torch.zeros(task.headline_shape, dtype=torch.float64)
    loader = BatchLoader(split, min(EVALUATION_BATCH, len(split)), shuffle=False)
    with evaluating(model):
        for batch in loader.epoch(0):
            output: Tensor | Output = model(batch.inputs)
            loss += len(batch.inputs) * task.loss(output, batch).cpu()
            headline += task.headline_sum(output, batch.targets, batch.weights).cpu()
    return {
        "loss": float(loss) / len(split),
        task.headline: task.headline_value(headline / len(split)),
    }


def predict(model: nn.Module, inputs: Tensor, task: Task) -> Tensor:
    """Predictions for encoded inputs, on the CPU: probabilities (N, C) or reals (N, K)."""
    with evaluating(model):
        parts = [
            task.predictions(model(part)).cpu() for part in torch.split(inputs, EVALUATION_BATCH)
        ]
    return torch.cat(parts)


def evaluate(model: nn.Module, split: Split, task: Task) -> dict[str, float]:
    """The loss and every metric of a split."""
    weights = None if split.weights is None else split.weights.cpu()
    predictions = predict(model, split.inputs, task)
    measures = task.measure(predictions, split.targets.cpu(), weights)
    return {"loss": measure_quickly(model, split, task)["loss"], **measures}


def evaluate_baseline(split: Split, guess: Tensor, task: Task) -> dict[str, float]:
    """The metrics of one guess (C,) for all examples: class shares, or the mean."""
    weights = None if split.weights is None else split.weights.cpu()
    return task.measure(guess.expand(len(split), -1), split.targets.cpu(), weights)
