"""Trees as arrays: a walk by hand, thresholds to the last bit, and trees of different depth."""

import numpy as np
import pytest
import torch
from sklearn.tree import DecisionTreeRegressor
from torch import Tensor

from netwright.core.errors import DataError
from netwright.models.baselines.node_arrays import NodeArrays
from tests.repetition import for_each


def test_before_any_tree_every_input_reaches_a_leaf_of_zeros() -> None:
    assert torch.equal(NodeArrays(2, num_trees=3)(torch.randn(4, 5)), torch.zeros(4, 3, 2))


def test_trees_of_different_depth_are_walked_at_once() -> None:
    numbers = np.random.default_rng(0)
    x, y = numbers.normal(size=(60, 3)).astype(np.float32), numbers.normal(size=60)
    grown = [DecisionTreeRegressor(max_depth=depth).fit(x, y) for depth in (1, 5, 2)]
    trees = [one.tree_ for one in grown]
    arrays = NodeArrays(1)
    arrays.plant(trees, [tree.value[:, 0] for tree in trees])
    assert int(arrays.depth) == 5
    by_tree = arrays(torch.tensor(x))[..., 0]
    np.testing.assert_allclose(by_tree.T, [one.predict(x) for one in grown], rtol=1e-6)
    by_columns = torch.tensor(x.T.copy()).T  # as a table that is stored column by column
    assert torch.equal(arrays(by_columns)[..., 0], by_tree)
    assert arrays(torch.zeros(0, 3)).shape == (0, 3, 1)
    loaded = NodeArrays(1)
    loaded.load_state_dict(arrays.state_dict())
    for one in (arrays, loaded):
        with pytest.raises(DataError, match="its trees ask for 3 inputs a row, got 2"):
            one(torch.tensor(x[:, :2]))


def test_an_input_at_the_threshold_goes_left_and_the_next_number_goes_right() -> None:
    left = np.nextafter(np.float32(1000.0), np.float32(2000.0))
    right = np.nextafter(left, np.float32(2000.0))
    grown = DecisionTreeRegressor().fit([[left], [right]], [0.0, 1.0])
    assert left < grown.tree_.threshold[0] < right
    assert np.float32(grown.tree_.threshold[0]) == right  # rounded to the nearest it would be wrong
    arrays = NodeArrays(1)
    arrays.plant([grown.tree_], [grown.tree_.value[:, 0]])
    below, above = np.float32(1000.0), np.float32(1001.0)
    x = torch.tensor([[below], [left], [right], [above]])
    assert arrays(x).flatten().tolist() == [0.0, 0.0, 1.0, 1.0]
    assert arrays(x.double()).flatten().tolist() == [0.0, 0.0, 1.0, 1.0]


@for_each(
    ("changes", "reason"),
    [
        ({"depth": torch.tensor(2**62)}, "its trees must be 0 to 3 levels deep"),  # without end
        ({"depth": torch.tensor(-1)}, "its trees must be 0 to 3 levels deep"),
        ({"roots": torch.tensor([3])}, "a node of its trees has a child that does not exist"),
        (
            {"branches": torch.full((3, 2), -1)},
            "a node of its trees has a child that does not exist",
        ),
        ({"feature": torch.full((3,), -2)}, "a node of its trees has a child that does not exist"),
        ({"threshold": torch.zeros(2)}, "the arrays of its trees do not have one entry per node"),
        ({"value": torch.zeros(3)}, "the arrays of its trees do not have one entry per node"),
    ],
)
def test_arrays_that_are_no_trees_are_refused(changes: dict[str, Tensor], reason: str) -> None:
    good = {
        "roots": torch.tensor([0]),
        "branches": torch.tensor([[1, 2], [1, 1], [2, 2]]),
        "feature": torch.zeros(3, dtype=torch.int64),
        "threshold": torch.zeros(3),
        "value": torch.zeros(3, 2),
        "depth": torch.tensor(1),
    }
    NodeArrays(2).load_state_dict(good)
    with pytest.raises(DataError, match=reason):
        NodeArrays(2).load_state_dict({**good, **changes})
