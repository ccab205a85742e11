"""Mapped inputs: rows as the encoder gives them, and a fingerprint that notices other ones."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.loading.mapped_inputs import MappedInputs, is_stored
from tests.repetition import for_each

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
    inputs = MappedInputs(mapped(tmp_path, array), ENCODER, "content")
    rows = torch.tensor([7, 0, 7, 3])
    assert len(inputs) == 10
    assert torch.equal(inputs.read(rows), ENCODER.encode(array[rows.numpy()]))


def test_what_is_not_finite_is_refused_when_it_is_read(tmp_path: Path) -> None:
    array = np.zeros((4, 2))
    array[2, 1] = np.nan
    inputs = MappedInputs(mapped(tmp_path, array), ENCODER, "content")
    inputs.read(torch.tensor([0, 1, 3]))
    with pytest.raises(DataError, match=r"^inputs must be finite, got nan at \[1, 1\]"):
        inputs.read(torch.tensor([0, 2]))


def test_a_file_or_a_part_of_one_is_stored_and_a_copy_is_not(tmp_path: Path) -> None:
    array = mapped(tmp_path, np.zeros((4, 2)))
    assert is_stored(array)
    assert is_stored(array[1:])
    assert not is_stored(array[[0, 2]])
    assert not is_stored(np.array(array))


@for_each(
    "other",
    [
        MappedInputs(np.zeros((6, 2)), ENCODER, "another"),
        MappedInputs(np.zeros((5, 2)), ENCODER, "content"),
        MappedInputs(np.zeros((6, 2), dtype="<i8"), ENCODER, "content"),
        MappedInputs(np.zeros((6, 2)), replace(ENCODER, mean=(), scale=()), "content"),
        MappedInputs(np.zeros((6, 2)), replace(ENCODER, mean=(1.0, -2.001)), "content"),
        MappedInputs(np.zeros((6, 2)), replace(ENCODER, scale=(0.5, 2.0)), "content"),
        MappedInputs(np.zeros((6, 2)), replace(ENCODER, factor=1.0000001), "content"),
    ],
    ids=["content", "shape", "dtype", "unscaled", "mean", "scale", "factor"],
)
def test_the_fingerprint_tells_content_and_scaling_apart(other: MappedInputs) -> None:
    inputs = MappedInputs(np.zeros((6, 2)), ENCODER, "content")
    assert inputs.fingerprint() == MappedInputs(np.ones((6, 2)), ENCODER, "content").fingerprint()
    assert inputs.fingerprint() != other.fingerprint()


@pytest.mark.parametrize(
    "encoder",
    [
        replace(ENCODER, mean=(1e-17, -2.0 - 2**-51), scale=(2.0 + 2**-51, 0.5)),
        replace(ENCODER, mean=(-3e-17, -2.0)),
        replace(ENCODER, mean=(0.0, -2.0), class_names=("cat", "dog"), columns=("a", "b")),
    ],
)
def test_rounding_and_names_leave_the_fingerprint_as_it_is(encoder: ArrayEncoder) -> None:
    array, centred = np.zeros((6, 2)), replace(ENCODER, mean=(0.0, -2.0))
    ours, theirs = (MappedInputs(array, each, "content") for each in (encoder, centred))
    assert ours.fingerprint() == theirs.fingerprint()
