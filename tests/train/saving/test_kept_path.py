"""The file of a path: what goes in comes out, and damage is told."""

from pathlib import Path

import pytest
import torch

from netwright.core.errors import DataError
from netwright.train.saving.kept_path import FILE, KeptPath, read_kept_path
from tests.train.toy_runs import assert_same

PATH = KeptPath(
    steps=(0, 4, 7),
    weights={"w": torch.arange(6.0).reshape(3, 2), "b": torch.tensor([1.0, 2.0, 3.0])},
)


def test_comes_back_as_it_was_and_gives_the_weights_of_each_step(tmp_path: Path) -> None:
    PATH.save(tmp_path / FILE)
    kept = read_kept_path(tmp_path)
    assert kept is not None
    assert kept.steps == (0, 4, 7)
    assert {name: tensor.tolist() for name, tensor in kept.snapshots[4].items()} == {
        "b": 2.0,
        "w": [2.0, 3.0],
    }
    assert_same(dict(sorted(kept.weights.items())), dict(sorted(PATH.weights.items())))


def test_the_same_path_is_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        PATH.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_there_may_be_none(tmp_path: Path) -> None:
    assert read_kept_path(tmp_path) is None
    assert read_kept_path(None) is None


@pytest.mark.parametrize("content", [b"", b"not a file of tensors", b"\x02\0\0\0\0\0\0\0{}"])
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(DataError, match=r"path\.safetensors is damaged: "):
        read_kept_path(tmp_path)
