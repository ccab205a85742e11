"""Trees of tensors and plain values as JSON beside safetensors, and back, bit for bit.

A tensor leaves a reference in the JSON, and so does one of which each rank packs its rows; keys
keep their kind, since "0" and 0 differ in an optimizer's state.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor

from netwright.core.errors import DataError
from netwright.train.engines.part import Part

ReadPart = Callable[[str, tuple[int, ...]], Tensor]
TREE = "tree"  # the key of the JSON in the header of one block of bytes


def pack(
    tree: Any, path: str, tensors: dict[str, Tensor], parts: dict[str, Tensor] | None = None
) -> Any:
    """A tree as plain JSON; its tensors go into `tensors` and leave a reference.

    Args:
        tree: to be packed.
        path: of it.
        tensors: which all ranks have in common.
        parts: the rows of those that ranks divide; None: there can be none.
    """
    if isinstance(tree, Part) and parts is not None:
        place = _free_name(path, parts)
        parts[place] = tree.own
        return {"$part": place, "shape": list(tree.shape)}
    if isinstance(tree, Tensor):
        place = _free_name(path, tensors)
        tensors[place] = tree
        return {"$tensor": place}
    if isinstance(tree, dict):
        # Keys keep their kind ("0" and 0 differ in an optimizer's state): pairs, not an object.
        return {
            "$pairs": [
                [_plain_key(key, path), pack(value, f"{path}/{key}", tensors, parts)]
                for key, value in tree.items()
            ]
        }
    if isinstance(tree, list | tuple):
        kind = "$list" if isinstance(tree, list) else "$tuple"
        items = enumerate(tree)
        return {kind: [pack(value, f"{path}/{place}", tensors, parts) for place, value in items]}
    if isinstance(tree, float) and not math.isfinite(tree):
        return {"$float": str(tree)}  # JSON has no infinity
    if tree is None or isinstance(tree, bool | int | float | str):
        return tree
    raise DataError(f"{path} cannot be saved: a {type(tree).__name__} is not a plain value")


def unpack(tree: Any, tensors: dict[str, Tensor], part: ReadPart | None = None) -> Any:
    """The tree that `pack` took apart; what it could not have written is refused.

    Args:
        tree: the JSON.
        tensors: by their references.
        part: gives a tensor that ranks divided, by its reference and its shape.
    """
    made = tree
    match tree:
        case None | bool() | int() | float() | str():
            pass
        case {"$tensor": str(path), **rest} if not rest:
            if path not in tensors:
                raise DataError(f"the tensor {path!r} is missing")
            made = tensors[path]
        case {"$part": str(path), "shape": list(shape), **rest} if not rest and part is not None:
            made = part(path, _checked_shape(shape))
        case {"$pairs": list(pairs), **rest} if not rest:
            made = {key: unpack(value, tensors, part) for key, value in pairs}
        case {"$float": "nan" | "inf" | "-inf" as number, **rest} if not rest:
            made = float(number)
        case {"$list": list(items), **rest} if not rest:
            made = [unpack(item, tensors, part) for item in items]
        case {"$tuple": list(items), **rest} if not rest:
            made = tuple(unpack(item, tensors, part) for item in items)
        case _:
            raise DataError(f"{tree!r:.60} is not part of a saved state")
    return made


def _free_name(path: str, taken: Mapping[str, Tensor]) -> str:
    while path in taken:  # "a/b" may be one key or two
        path += "'"
    return path


def _checked_shape(shape: list[Any]) -> tuple[int, ...]:
    """The shape of a tensor that has rows."""
    if not shape or not all(type(size) is int and size >= 0 for size in shape):
        raise DataError(f"{shape!r:.60} is not the shape of a tensor with rows")
    return tuple(shape)


def _plain_key(key: Any, path: str) -> int | str:
    if isinstance(key, int | str):
        return key
    raise DataError(f"{path} cannot be saved: its key {key!r} is neither text nor a whole number")


def stored_tensors(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Contiguous CPU copies that share no memory, as safetensors wants them."""
    return {
        # One copy, also from an accelerator: the state of a large model is many gigabytes.
        name: tensor.detach().to("cpu", copy=True, memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }


def to_bytes(tree: Any) -> bytes:
    """A tree as one block of bytes, to be sent from process to process."""
    tensors: dict[str, Tensor] = {}
    packed = json.dumps(pack(tree, "", tensors), allow_nan=False)
    return save(stored_tensors({**tensors, TREE: _text_tensor(packed)}))


def from_bytes(content: bytes) -> Any:
    """The tree that `to_bytes` packed."""
    tensors = load(content)
    return unpack(json.loads(bytes(tensors.pop(TREE).numpy())), tensors)


def _text_tensor(text: str) -> Tensor:
    return torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)
