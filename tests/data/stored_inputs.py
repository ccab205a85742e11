"""Stored inputs for tests: numbered rows, with noise or with faults where a test wants them."""

import os
import random
import signal
import time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from netwright.data.loading.stored import StoredInputs, StoredSplit


class Numbered(StoredInputs):
    """Row i is (i, -i)."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    @property
    def shape(self) -> tuple[int, ...]:
        return (2,)

    def read(self, rows: Tensor) -> Tensor:
        return torch.stack((rows, -rows), dim=1).float()

    def fingerprint(self) -> str:
        return str(self.count)


class Noisy(Numbered):
    """Every number has noise, drawn from all three generators that a reader may use."""

    def read(self, rows: Tensor) -> Tensor:
        noise = torch.rand(len(rows), 2) + np.random.rand() + random.random()
        return super().read(rows) + noise


class Faulty(Numbered):
    """Goes wrong at row 5, in the way that is asked for."""

    def __init__(self, count: int, fault: str) -> None:
        super().__init__(count)
        self.fault = fault

    def read(self, rows: Tensor) -> Tensor:
        if 5 in rows.tolist():
            self.go_wrong()
        return super().read(rows)

    def go_wrong(self) -> None:
        if self.fault == "raises":
            raise ValueError("row 5 is torn")
        if self.fault == "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault == "exits":
            os._exit(3)
        time.sleep(600)


def split_of(stored: StoredInputs, **settings: Any) -> StoredSplit:
    """A split whose target is ten times the row's number."""
    return StoredSplit(stored=stored, targets=10 * torch.arange(len(stored)), **settings)
