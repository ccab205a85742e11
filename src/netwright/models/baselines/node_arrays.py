"""Decision trees as arrays of nodes, and all trees walked at once.

A node sends an input left where its feature is at most its threshold, else right. A leaf sends it
to itself, so that all inputs take as many steps as the deepest tree has levels.

Shapes: B batch, D inputs, T trees, M nodes of all trees, V values a leaf.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.errors import DataError
from netwright.models.grown_buffers import GrownBuffers


class NodeArrays(GrownBuffers):
    """The trees of a model: (B, D) -> (B, T, V), the values of the leaf reached in each tree.

    Args:
        num_values: V; before any tree is planted, a tree is one leaf of zeros.
        num_trees: T before any tree is planted.
    """

    grown: ClassVar[tuple[str, ...]] = ("roots", "branches", "feature", "threshold", "value")
    roots: Tensor
    branches: Tensor
    feature: Tensor
    threshold: Tensor
    value: Tensor
    depth: Tensor

    def __init__(self, num_values: int, num_trees: int = 1) -> None:
        super().__init__()
        self.register_buffer("roots", torch.zeros(num_trees, dtype=torch.int64))  # (T,)
        self.register_buffer("branches", torch.zeros(1, 2, dtype=torch.int64))  # (M, 2)
        self.register_buffer("feature", torch.zeros(1, dtype=torch.int64))  # (M,)
        self.register_buffer("threshold", torch.zeros(1))  # (M,)
        self.register_buffer("value", torch.zeros(1, num_values))  # (M, V)
        self.register_buffer("depth", torch.tensor(0))
        # Plain numbers, which a traced graph can be made with: the depth, and what D is at least.
        self.levels, self.width = 0, 1

    def forward(self, x: Tensor) -> Tensor:
        """(B, D) -> (B, T, V)."""
        x = x.float()  # scikit-learn compares in float32
        rows, trees = x.shape[0], len(self.roots)
        if x.shape[1] < self.width:  # the next row's would be read
            raise DataError(f"its trees ask for {self.width} inputs a row, got {x.shape[1]}")
        # Rows and trees are one dimension: index_select reads twice as fast as indexing by (B, T).
        first = torch.arange(rows, device=x.device)[:, None] * x.shape[1]
        first = first.expand(-1, trees).reshape(-1)  # where the inputs of each row begin
        numbers, children = x.reshape(-1), self.branches.reshape(-1)
        node = self.roots.repeat(rows)
        for _ in range(self.levels):
            asked = numbers.index_select(0, first + self.feature.index_select(0, node))
            goes_right = asked > self.threshold.index_select(0, node)
            node = children.index_select(0, 2 * node + goes_right)
        return self.value.index_select(0, node).reshape(rows, trees, self.value.shape[1])

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        held = {name: state_dict.get(prefix + name) for name in (*self.grown, "depth")}
        if all(isinstance(tensor, Tensor) for tensor in held.values()):
            nodes = cast(dict[str, Tensor], held)
            _check_nodes(nodes)
            self.levels = int(nodes["depth"])
            self.width = int(nodes["feature"].max()) + 1 if nodes["feature"].numel() else 1
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def plant(self, trees: Sequence[Any], values: Sequence[NDArray[np.float64]]) -> None:
        """Put the fitted trees of scikit-learn (their `tree_`) in the place of all that was here.

        Args:
            trees: T of them.
            values: of each tree's nodes, (nodes, V).
        """
        sizes = np.array([tree.node_count for tree in trees])
        roots = np.cumsum(sizes) - sizes
        branches = [_branches(tree, root) for tree, root in zip(trees, roots, strict=True)]
        feature = np.concatenate([tree.feature for tree in trees]).clip(min=0)  # a leaf has -2
        threshold = _round_down(np.concatenate([tree.threshold for tree in trees]))
        self.roots = torch.tensor(roots).to(self.roots)
        self.branches = torch.tensor(np.concatenate(branches)).to(self.branches)
        self.feature = torch.tensor(feature).to(self.feature)
        self.threshold = torch.tensor(threshold).to(self.threshold)
        self.value = torch.tensor(np.concatenate(values)).to(self.value)
        self.levels = max(tree.max_depth for tree in trees)
        self.width = int(feature.max()) + 1
        self.depth.fill_(self.levels)


def _check_nodes(held: dict[str, Tensor]) -> None:
    """Refuse arrays that are not those of trees: a walk would leave them, or never end."""
    roots, branches, feature, threshold, value, depth = held.values()
    nodes = len(value) if value.ndim else 0
    shapes = [tuple(part.shape) for part in (branches, feature, threshold)]
    if roots.ndim != 1 or value.ndim != 2 or shapes != [(nodes, 2), (nodes,), (nodes,)]:
        raise DataError("the arrays of its trees do not have one entry per node")
    places = torch.cat((roots, branches.flatten()))
    if not bool(((places >= 0) & (places < nodes)).all()) or not bool((feature >= 0).all()):
        raise DataError("a node of its trees has a child that does not exist")
    if depth.numel() != 1 or not 0 <= int(depth) <= nodes:
        raise DataError(f"its trees must be 0 to {nodes} levels deep, as many as they have nodes")


def _branches(tree: Any, root: int) -> NDArray[np.int64]:
    """Left and right child of each node (nodes, 2), counted from the first node of all trees."""
    own = np.arange(tree.node_count)[:, None]
    children = np.stack((tree.children_left, tree.children_right), axis=1)
    return np.where(children < 0, own, children) + root


def _round_down(threshold: NDArray[np.float64]) -> NDArray[np.float32]:
    """The largest float32 that is not above: a float32 input passes it exactly as it did before."""
    nearest = threshold.astype(np.float32)
    below = np.nextafter(nearest, np.float32(-np.inf))
    return np.where(nearest > threshold, below, nearest)
