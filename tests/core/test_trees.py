"""Trees: every tensor is reached, in order, and the shape of the tree stays."""

from typing import Any, NamedTuple

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from netwright.core.trees import map_tensors, tensors_of


class Pair(NamedTuple):
    left: Tensor
    right: Any


def test_every_tensor_is_changed_and_nothing_else() -> None:
    tree = {"a": torch.ones(2), "b": [torch.zeros(1), "text", None], "c": (3, torch.ones(1))}
    doubled = map_tensors(lambda tensor: tensor * 2, tree)
    assert doubled["a"].tolist() == [2.0, 2.0]
    assert doubled["b"][0].tolist() == [0.0]
    assert doubled["b"][1:] == ["text", None]
    assert isinstance(doubled["c"], tuple)
    assert doubled["c"][0] == 3
    assert doubled["c"][1].tolist() == [2.0]
    assert tree["a"] is not doubled["a"]


def test_a_named_tuple_keeps_its_names() -> None:
    changed = map_tensors(lambda tensor: tensor + 1, Pair(torch.zeros(1), None))
    assert isinstance(changed, Pair)
    assert changed.left.item() == 1.0
    assert changed.right is None


def test_tensors_come_in_the_order_of_the_tree() -> None:
    parts = [torch.tensor(float(number)) for number in range(4)]
    tree = ({"x": parts[0], "y": [parts[1]]}, "no tensor", Pair(parts[2], (parts[3],)))
    found = tensors_of(tree)
    assert len(found) == 4
    assert all(a is b for a, b in zip(found, parts, strict=True))
    assert tensors_of("no tensor") == []


LEAVES = st.one_of(st.integers(), st.none(), st.text(max_size=3), st.just(torch.zeros(1)))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
    ),
    max_leaves=12,
)


@settings(derandomize=True, deadline=None)
@given(TREES)
def test_mapping_the_identity_gives_the_tree_back(tree: Any) -> None:
    assert map_tensors(lambda tensor: tensor, tree) == tree
