"""Batches are tensors, or tuples, lists and dicts of them: one function walks them all.

Shapes: N rows, which all tensors of a tree of examples have in common, F numbers of one row, T
places of a sequence.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

Tree = Any  # a tensor, or a tuple, list or dict of trees


def map_tensors(change: Callable[[Tensor], Tensor], tree: Any) -> Any:
    """The same tree with every tensor changed; what is no tensor stays as it is."""
    if isinstance(tree, Tensor):
        return change(tree)
    if isinstance(tree, dict):
        return {key: map_tensors(change, value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [map_tensors(change, value) for value in tree]
    if isinstance(tree, tuple):
        changed = [map_tensors(change, value) for value in tree]
        named = hasattr(tree, "_fields")  # a NamedTuple takes its fields one by one
        return type(tree)(*changed) if named else tuple(changed)
    return tree


def tensors_of(tree: Any) -> list[Tensor]:
    """All tensors of a tree, in order."""
    found: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    map_tensors(keep, tree)
    return found


def shapes_of(tree: Tree) -> str:
    """The shapes of its tensors as a person reads them: (8, 3), or (8, 3) and (8, 5)."""
    return " and ".join(str(tuple(tensor.shape)) for tensor in tensors_of(tree))


def count_rows(tree: Tree) -> int:
    """N: the first dimension, which all tensors of a tree share."""
    first = tree if isinstance(tree, Tensor) else tensors_of(tree)[0]
    return first.shape[0]  # `len` of a tensor goes through Python: loaders ask for each batch


def count_numbers(tree: Tree) -> int:
    """The numbers of all tensors together."""
    return sum(tensor.numel() for tensor in tensors_of(tree))


def take_rows(tree: Tree, rows: Tensor | slice) -> Tree:
    """The rows at these places, in this order, of every tensor."""
    return map_tensors(lambda tensor: tensor[rows], tree)


def split_rows(tree: Tree, size: int) -> Iterator[Tree]:
    """Stretches of so many rows; the last may have fewer, and of no rows there is one."""
    for start in range(0, max(count_rows(tree), 1), size):
        yield take_rows(tree, slice(start, start + size))


def join_rows(trees: Sequence[Tree]) -> Tree:
    """The rows of several trees of one form, one after the other."""
    columns = zip(*map(tensors_of, trees), strict=True)
    joined = iter([torch.cat(column) for column in columns])
    return map_tensors(lambda _: next(joined), trees[0])


def join_filled(parts: Sequence[Tensor], fill: int) -> Tensor:
    """Rows of sequences (N, T) one after the other, filled up at the end to the longest T."""
    longest = max(part.shape[1] for part in parts)
    return torch.cat([F.pad(part, (0, longest - part.shape[1]), value=fill) for part in parts])


def move(tree: Tree, device: torch.device) -> Tree:
    """The same tree on another device."""
    return map_tensors(lambda tensor: tensor.to(device), tree)


def flat_rows(tree: Tree) -> Tensor:
    """The numbers of each row side by side (N, F), as float64."""
    parts = [tensor.reshape(len(tensor), -1).double() for tensor in tensors_of(tree)]
    return torch.cat(parts, dim=1)


def cuda_devices(tree: Tree) -> list[torch.device]:
    """The graphics cards on which its tensors are, each once."""
    return list({tensor.device: None for tensor in tensors_of(tree) if tensor.is_cuda})
