"""Inputs of a torch `Dataset`, read row by row when a batch wants them.

A row may be changed by draws, as augmentations do: loaders seed every batch by its number.

Shapes: N examples, B rows read together.
"""

import hashlib
from typing import Any

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.seeding import seeded
from netwright.data.batches.reading import RawBatch, read_batch
from netwright.data.loading.stored import StoredInputs, evenly_spaced

MOST_HASHED = 16  # rows that stand for all in a fingerprint


class DatasetInputs(StoredInputs):
    """The rows of a map-style data set whose inputs are one float tensor of one shape each.

    Args:
        dataset: gives (inputs, target) by `dataset[place]`.
        shape: of one input.
        target: the key of the target, where rows are dicts.
    """

    def __init__(self, dataset: Any, shape: tuple[int, ...], target: str = "") -> None:
        self.dataset, self._shape, self.target = dataset, shape, target

    def __len__(self) -> int:
        return len(self.dataset)

    @property
    def shape(self) -> tuple[int, ...]:
        """See `StoredInputs.shape`."""
        return self._shape

    def __repr__(self) -> str:
        return f"DatasetInputs({type(self.dataset).__name__} of {len(self)})"

    def read(self, rows: Tensor) -> Tensor:
        """See `StoredInputs.read`."""
        found = [read_row(self.dataset, row, self.target).inputs[0] for row in rows.tolist()]
        for row, one in zip(rows.tolist(), found, strict=True):
            if not isinstance(one, Tensor) or tuple(one.shape) != self._shape:
                raise DataError(
                    f"the input of row {row} must have shape {self._shape}, got "
                    f"{tuple(one.shape)}: give a DataLoader with a collate_fn"
                )
        return torch.stack(found).to(torch.float32)

    def fingerprint(self) -> str:
        """The sha256 of kind and size, and of a few rows that stand for all."""
        digest = hashlib.sha256(f"{type(self.dataset).__name__} {len(self)}".encode())
        with seeded(0):
            some = self.read(evenly_spaced(len(self), MOST_HASHED))
        digest.update(some.contiguous().numpy().data)
        return digest.hexdigest()


def read_row(dataset: Any, row: int, target: str = "") -> RawBatch:
    """One row as a batch of one; what is no tensor, array or number is refused."""
    item = dataset[row]
    try:
        return read_batch(torch.utils.data.default_collate([item]), target)
    except TypeError as error:
        kind = str(error).rpartition("found ")[2].strip("<>").removeprefix("class ")
        raise DataError(
            f"row {row} of the data set must be (inputs, target) of tensors, arrays or numbers, "
            f"got {kind}: give the data set a transform, such as torchvision's ToTensor(), or give "
            f"a DataLoader with a collate_fn"
        ) from None
    except DataError as error:
        said = str(error).replace("a batch", "a row")
        raise DataError(f"row {row} of the data set: {said}") from None
