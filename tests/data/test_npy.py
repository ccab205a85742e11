"""A folder of .npy files: found, mapped, divided as arrays are; nothing pickled is read."""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.arrays import from_arrays
from netwright.data.loading.stored import StoredSplit
from netwright.data.npy import NpyConfig, is_npy_folder, load_npy, map_npy


def folder_of(place: Path, inputs: Any, targets: Any) -> Path:
    folder = place / "mine"
    folder.mkdir()
    np.save(folder / "inputs.npy", inputs)
    np.save(folder / "targets.npy", targets)
    return folder


def test_a_folder_is_the_same_data_as_its_arrays_and_stays_on_disk(tmp_path: Path) -> None:
    inputs = np.random.default_rng(0).normal(size=(40, 3))
    targets = np.array(["cat", "dog"] * 20)
    folder = folder_of(tmp_path, inputs, targets)
    data, same = load_npy(NpyConfig(path=str(folder))), from_arrays(inputs, targets)
    assert (data.name, data.spec, data.notes) == ("mine", same.spec, same.notes)
    assert data.preprocessor == same.preprocessor
    for (_, split), (_, other) in zip(data.splits(), same.splits(), strict=True):
        assert isinstance(split, StoredSplit)
        assert torch.equal(split.inputs, other.inputs)
        assert torch.equal(split.targets, other.targets)


def test_settings_of_arrays_apply(tmp_path: Path) -> None:
    images = np.full((10, 1, 2, 2), 255, dtype=np.uint8)
    folder = folder_of(tmp_path, images, np.arange(10) / 2)
    config = NpyConfig(path=str(folder), factor=1 / 255, val_size=0, test_size=0.5)
    data = load_npy(config)
    assert (data.spec.inputs, data.spec.target, data.val) == ("image", "real", None)
    assert bool((data.train.inputs == 1).all())


def test_a_folder_is_known_by_its_inputs(tmp_path: Path) -> None:
    assert not is_npy_folder(tmp_path)
    assert is_npy_folder(folder_of(tmp_path, np.zeros(1), np.zeros(1)))


@pytest.mark.parametrize("name", ["inputs.npy", "targets.npy"])
def test_files_that_hold_no_array_are_refused_by_their_path(tmp_path: Path, name: str) -> None:
    folder = folder_of(tmp_path, np.zeros((4, 2)), np.arange(4))
    path = folder / name
    whole = path.read_bytes()
    start = f"{path} cannot be read as an array of numbers or text: "
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    sentence = start + "Array can't be memory-mapped: Python objects in dtype."
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        load_npy(NpyConfig(path=str(folder)))
    for damaged in (b"", b"no array", whole[:40], whole[:-8]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=f"^{re.escape(start)}"):
            load_npy(NpyConfig(path=str(folder)))
    path.unlink()
    with pytest.raises(DataError, match=f"^{re.escape(start)}No such file or directory$"):
        load_npy(NpyConfig(path=str(folder)))


def test_no_path_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"^path is empty, wanted the folder of inputs.npy and targets.npy$"
    ):
        load_npy(NpyConfig())


def test_a_pipe_or_a_device_is_no_array(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "device.npy").symlink_to("/dev/zero")
    for name in ("pipe.npy", "device.npy"):
        with pytest.raises(DataError, match=f"{name} is a (pipe or socket|device), wanted"):
            map_npy(tmp_path / name)


@pytest.mark.parametrize(
    "shape",
    [
        *("(10**12,)", "(1000000000000,)", "(2**70,)", "(-1,)", "(1,) * 99", f"({10**30},)"),
        *("(20, 2))", "(", f"{'(' * 9_000}{')' * 9_000}"),
    ],
)
def test_a_header_that_promises_more_than_the_file_holds_is_refused(
    tmp_path: Path, shape: str
) -> None:
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    content = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(64)
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as an array of numbers or text"):
        map_npy(tmp_path / "a.npy")
