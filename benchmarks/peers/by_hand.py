"""Loops that people write themselves: the yardstick, and the same over torch's DataLoader."""

from collections.abc import Iterable

import torch
import torch.nn.functional as F
from contest import Problem, Turn
from torch import Tensor


def by_hand(problem: Problem) -> Turn:
    """Tensors in memory, a permutation an epoch, one indexing a batch."""
    network = problem.network()
    optimizer = problem.adam(network)

    def train() -> None:
        inputs, labels = problem.inputs, problem.labels
        network.train()
        for _ in range(problem.epochs):
            for chosen in torch.randperm(len(inputs)).split(problem.batch_size):
                loss = F.cross_entropy(network(inputs[chosen]), labels[chosen])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    return Turn(train, network)


def dataloader(problem: Problem) -> Turn:
    return _over_loader(problem, problem.item_loader())


def dataloader_batches(problem: Problem) -> Turn:
    return _over_loader(problem, problem.batch_loader())


def _over_loader(problem: Problem, loader: Iterable[tuple[Tensor, Tensor]]) -> Turn:
    network = problem.network()
    optimizer = problem.adam(network)

    def train() -> None:
        network.train()
        for _ in range(problem.epochs):
            for inputs, labels in loader:
                loss = F.cross_entropy(network(inputs), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    return Turn(train, network)
