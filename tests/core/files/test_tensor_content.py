"""What `TensorContent` makes is read by safetensors itself, bit for bit, and nothing is copied."""

import pytest
import torch
from safetensors.torch import load, save
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.files.tensor_content import NAMES, TensorContent


def content_of(file: TensorContent) -> bytes:
    return b"".join(bytes(piece) for piece in file)


def drawn(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    values = torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))
    return (100 * values).to(dtype)


@pytest.mark.parametrize("dtype", NAMES, ids=str)
def test_safetensors_reads_each_dtype_as_it_was(dtype: torch.dtype) -> None:
    drawn_bytes = torch.randint(2, (3, 5 * dtype.itemsize), generator=torch.Generator())
    matrix = drawn_bytes.to(torch.uint8).view(dtype)
    tensors = {"matrix": matrix, "number": matrix[0, 0].clone()}
    read = load(content_of(TensorContent(tensors)))
    for name, tensor in tensors.items():
        assert read[name].dtype == dtype
        assert torch.equal(*(part.reshape(-1).view(torch.uint8) for part in (read[name], tensor)))


def test_conjugates_and_negatives_are_written_as_their_numbers() -> None:
    numbers = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex64)
    read = load(
        content_of(TensorContent({"conjugate": numbers.conj(), "part": numbers.conj().imag}))
    )
    assert read["conjugate"].tolist() == [1 - 2j, 3 + 4j]
    assert read["part"].tolist() == [-2.0, 4.0]


def test_shapes_orders_and_empty_tensors_are_kept() -> None:
    tensors = {
        "bytes": torch.arange(3, dtype=torch.uint8),  # before wider ones it would move them
        "turned": drawn(4, 6).T,
        "strided": drawn(8, 4)[::2],
        "channels-last": drawn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
        "empty": torch.empty(0, 7),
        "wide": drawn(2, dtype=torch.float64),
    }
    file = TensorContent(tensors)
    content = content_of(file)
    read = load(content)
    assert len(content) == len(file)
    assert set(read) == set(tensors)
    assert all(torch.equal(read[name], tensor) for name, tensor in tensors.items())


def test_it_is_what_safetensors_itself_writes() -> None:
    tensors = {"b": drawn(2, 3), "a": drawn(4), "count": torch.tensor(7)}
    told = {"steps": "1 2"}
    theirs, ours = save(tensors, told), content_of(TensorContent(tensors, told))
    assert len(ours) == len(theirs)
    assert {name: part.tolist() for name, part in load(ours).items()} == {
        name: part.tolist() for name, part in load(theirs).items()
    }


def test_tensors_that_share_memory_are_written_one_by_one() -> None:
    table = drawn(5, 3)
    read = load(content_of(TensorContent({"in": table, "out": table, "part": table[1:3]})))
    assert torch.equal(read["in"], read["out"])
    assert torch.equal(read["part"], table[1:3])


def test_numbers_are_taken_from_where_they_lie() -> None:
    tensor = torch.zeros(1000)
    _, numbers = TensorContent({"weights": tensor})
    tensor.fill_(1.0)  # the piece is the memory itself
    assert bytes(numbers) == bytes(tensor.numpy().tobytes())


def test_a_dtype_without_a_name_is_refused() -> None:
    with pytest.raises(DataError, match=r"phase cannot be saved: .*complex128"):
        TensorContent({"phase": torch.zeros(2, dtype=torch.complex128)})
