"""Mapped inputs: rows as the encoder gives them, and a fingerprint that notices other files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.mapped_inputs import MappedInputs, is_mapped

ENCODER = ArrayEncoder(
    input_shape=(2,), target="real", num_outputs=1, mean=(1.0, -2.0), scale=(2.0, 0.5)
)


def mapped(folder: Path, array: NDArray[Any]) -> NDArray[Any]:
    np.save(folder / "x.npy", array)
    loaded: NDArray[Any] = np.load(folder / "x.npy", mmap_mode="r")
    return loaded


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<i2", "|u1", "<f2"])
def test_rows_are_read_as_the_encoder_scales_them(tmp_path: Path, dtype: str) -> None:
    array = np.arange(20).reshape(10, 2).astype(dtype)
    inputs = MappedInputs(mapped(tmp_path, array), ENCODER)
    rows = torch.tensor([7, 0, 7, 3])
    assert len(inputs) == 10
    assert torch.equal(inputs.read(rows), ENCODER.encode(array[rows.numpy()]))


def test_what_is_not_finite_is_refused_when_it_is_read(tmp_path: Path) -> None:
    array = np.zeros((4, 2))
    array[2, 1] = np.nan
    inputs = MappedInputs(mapped(tmp_path, array), ENCODER)
    inputs.read(torch.tensor([0, 1, 3]))
    with pytest.raises(DataError, match=r"^inputs must be finite, got nan at \[1, 1\]"):
        inputs.read(torch.tensor([0, 2]))


def test_a_file_or_a_part_of_one_is_mapped_and_a_copy_is_not(tmp_path: Path) -> None:
    array = mapped(tmp_path, np.zeros((4, 2)))
    assert is_mapped(array)
    assert is_mapped(array[1:])
    assert not is_mapped(array[[0, 2]])
    assert not is_mapped(np.array(array))


def test_the_fingerprint_tells_files_apart(tmp_path: Path) -> None:
    array = np.arange(12.0).reshape(6, 2)
    other = array.copy()
    other[5, 1] += 1
    variants = [array, other, array.astype("<f4"), array[:5], array.reshape(3, 4)]
    prints = [MappedInputs(mapped(tmp_path, part), ENCODER).fingerprint() for part in variants]
    assert len(set(prints)) == 5
    assert MappedInputs(array, ENCODER).fingerprint() == prints[0]  # wherever it lies


def test_the_fingerprint_of_many_rows_looks_at_some_of_them() -> None:
    array = np.zeros((100_000, 2), dtype=np.float32)
    before = MappedInputs(array, ENCODER).fingerprint()
    array[::20] = 1  # more often than every 24th row
    assert MappedInputs(array, ENCODER).fingerprint() != before
