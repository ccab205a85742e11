"""What a file of tensors says it holds, read from its head alone: names, types, shapes, places.

A safetensors file is the length N of its head (8 bytes, little endian), N bytes of JSON, and the
tensors one behind the other. Nothing is made of it here, so it need not be trusted.

Source: the format in the documentation of safetensors, https://huggingface.co/docs/safetensors.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader
from typing import Any

from netwright.core.files.json_text import json_value
from netwright.core.limits import TENSORS

COPIES = 8  # of a model's weights in the state of a run: moments, averages, the best, gradients
BYTES_A_NAME = 200  # of the head, for each tensor: its name, type, shape and place
MOST_DIMENSIONS = 32  # a few are met; the product of a million sizes takes long to work out
BITS = {
    **{"F64": 64, "F32": 32, "F16": 16, "BF16": 16, "F8_E4M3": 8, "F8_E5M2": 8, "C64": 64},
    **{"I64": 64, "I32": 32, "I16": 16, "I8": 8, "BOOL": 8},
    **{"U64": 64, "U32": 32, "U16": 16, "U8": 8},
}


@dataclass(frozen=True)
class StoredTensor:
    """One tensor of a file.

    Args:
        name: by which a model finds it.
        dtype: its type as the format writes it, F32 or I64.
        shape: its sizes.
        size: its bytes.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    size: int


def read_tensor_head(file: BufferedReader) -> tuple[StoredTensor, ...]:
    """The tensors of an open file; a ValueError says what is wrong with its head."""
    whole = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    if whole < 8 or length > whole - 8:
        raise ValueError(f"its header claims {length:,} bytes, the file has {whole:,}")
    most = COPIES * TENSORS.value
    _check(length, BYTES_A_NAME * most, "bytes in its header")
    head = json_value(file.read(length))
    if not isinstance(head, dict):
        raise ValueError("its header is not a table of tensors")
    places = {name: value for name, value in head.items() if name != "__metadata__"}
    _check(len(places), most, "tensors")
    found = [_tensor(name, value) for name, value in places.items()]
    end = 0
    for tensor, start in sorted(found, key=lambda pair: (pair[1], pair[0].size)):
        if start != end:
            raise ValueError(
                f"{tensor.name!r:.100} begins at {start:,}, the previous one ends at {end:,}"
            )
        end += tensor.size
    if end != whole - 8 - length:
        raise ValueError(f"its tensors take {end:,} bytes, the file has {whole - 8 - length:,}")
    return tuple(tensor for tensor, _ in found)


def _check(count: int, most: float, what: str) -> None:
    if count > most:
        raise ValueError(
            f"it has {count:,} {what}, at most {most:,.0f} are read; if you trust it, raise "
            f"{TENSORS.variable}"
        )


def _tensor(name: str, value: Any) -> tuple[StoredTensor, int]:
    """A tensor and where it begins."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{name!r:.100} is not a tensor")
    parts: tuple[Any, Any, Any] = (
        value.get("dtype"),
        value.get("shape"),
        value.get("data_offsets"),
    )
    dtype, shape, place = parts
    if not isinstance(dtype, str) or dtype not in BITS:
        raise ValueError(f"{name!r:.100} has an unknown dtype, {dtype!r:.50}")
    if not _are_sizes(shape, MOST_DIMENSIONS) or not _are_sizes(place, 2) or len(place) != 2:
        raise ValueError(f"{name!r:.100} has no valid shape and offsets")
    start, end = place
    size = math.prod(shape) * BITS[dtype] // 8
    if end - start != size:
        raise ValueError(
            f"{name!r:.100} of shape {shape!s:.100} has {end - start:,} bytes, not {size:,}"
        )
    return StoredTensor(name, dtype, tuple(shape), size), start


def _are_sizes(value: Any, most: int) -> bool:
    """Whether it is a list of at most so many whole numbers from 0."""
    is_short = isinstance(value, list) and len(value) <= most
    return is_short and all(type(one) is int and 0 <= one < 2**63 for one in value)
