"""The path of weights: who is named, what is counted, and what is refused."""

import pytest
import torch

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.attribution.weight_path import MOST_NAMED, measure_weight_path

PENALTIES = torch.tensor([4.0, 2.0, 1.0])


def test_the_largest_last_weights_are_named_in_their_order() -> None:
    weights = torch.tensor([[0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 1.0, -3.0]])
    view = measure_weight_path(PENALTIES, weights, ("a", "b", "c"), "y")
    assert [path.name for path in view.named] == ["c", "b", "a"]
    assert view.named[1].weights == (0.0, 2.0, 1.0)
    assert (view.num_kept, view.num_inputs) == (2, 3)
    assert view.caption == (
        'Weights of the inputs for "y" as the penalty falls to the model\'s own, 1, at the right '
        'edge. There 2 of 3 weights are not 0; the largest is that of "c", -3.'
    )
    assert view.image("svg").startswith(b"<?xml")


def test_caption_names_no_largest_weight_where_none_is_left_and_tells_an_open_gap() -> None:
    view = measure_weight_path(PENALTIES, torch.zeros(3, 2), ("a", "b"), "y")
    assert view.caption.endswith("There 0 of 2 weights are not 0.")
    assert view.image("svg").startswith(b"<?xml")
    view = measure_weight_path(PENALTIES, torch.ones(3, 2), ("a", "b"), "y", gap_left=0.25)
    assert view.caption.endswith(
        'the largest is that of "a", 1. The optimum was not reached; the gap is 0.25.'
    )


def test_of_many_inputs_the_rest_is_drawn_without_names() -> None:
    weights = torch.arange(60.0).reshape(3, 20)
    view = measure_weight_path(PENALTIES, weights, [f"x{place}" for place in range(20)], "y")
    assert len(view.named) == MOST_NAMED
    assert len(view.others) == 20 - MOST_NAMED


def test_shapes_and_names_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^weights must have shape \(3, D\), got \(2, 3\)$"):
        measure_weight_path(PENALTIES, torch.zeros(2, 3), ("a", "b", "c"), "y")
    with pytest.raises(DataError, match=r"^names must hold 3 names, got 1$"):
        measure_weight_path(PENALTIES, torch.zeros(3, 3), ("a",), "y")
