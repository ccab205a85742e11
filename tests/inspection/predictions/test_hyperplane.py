"""The hyperplane of a perceptron: distances by hand, and what its caption says."""

import pytest
import torch

from netwright.core.errors import ShapeError
from netwright.inspection.predictions.hyperplane import Hyperplane, measure_hyperplane
from tests.repetition import for_each

INPUTS = torch.tensor([[3.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [-2.0, 4.0]])
TARGETS = torch.tensor([1, 1, 0, 0])


def view(
    weight: torch.Tensor,
    bias: torch.Tensor,
    mistakes: tuple[int, ...] = (5, 2, 0),
    *,
    targets: torch.Tensor = TARGETS,
    separable: bool | None = True,
    is_mean: bool = False,
) -> Hyperplane:
    return measure_hyperplane(
        INPUTS,
        targets,
        weight,
        bias,
        mistakes=torch.tensor(mistakes),
        kept_pass=None if is_mean else len(mistakes),
        separable=separable,
    )


def test_distances_are_those_from_the_plane_of_the_class() -> None:
    one = view(torch.tensor([[2.0, 0.0]]), torch.tensor([0.0]))
    assert one.margin == 1.0
    assert (one.num_examples, one.num_beyond, one.num_planes) == (4, 0, 1)
    assert sum(one.amounts) == 4
    moved = view(torch.tensor([[2.0, 0.0]]), torch.tensor([-4.0]))  # the plane x = 2
    assert (moved.margin, moved.num_beyond) == (-1.0, 1)
    three = view(
        torch.tensor([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]),
        torch.zeros(3),
        targets=torch.tensor([1, 1, 0, 2]),
    )
    assert (three.num_examples, three.margin) == (3, 1.0)  # a plane of zeros has no distance


def test_zero_is_an_edge_of_the_histogram() -> None:
    moved = view(torch.tensor([[2.0, 0.0]]), torch.tensor([-4.0]))
    assert min(abs(edge) for edge in moved.edges) == pytest.approx(0, abs=1e-12)
    assert sum(moved.amounts) == 4
    below = [
        amount for amount, edge in zip(moved.amounts, moved.edges, strict=False) if edge < -1e-9
    ]
    assert sum(below) == moved.num_beyond


@for_each(
    ("mistakes", "separable", "words"),
    [
        ((5, 0), True, "A pass without a mistake: a plane separates the training data."),
        ((5, 3), True, "a plane does separate the data; more passes find it."),
        ((5, 3), False, "No pass ever ends without a mistake: a plane cannot separate the data."),
        ((5, 3), None, "whether more passes end without a mistake is unknown."),
    ],
)
def test_caption_says_whether_a_plane_is_enough(
    mistakes: tuple[int, ...], separable: bool | None, words: str
) -> None:
    shown = view(torch.tensor([[2.0, 0.0]]), torch.tensor([0.0]), mistakes, separable=separable)
    assert words in shown.caption
    assert "5 in the first of 2 passes" in shown.caption
    assert shown.image("svg").startswith(b"<?xml")


def test_a_mean_of_all_passes_keeps_none_of_them() -> None:
    plane = (torch.tensor([[2.0, 0.0]]), torch.tensor([0.0]))
    shown = view(*plane, (5, 0), is_mean=True)
    assert "The mean of the weights of all passes answers." in shown.caption
    assert "the last weights separate the training data, the mean of all may not" in shown.caption
    assert "are kept" not in shown.caption
    assert b"kept" not in shown.image("svg")
    stopped = view(*plane, (5, 3), is_mean=True)
    assert "a plane does separate the data; more passes find it." in stopped.caption
    assert "The weights of pass 2 are kept." in view(*plane, (5, 0)).caption


def test_weights_of_zero_have_no_plane() -> None:
    nothing = view(torch.zeros(1, 2), torch.tensor([1.0]), (4, 4), separable=False)
    assert nothing.edges == ()
    assert "there is no plane to measure" in nothing.caption
    assert nothing.image("svg").startswith(b"<?xml")


def test_no_pass_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"^mistakes must not be empty, got shape \(0,\)$"):
        view(torch.ones(1, 2), torch.zeros(1), ())
