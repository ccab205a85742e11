"""What a model makes of examples: outputs in batches, the loss, and the measures.

Shapes: N examples, C classes or labels, K reals.
"""

from contextlib import closing

import torch
from torch import Tensor, nn

from netwright.core.evaluation import evaluating
from netwright.core.outputs import Output
from netwright.data.dataset import Split
from netwright.data.loader import Loader
from netwright.data.worker_loader import build_loader
from netwright.train.ranks import ALONE, Ranks
from netwright.train.tasks.task import Task

EVALUATION_BATCH = 1024


def measure_quickly(
    model: nn.Module, split: Split, task: Task, *, workers: int = 0, ranks: Ranks = ALONE
) -> dict[str, float]:
    """The loss and the headline measure of a split: what is looked at after every epoch.

    Args:
        model: what is measured.
        split: the examples.
        task: what it is measured for.
        workers: processes that read inputs which are not in memory.
        ranks: the processes that measure together, each a part of every batch.
    """
    loss = torch.zeros((), dtype=torch.float64)
    headline = torch.zeros(task.headline_shape, dtype=torch.float64)
    if len(split) < ranks.world:
        ranks = ALONE
    with evaluating(model), closing(_loader(split, workers, ranks)) as loader:
        for index, batch in enumerate(loader.epoch(0)):
            if loader.sizes(index)[0] == 0:  # a small last batch has nothing for this rank
                continue
            output: Tensor | Output = model(batch.inputs)
            loss += len(batch.inputs) * task.loss(output, batch).cpu()
            headline += task.headline_sum(output, batch.targets, batch.weights).cpu()
    ranks.sum(loss, "the sum of the measures")
    ranks.sum(headline, "the sum of the measures")
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


def evaluate(model: nn.Module, split: Split, task: Task, *, workers: int = 0) -> dict[str, float]:
    """The loss and every metric of a split; see `measure_quickly`."""
    loss = torch.zeros((), dtype=torch.float64)
    predictions = []
    with evaluating(model), closing(_loader(split, workers)) as loader:
        for batch in loader.epoch(0):
            output: Tensor | Output = model(batch.inputs)
            loss += len(batch.inputs) * task.loss(output, batch).cpu()
            predictions.append(task.predictions(output).cpu())
    weights = None if split.weights is None else split.weights.cpu()
    measures = task.measure(torch.cat(predictions), split.targets.cpu(), weights)
    return {"loss": float(loss) / len(split), **measures}


def evaluate_baseline(split: Split, guess: Tensor, task: Task) -> dict[str, float]:
    """The metrics of one guess (C,) for all examples: class shares, or the mean."""
    weights = None if split.weights is None else split.weights.cpu()
    return task.measure(guess.expand(len(split), -1), split.targets.cpu(), weights)


def _loader(split: Split, workers: int, ranks: Ranks = ALONE) -> Loader:
    return build_loader(
        split,
        min(EVALUATION_BATCH, len(split)),
        shuffle=False,
        rank=ranks.rank,
        world=ranks.world,
        workers=workers,
        persistent=False,
    )
