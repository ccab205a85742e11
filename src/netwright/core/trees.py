"""Batches are tensors, or tuples, lists and dicts of them: one function walks them all."""

from collections.abc import Callable
from typing import Any

from torch import Tensor


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
