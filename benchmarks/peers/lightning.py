"""Lightning: `Trainer.fit` of a module whose step returns the loss.

The Trainer is built off the clock; what `fit` itself sets up (strategy, loops, optimizer) is on it.
"""

import logging
import tempfile

import torch
import torch.nn.functional as F
from contest import Problem, Turn
from lightning.pytorch import LightningModule, Trainer
from torch import Tensor, nn

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Classifier(LightningModule):
    """The network, its loss and its optimizer, as Lightning wants them in one class."""

    def __init__(self, network: nn.Module, problem: Problem, *, logs: bool) -> None:
        super().__init__()
        self.network, self.problem, self.logs = network, problem, logs

    def training_step(self, batch: tuple[Tensor, Tensor], index: int) -> Tensor:
        inputs, labels = batch
        loss = F.cross_entropy(self.network(inputs), labels)
        if self.logs:
            self.log("loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return self.problem.adam(self.network)


def fastest(problem: Problem) -> Turn:
    """Its "barebones" mode (no bar, logger, checkpoint, summary), a whole batch at one indexing."""
    network = problem.network()
    module = Classifier(network, problem, logs=False)
    trainer = Trainer(max_epochs=problem.epochs, accelerator="cpu", devices=1, barebones=True)
    loader = problem.batch_loader()
    return Turn(lambda: trainer.fit(module, loader), network)


def defaults(problem: Problem) -> Turn:
    """Bar, logger and checkpoint on, the loss logged, one sample at a time."""
    network = problem.network()
    module = Classifier(network, problem, logs=True)
    folder = tempfile.TemporaryDirectory()
    trainer = Trainer(
        max_epochs=problem.epochs, accelerator="cpu", devices=1, default_root_dir=folder.name
    )
    loader = problem.item_loader()
    return Turn(lambda: trainer.fit(module, loader), network, folder.cleanup)
