"""The head of a file of tensors: as safetensors writes it, and whatever else may stand there."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from netwright.core.files.tensor_file import StoredTensor, read_tensor_head


def written(path: Path, head: bytes, data: bytes = b"", length: int | None = None) -> Path:
    count = len(head) if length is None else length
    path.write_bytes(count.to_bytes(8, "little") + head + data)
    return path


def head_of(path: Path) -> tuple[StoredTensor, ...]:
    with path.open("rb") as file:
        return read_tensor_head(file)


def test_reads_what_safetensors_writes(tmp_path: Path) -> None:
    kinds = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool]
    kinds += [torch.uint8, torch.int32, torch.complex64, torch.int8, torch.int16, torch.uint16]
    kinds += [torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2]
    tensors = {f"t{place}": torch.zeros(2, place).to(kind) for place, kind in enumerate(kinds)}
    tensors["scalar"] = torch.tensor(3.0)
    save_file(tensors, tmp_path / "x.safetensors", metadata={"format": "pt"})
    found = {tensor.name: tensor for tensor in head_of(tmp_path / "x.safetensors")}
    assert {name: one.shape for name, one in found.items()} == {
        name: tuple(tensor.shape) for name, tensor in tensors.items()
    }
    assert {name: one.size for name, one in found.items()} == {
        name: tensor.nbytes for name, tensor in tensors.items()
    }
    assert (found["t3"].dtype, found["t8"].dtype) == ("BF16", "C64")


def tensor(shape: Any = (2,), place: Any = (0, 8), dtype: Any = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": place}


BAD: dict[str, tuple[Any, str]] = {
    "no table": ([1], "its header is not a table of tensors"),
    "no tensor": ({"a": 3}, "'a' is not a tensor"),
    "type": ({"a": tensor(dtype="OBJ")}, "'a' has an unknown dtype, 'OBJ'"),
    "type that is no text": ({"a": tensor(dtype=["F32"])}, r"'a' has an unknown dtype, \['F32'\]"),
    "negative": ({"a": tensor(shape=[-2])}, "'a' has no valid shape and offsets"),
    "true": ({"a": tensor(shape=[True])}, "'a' has no valid shape and offsets"),
    "many sizes": ({"a": tensor(shape=[1] * 40)}, "'a' has no valid shape"),
    "place": ({"a": tensor(place=[0])}, "'a' has no valid shape and offsets"),
    "too few bytes": ({"a": tensor([3])}, r"'a' of shape \[3\] has 8 bytes, not 12"),
    "a gap": ({"a": tensor(place=[4, 12])}, "'a' begins at 4, the previous one ends at 0"),
    "one over another": (
        {"a": tensor(), "b": tensor(place=[4, 12])},
        "'b' begins at 4, the previous one ends at 8",
    ),
    "bytes behind": ({}, "its tensors take 0 bytes, the file has 8"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_wrong_head_is_told_in_a_sentence(case: str, tmp_path: Path) -> None:
    head, sentence = BAD[case]
    file = written(tmp_path / "x", json.dumps(head).encode(), bytes(8))
    with pytest.raises(ValueError, match=f"^{sentence}"):
        head_of(file)


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        (b"[" * 100_000, "it is nested more than 100 levels deep"),
        (b"\xff", "'utf-8'"),
        (b"{", "Expecting"),
    ],
)
def test_what_is_no_json_is_told(head: bytes, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence):
        head_of(written(tmp_path / "x", head))


@pytest.mark.parametrize("content", [b"", b"\x01", b"\xff" * 8])
def test_a_length_beyond_the_file_is_told_before_anything_is_read(
    content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ValueError, match=r"^its header claims"):
        head_of(tmp_path / "x")


def test_heads_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {f"t{number}": tensor(shape=[0], place=[0, 0]) for number in range(3)}
    file = written(tmp_path / "x", json.dumps(names).encode())
    assert len(head_of(file)) == 3
    monkeypatch.setenv("NETWRIGHT_MAX_TENSORS", "0.25")
    with pytest.raises(
        ValueError, match=r"3 tensors, at most 2 are .* raise NETWRIGHT_MAX_TENSORS"
    ):
        head_of(file)
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.write((10_000).to_bytes(8, "little"))
        sparse.truncate(20_000)
    with pytest.raises(ValueError, match=r"at most 400 are read; .* raise NETWRIGHT_MAX_TENSORS"):
        head_of(tmp_path / "sparse")
