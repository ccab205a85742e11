"""What a model makes of examples: outputs in batches, the loss, and the measures.

Shapes: N examples, C classes or labels, K reals, I rows and J columns of a mask.
"""

from collections.abc import Sequence
from contextlib import closing
from typing import NamedTuple

import torch
from torch import Tensor, nn

from netwright.core.errors import DataError
from netwright.core.evaluation import evaluating
from netwright.core.outputs import Output
from netwright.core.trees import (
    Tree,
    count_numbers,
    join_filled,
    split_rows,
    take_rows,
    tensors_of,
)
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch, Loader
from netwright.data.loading.source_loader import SourceLoader
from netwright.data.loading.token_windows import TokenSplit
from netwright.data.loading.worker_loader import build_loader
from netwright.data.spec import IGNORED
from netwright.metrics.samples import exact_dtype
from netwright.train.own.metrics import measure_own
from netwright.train.ranks import ALONE, Ranks
from netwright.train.tasks.forward_pass import forward_for
from netwright.train.tasks.per_token import PerToken
from netwright.train.tasks.task import Task

EVALUATION_BATCH = 1024
MOST_NUMBERS = 2**21  # of the inputs of a batch: layers make a hundred times as many of them
VECTOR = 1024  # numbers that a token becomes in a language model, about
MOST_ON_CUDA = 2**24  # 111 photographs of 224 x 224: fewer leave the device waiting; not of masks


def measure_quickly(
    model: nn.Module, split: Split, task: Task, *, workers: int = 0, ranks: Ranks = ALONE
) -> dict[str, float]:
    """The loss, the headline measure and a caller's own: what is looked at after every epoch.

    Args:
        model: what is measured.
        split: the examples.
        task: what it is measured for.
        workers: processes that read inputs which are not in memory.
        ranks: the processes that measure together, each a part of every batch.
    """
    device = split.targets.device
    exact = exact_dtype(device)
    loss = torch.zeros((), dtype=exact, device=device)  # read once: nothing waits for the device
    headline = torch.zeros(task.headline_shape, dtype=exact, device=device)
    counted = torch.zeros((), dtype=exact, device=device)
    seen: list[tuple[Tensor, Tensor]] = []
    if len(split) < ranks.world:
        ranks = ALONE
    forward = model if task.own_metrics else forward_for(model, task)
    in_parts = forward is not model
    with evaluating(model), closing(_loader(split, task, workers, ranks, in_parts)) as loader:
        for index, batch in enumerate(loader.epoch(0)):
            made = forward(task.inputs(batch))  # by every rank: the weights may be sharded
            if loader.sizes(index)[0] == 0:  # a small last batch has nothing for this rank
                continue
            output, mean = task.score(made, batch)
            count = task.counted(batch.targets)
            loss += count * mean
            counted += count
            headline += task.headline_sum(output, batch.targets, batch.weights)
            if task.own_metrics:
                seen.append((task.predictions(output).cpu(), batch.targets.cpu()))
    loss, headline, counted = loss.cpu(), headline.cpu(), counted.cpu()
    for total in (loss, headline, counted):
        ranks.sum(total, "the sum of the measures")
    measured = task.with_headline(float(loss / counted), headline / counted)
    return {**measured, **_measured_by_caller(task, seen)}


def _measured_by_caller(task: Task, seen: Sequence[tuple[Tensor, Tensor]]) -> dict[str, float]:
    """The caller's metrics of predictions and targets in batches."""
    if not seen:
        return {}
    predictions, targets = map(torch.cat, zip(*seen, strict=True))
    return measure_own(task.own_metrics, task.target, predictions, targets)


def predict(model: nn.Module, inputs: Tree, task: Task) -> Tensor:
    """What the model says of encoded inputs, on the CPU: see `Task.answers`."""
    size = _batch_size(take_rows(inputs, slice(1)), task)
    with evaluating(model):
        parts = [task.answers(model, part, model(part)).cpu() for part in split_rows(inputs, size)]
    return torch.cat(parts)


class Evaluation(NamedTuple):
    """The metrics of a split, and what the baseline is measured on: its targets and weights."""

    metrics: dict[str, float]
    targets: Tensor
    weights: Tensor | None


def evaluate(model: nn.Module, split: Split, task: Task, *, workers: int = 0) -> dict[str, float]:
    """The loss and every metric of a split; see `measure_quickly`."""
    return evaluate_rows(model, split, task, workers=workers).metrics


def evaluate_rows(model: nn.Module, split: Split, task: Task, *, workers: int = 0) -> Evaluation:
    """The same with the targets (N, ...) and weights (N,) that were measured, on the CPU."""
    loss, counted = torch.zeros(2, dtype=torch.float64)
    compared, seen = [], Seen(task)
    with evaluating(model), closing(_loader(split, task, workers)) as loader:
        for batch in loader.epoch(0):
            output: Tensor | Output = model(task.inputs(batch))
            count = torch.as_tensor(task.counted(batch.targets)).cpu()
            loss += count * task.loss(output, batch).cpu()
            counted += count
            answers = task.answers(model, batch.inputs, output)
            compared.append(task.compared(answers, batch.targets).cpu())
            if isinstance(loader, SourceLoader):
                seen.add(batch)
    is_read = isinstance(loader, SourceLoader)
    targets, weights = seen.joined() if is_read else _held(split, task)
    measures = task.measure(_joined(compared), targets, weights)
    return Evaluation({"loss": float(loss / counted), **measures}, targets, weights)


def evaluate_baseline(split: Split, guess: Tensor, task: Task) -> dict[str, float]:
    """The metrics of one guess (C,) for all examples or pixels: class shares, or the mean."""
    measured = split.to_measure() if isinstance(split, SourceSplit) else split
    if not isinstance(measured, SourceSplit):
        return measure_baseline(*_held(measured, task), guess, task)
    seen = Seen(task)
    for batch in SourceLoader(measured, learns=False).epoch(0):
        seen.add(batch)
    return measure_baseline(*seen.joined(), guess, task)


def measure_baseline(
    targets: Tensor, weights: Tensor | None, guess: Tensor, task: Task
) -> dict[str, float]:
    """The same for targets (N, ...) on the CPU."""
    return task.measure_guess(guess, targets, weights)


class Seen:
    """The targets and weights of batches as they come.

    Args:
        task: knows what of them is measured.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.targets: list[Tensor] = []
        self.weights: list[Tensor] = []

    def add(self, batch: Batch) -> None:
        """Keep those of one batch, on the CPU."""
        self.targets.append(self.task.kept(batch.targets).cpu())
        if batch.weights is not None:
            self.weights.append(batch.weights.cpu())

    def joined(self) -> tuple[Tensor, Tensor | None]:
        """Those of all batches."""
        return _joined(self.targets), torch.cat(self.weights) if self.weights else None


def _joined(parts: list[Tensor]) -> Tensor:
    """The rows of all batches; tags (N, T) are filled up where texts differ in length."""
    if len({part.shape[1:] for part in parts}) == 1:
        return torch.cat(parts)
    return join_filled(parts, IGNORED)


def _held(split: Split, task: Task) -> tuple[Tensor, Tensor | None]:
    """The targets and weights of a split in memory."""
    kept = task.kept(split.targets).cpu()
    return kept, None if split.weights is None else split.weights.cpu()


def _batch_size(example: Tree, task: Task, *, in_parts: bool = False) -> int:
    """As many examples as fit, fewer of large ones, by the size of the one given (1, ...).

    Where each token has an output of its own these are far more numbers than the inputs, unless
    they are made in parts: then it is the vectors that tokens become. A network
    that gives masks has maps as large as the image up to its end: 64 of 512 x 512 would take it
    tens of gigabytes.
    """
    is_cuda = all(part.is_cuda for part in tensors_of(example))
    most = MOST_ON_CUDA if is_cuda and task.target != "mask" else MOST_NUMBERS
    outputs = task.num_classes if isinstance(task, PerToken) else 1
    numbers = count_numbers(example) * (min(outputs, VECTOR) if in_parts else outputs)
    return max(min(EVALUATION_BATCH, most // max(numbers, 1)), 1)


def _loader(
    split: Split, task: Task, workers: int, ranks: Ranks = ALONE, in_parts: bool = False
) -> Loader:
    if len(split) == 0:
        raise DataError("there are no examples to measure")
    if isinstance(split, SourceSplit | TokenSplit):
        split = split.to_measure()
    first = torch.zeros(1, dtype=torch.int64, device=split.targets.device)
    return build_loader(
        split,
        min(max(_batch_size(split.read(first), task, in_parts=in_parts), ranks.world), len(split)),
        shuffle=False,
        rank=ranks.rank,
        world=ranks.world,
        workers=workers,
        persistent=False,
    )
