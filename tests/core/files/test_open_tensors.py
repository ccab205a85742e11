"""Tensors of an open file: those of the file that was opened, whatever took its name since."""

import os
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from netwright.core.errors import DataError
from netwright.core.files.open_tensors import open_tensors, read_tensors


def test_the_tensors_are_those_of_the_open_file(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    tensors = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor([1, 2]), "c": torch.zeros(0)}
    save_file(tensors, path, {"steps": "1 2"})
    with path.open("rb") as file:
        path.unlink()
        save_file({"a": torch.ones(2, 3)}, path)
        found = read_tensors(file, path)
        with open_tensors(file, path) as opened:
            assert opened.metadata() == {"steps": "1 2"}
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], tensors[name]) for name in tensors)
    assert all(found[name].dtype == tensors[name].dtype for name in tensors)


def test_a_system_without_names_for_open_files_goes_by_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.safetensors"
    save_file({"a": torch.ones(2)}, path)
    monkeypatch.setattr(os.path, "exists", lambda path: False)
    with path.open("rb") as file:
        assert torch.equal(read_tensors(file, path)["a"], torch.ones(2))


@pytest.mark.parametrize("content", [b"", b"x" * 100])
def test_what_is_no_safetensors_file_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with (
        path.open("rb") as file,
        pytest.raises(DataError, match=f"^{re.escape(str(path))} is damaged: "),
    ):
        read_tensors(file, path)
