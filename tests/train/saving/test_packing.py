"""Trees come back as they were, bit for bit; what is not plain is refused by its place."""

import json
import re
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from netwright.core.errors import DataError
from netwright.train.saving.packing import from_bytes, pack, to_bytes, unpack
from tests.repetition import for_each
from tests.train.toy_runs import assert_same

TENSORS = st.sampled_from(
    [
        torch.tensor(1.5),
        torch.arange(6).reshape(2, 3).T,  # not contiguous
        torch.tensor([True, False]),
        torch.tensor([0.1, torch.nan], dtype=torch.bfloat16),
        torch.zeros(0, 2, dtype=torch.uint8),
        torch.ones(2, dtype=torch.float64).expand(3, 2),
    ]
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
KEYS = st.integers(-3, 12) | st.sampled_from(["", "0", "1", "a", "a/b", "b", "/", "$tensor", "$x"])
TREES = st.recursive(
    PLAIN | TENSORS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(TREES)
@example({"a/b": torch.ones(1), "a": {"b": torch.zeros(1)}, 0: torch.ones(2), "0": torch.zeros(2)})
@example([float("nan"), float("inf"), -float("inf"), -0.0])
def test_packed_trees_come_back_as_they_were(tree: Any) -> None:
    tensors: dict[str, Tensor] = {}
    packed = json.loads(json.dumps(pack(tree, "part", tensors), allow_nan=False))
    assert_same(unpack(packed, tensors), tree)
    assert_same(from_bytes(to_bytes(tree)), tree)


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        ({"a": [1, {2}]}, "part/a/1 cannot be saved: a set is not a plain value"),
        ({"a": {(1, 2): 3}}, "part/a cannot be saved: its key (1, 2) is neither text nor a whole"),
        ([nn.Linear(1, 1)], "part/0 cannot be saved: a Linear is not a plain value"),
    ],
)
def test_what_is_not_plain_is_refused_by_its_place(tree: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}"):
        pack(tree, "part", {})


@for_each(
    "tree",
    [{"$set": [1]}, {"$float": "import os"}, {"$list": 3}, {"$list": [], "$tuple": []}, [1], {}],
)
def test_what_was_not_packed_is_refused(tree: Any) -> None:
    with pytest.raises(DataError, match=r"is not part of a saved state$"):
        unpack(tree, {})
