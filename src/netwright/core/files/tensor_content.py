"""Tensors in the format of safetensors, made piece by piece while a file is written.

    8 bytes: size of the header | header: JSON, name -> dtype, shape, place | the numbers

The state of a large model is many gigabytes: what lies in memory is written from there, and what
lies on a device comes to the host one tensor at a time.

Source: https://huggingface.co/docs/safetensors, "Format".
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from netwright.core.errors import DataError

NAMES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.uint64: "U64",
    torch.uint32: "U32",
    torch.uint16: "U16",
    torch.bool: "BOOL",
    torch.complex64: "C64",
    torch.float8_e4m3fn: "F8_E4M3",
    torch.float8_e4m3fnuz: "F8_E4M3FNUZ",
    torch.float8_e5m2: "F8_E5M2",
    torch.float8_e5m2fnuz: "F8_E5M2FNUZ",
}
ALIGNED = 8  # bytes: where the numbers begin


class TensorContent:
    """The content of a file with these tensors: how long it is, and its pieces in order.

    They must not change until the last piece is taken. Tensors may share memory.

    Args:
        tensors: by their names.
        metadata: texts that go into the header.
    """

    def __init__(
        self, tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None
    ) -> None:
        # The widest first, so that each begins at a multiple of its width.
        ordered = sorted(tensors.items(), key=lambda item: (-item[1].itemsize, item[0]))
        self.tensors = [tensor.detach() for _, tensor in ordered]
        header: dict[str, Any] = {} if metadata is None else {"__metadata__": dict(metadata)}
        place = 0
        for name, tensor in ordered:
            end = place + tensor.numel() * tensor.itemsize
            header[name] = {
                "dtype": _name_of(tensor.dtype, name),
                "shape": list(tensor.shape),
                "data_offsets": [place, end],
            }
            place = end
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % ALIGNED)
        self.header = len(text).to_bytes(8, "little") + text
        self.size = len(self.header) + place

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[bytes | memoryview]:
        yield self.header
        for tensor in self.tensors:
            if tensor.numel():
                # A conjugate or a negative may be a mark on the numbers of another tensor.
                plain = tensor.resolve_conj().resolve_neg().cpu().contiguous()
                yield plain.reshape(-1).view(torch.uint8).numpy().data


def _name_of(dtype: torch.dtype, tensor: str) -> str:
    if dtype not in NAMES:
        raise DataError(f"{tensor} cannot be saved: safetensors has no name for {dtype}")
    return NAMES[dtype]
