"""Trees: every tensor is reached, in order, and the shape of the tree stays."""

from typing import Any, NamedTuple

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from netwright.core.trees import (
    count_numbers,
    count_rows,
    cuda_devices,
    flat_rows,
    join_rows,
    map_tensors,
    move,
    shapes_of,
    split_rows,
    take_rows,
    tensors_of,
)


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


ROWS = {"a": torch.arange(6.0).reshape(3, 2), "b": [torch.tensor([7, 8, 9])]}


def test_rows_and_numbers_are_counted_and_shapes_are_told() -> None:
    assert count_rows(ROWS) == count_rows(ROWS["a"]) == 3
    assert count_numbers(ROWS) == 9
    assert shapes_of(ROWS) == "(3, 2) and (3,)"
    assert shapes_of(torch.zeros(2, 1)) == "(2, 1)"


def test_rows_are_taken_of_every_tensor_and_joined_again() -> None:
    taken = take_rows(ROWS, torch.tensor([2, 0]))
    assert taken["a"].tolist() == [[4.0, 5.0], [0.0, 1.0]]
    assert taken["b"][0].tolist() == [9, 7]
    parts = list(split_rows(ROWS, 2))
    assert [count_rows(part) for part in parts] == [2, 1]
    joined = join_rows(parts)
    assert all(map(torch.equal, tensors_of(joined), tensors_of(ROWS)))
    assert list(joined) == ["a", "b"]


def test_no_rows_are_one_stretch_of_none() -> None:
    assert [count_rows(part) for part in split_rows(torch.zeros(0, 3), 2)] == [0]


def test_the_numbers_of_a_row_stand_side_by_side() -> None:
    flat = flat_rows(ROWS)
    assert flat.dtype is torch.float64
    assert flat[1].tolist() == [2.0, 3.0, 8.0]


def test_a_tree_moves_as_a_whole() -> None:
    there = move(ROWS, torch.device("meta"))
    assert all(part.is_meta for part in tensors_of(there))
    assert cuda_devices(ROWS) == []


class OnGpu(Tensor):
    """A tensor that says that it is on the second graphics card."""

    is_cuda = True
    device = torch.device("cuda", 1)


def test_a_graphics_card_with_several_tensors_is_named_once() -> None:
    first, second = (torch.zeros(2).as_subclass(OnGpu) for _ in range(2))
    assert cuda_devices([first, {"mask": second}, torch.zeros(2)]) == [torch.device("cuda", 1)]
