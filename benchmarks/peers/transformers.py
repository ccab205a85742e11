"""Hugging Face `Trainer.train`, with torch's Adam at a constant rate handed over ready-made.

The Trainer is built off the clock; what `train` itself sets up (accelerate's wrapping) is on it.
"""

import tempfile
from typing import Any

import torch
import torch.nn.functional as F
from contest import BatchIndexed, Problem, Turn
from torch import Tensor, nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments


class Classifier(nn.Module):
    """The Trainer wants the loss from the model, and batches as keyword arguments."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: Tensor, labels: Tensor) -> dict[str, Tensor]:
        logits = self.network(inputs)
        return {"loss": F.cross_entropy(logits, labels), "logits": logits}


class Items(Dataset):
    """One sample at a time, as a dictionary: what its default collation stacks."""

    def __init__(self, problem: Problem) -> None:
        self.inputs, self.labels = problem.inputs, problem.labels

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        return {"inputs": self.inputs[index], "labels": self.labels[index]}


def named(batch: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
    """A batch that is already stacked, under the names of `forward`."""
    return {"inputs": batch[0], "labels": batch[1]}


def fastest(problem: Problem) -> Turn:
    """No bar, log, checkpoint, clipping or look for NaN; a whole batch at one indexing."""
    return _turn(
        problem,
        train_dataset=BatchIndexed(problem.inputs, problem.labels),
        data_collator=named,
        disable_tqdm=True,
        logging_strategy="no",
        logging_nan_inf_filter=False,
        save_strategy="no",
        max_grad_norm=0.0,
    )


def defaults(problem: Problem) -> Turn:
    """Bar, log and clipping of the gradient on, one sample at a time."""
    return _turn(problem, train_dataset=Items(problem), data_collator=None)


def _turn(problem: Problem, *, train_dataset: Dataset, data_collator: Any, **settings: Any) -> Turn:
    network = problem.network()
    optimizer = problem.adam(network)
    constant = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
    folder = tempfile.TemporaryDirectory()
    arguments = TrainingArguments(
        output_dir=folder.name,
        use_cpu=True,
        num_train_epochs=problem.epochs,
        per_device_train_batch_size=problem.batch_size,
        report_to="none",
        dataloader_pin_memory=False,  # there is no other device to copy to
        remove_unused_columns=False,
        **settings,
    )
    trainer = Trainer(
        Classifier(network),
        arguments,
        train_dataset=train_dataset,
        data_collator=data_collator,
        optimizers=(optimizer, constant),
    )
    return Turn(trainer.train, network, folder.cleanup)
