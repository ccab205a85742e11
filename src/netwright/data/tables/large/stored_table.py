"""A table that is encoded already, in a folder: rows that are mapped, and all that goes with them.

    inputs.npy          (N, F) float32, mapped and never read as a whole
    rows.safetensors    targets, weights, and the places of training, validation and test rows
    table.json          the encoder, the notes, and the sum of the inputs

Shapes: N rows, F features, B rows read together.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.files.open_tensors import read_tensors
from netwright.core.files.storage import Staging, as_json, read_json
from netwright.core.files.tensor_content import TensorContent
from netwright.data.dataset import Data
from netwright.data.loading.stored import StoredInputs, StoredSplit
from netwright.data.npy import map_npy
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.splitting import Division
from netwright.data.tables.table import DividedRows, divided_data

INPUTS, ROWS, TABLE = "inputs.npy", "rows.safetensors", "table.json"
PARTS = ("train", "val", "test")


class EncodedFile(StoredInputs):
    """Rows of a mapped array, encoded before.

    Args:
        array: (N, F) float32.
        content: the sum of its bytes.
    """

    in_memory_by: ClassVar[str] = "data.in_memory_gb"

    def __init__(self, array: NDArray[Any], content: str) -> None:
        self.array, self.content = array, content

    def __len__(self) -> int:
        return len(self.array)

    @property
    def shape(self) -> tuple[int, ...]:
        """See `StoredInputs.shape`."""
        return self.array.shape[1:]

    def __repr__(self) -> str:
        return f"EncodedFile({self.array.shape})"

    def read(self, rows: Tensor) -> Tensor:
        """See `StoredInputs.read`."""
        return torch.from_numpy(np.asarray(self.array[rows.numpy()]))

    def fingerprint(self) -> str:
        """The sum that was taken when it was written."""
        return self.content


class EncodedRows:
    """The content of `inputs.npy`, encoded while it is written.

    Args:
        parts: encoded rows, together N of them.
        shape: (N, F).
    """

    def __init__(self, parts: Iterable[Tensor], shape: tuple[int, int]) -> None:
        self.parts, self.shape = parts, shape
        self.head = _npy_head(shape)

    def __len__(self) -> int:
        return len(self.head) + self.shape[0] * self.shape[1] * torch.float32.itemsize

    def __iter__(self) -> Iterator[bytes | memoryview]:
        yield self.head
        for part in self.parts:
            yield part.reshape(-1).view(torch.uint8).numpy().data


def _npy_head(shape: tuple[int, int]) -> bytes:
    """As NumPy writes it, version 1.0: it ends at a multiple of 64 bytes."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def write_table(
    staging: Staging,
    inputs: EncodedRows,
    rows: DividedRows,
    encoder: TableEncoder,
    notes: tuple[str, ...],
) -> None:
    """Write the files of a table into a folder that is being filled."""
    weights = encoder.encode_weights(rows.table)
    tensors = {"targets": rows.targets, **rows.division}
    tensors |= {} if weights is None else {"weights": weights}
    staging.write(INPUTS, inputs)
    staging.write(ROWS, TensorContent(tensors))
    about = {
        "format": 1,
        "name": rows.table.name,
        "class_type": rows.target.class_type(rows.table),
        "encoder": encoder.to_json(),
        "notes": list(notes),
        "inputs": staging.sums[INPUTS],
    }
    staging.write(TABLE, as_json(about))


def read_stored_table(folder: Path) -> Data:
    """The data of a folder that `write_table` filled; inputs stay on disk."""
    with _damage_told(folder):
        about = read_json(folder / TABLE)
        with (folder / ROWS).open("rb") as file:
            tensors = read_tensors(file, folder / ROWS)
        encoder = TableEncoder.from_json(about["encoder"])
        whole = StoredSplit(
            stored=EncodedFile(map_npy(folder / INPUTS), about["inputs"]),
            targets=tensors["targets"],
            weights=tensors.get("weights"),
        )
        division = {part: tensors[part] for part in PARTS}
        name, class_type, notes = about["name"], about["class_type"], tuple(about["notes"])
        _check_rows(whole, division, encoder)
    return divided_data(whole, division, encoder, name=name, class_type=class_type, notes=notes)


@contextmanager
def _damage_told(folder: Path) -> Iterator[None]:
    """Whatever is wrong with what was written here has one way out."""
    try:
        yield
    except (AttributeError, LookupError, OSError, TypeError, ValueError):  # a DataError is one
        raise DataError(
            f"{folder} is damaged: remove it, and the table is converted again"
        ) from None


def _check_rows(whole: StoredSplit, division: Division, encoder: TableEncoder) -> None:
    """Refuse rows that are not all there, or have other columns than the encoder gives."""
    weights = [] if whole.weights is None else [len(whole.weights)]
    counts = {len(whole.stored), len(whole.targets), *weights, sum(map(len, division.values()))}
    if len(counts) > 1 or whole.stored.shape != (len(encoder.feature_names),):
        raise DataError("the rows are not those that were written")
