"""Loaders to test with: rows that draw, samplers of every kind, and streams."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset

ROWS = 22


def rows(count: int = ROWS, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Numbers (N, 3) and the class (N,) that follows from them."""
    inputs = torch.randn(count, 3, generator=torch.Generator().manual_seed(seed))
    return inputs, (inputs[:, 0] > 0).long()


class Noisy(Dataset[Any]):
    """Rows that are changed by draws, as augmentations do.

    Args:
        python: draw from Python's own generator as well.
    """

    classes = ("low", "high")

    def __init__(self, *, python: bool = False) -> None:
        self.inputs, self.targets = rows()
        self.python = python

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
        noise = torch.rand(()) + np.random.random() + (random.random() if self.python else 0)
        return self.inputs[place] + 0.01 * noise, self.targets[place]


class Stream(IterableDataset[Any]):
    """Rows in their order, again and again where it is endless."""

    def __init__(self, *, endless: bool = False) -> None:
        self.endless = endless

    def __iter__(self) -> Iterator[Any]:
        inputs, targets = rows()
        yield from zip(inputs, targets, strict=True)
        while self.endless:
            yield from zip(inputs, targets, strict=True)


class Forgetful(IterableDataset[Any]):
    """A stream with draws that nobody can seed: it goes on where it was left."""

    def __init__(self, seed: int = 0) -> None:
        self.own = torch.Generator().manual_seed(seed)

    def __len__(self) -> int:
        return ROWS

    def __iter__(self) -> Iterator[Any]:
        inputs, targets = rows()
        for place in torch.randperm(ROWS, generator=self.own).tolist():
            yield inputs[place], targets[place]


def noisy_loader(**settings: Any) -> DataLoader[Any]:
    """Shuffled rows with draws, six batches of four but for the last of two."""
    return DataLoader(Noisy(), **{"batch_size": 4, "shuffle": True, **settings})
