"""Frames: how many values lie around a signal, and which ones they are."""

import re

import pytest
import torch

from netwright.core.errors import ShapeError, UnknownNameError
from netwright.layers.convolution.convolution_boundary import (
    convolution_frame,
    correlation_frame,
    zeros_behind,
)
from tests.repetition import for_each

SIGNAL = torch.tensor([1.0, 2.0, 3.0, 4.0])


@for_each(
    ("boundary", "kernel", "framed"),
    [
        ("full", 3, [0, 0, 1, 2, 3, 4, 0, 0]),
        ("valid", 3, [1, 2, 3, 4]),
        ("same", 3, [0, 1, 2, 3, 4, 0]),
        ("same", 4, [0, 0, 1, 2, 3, 4, 0]),
        ("same", 1, [1, 2, 3, 4]),
        ("circular", 3, [1, 2, 3, 4, 1, 2]),
        ("full", 6, [0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0]),
    ],
)
def test_what_surrounds_a_signal_by_hand(boundary: str, kernel: int, framed: list[int]) -> None:
    frame = correlation_frame((4,), (kernel,), boundary)
    assert frame.around(SIGNAL, (kernel,)).tolist() == framed
    assert frame.size == (len(framed) - kernel + 1,)


def test_a_convolution_on_a_circle_looks_back() -> None:
    frame = convolution_frame((4,), (3,), "circular")
    assert frame.around(SIGNAL, (3,)).tolist() == [3, 4, 1, 2, 3, 4]


@pytest.mark.parametrize("boundary", ["full", "valid", "same"])
def test_with_zeros_outside_both_have_one_frame(boundary: str) -> None:
    shapes = (5, 6), (2, 3)
    assert convolution_frame(*shapes, boundary) == correlation_frame(*shapes, boundary)


def test_each_dimension_has_its_own_margins() -> None:
    image = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    framed = correlation_frame((2, 2), (1, 2), "full").around(image, (1, 2))
    assert framed.tolist() == [[0, 1, 2, 0], [0, 3, 4, 0]]
    wrapped = correlation_frame((2, 2), (2, 1), "circular").around(image, (2, 1))
    assert wrapped.tolist() == [[1, 2], [3, 4], [1, 2]]


def test_zeros_go_behind_the_values() -> None:
    assert zeros_behind(torch.ones(1, 2), (2, 3)).tolist() == [[1, 1, 0], [0, 0, 0]]


@for_each(
    ("signal", "kernel", "boundary", "sentence"),
    [
        ((4,), (2,), "circulr", "unknown boundary 'circulr'; did you mean 'circular'?"),
        ((4,), (2,), "0", "unknown boundary '0'; there are full, valid, same, circular"),
        (
            (4,),
            (2, 2),
            "full",
            "signal and kernel must both have one dimension or both two, "
            "got shapes (4,) and (2, 2)",
        ),
        (
            (4, 4, 4),
            (2, 2, 2),
            "full",
            "signal and kernel must both have one dimension or both two, "
            "got shapes (4, 4, 4) and (2, 2, 2)",
        ),
        ((4,), (0,), "full", "signal and kernel must not be empty, got shapes (4,) and (0,)"),
        (
            (4, 4),
            (2, 5),
            "valid",
            "a valid kernel must not be larger than its signal, got shapes (4, 4) and (2, 5)",
        ),
        (
            (4,),
            (5,),
            "circular",
            "a circular kernel must not be larger than its signal, got shapes (4,) and (5,)",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    signal: tuple[int, ...], kernel: tuple[int, ...], boundary: str, sentence: str
) -> None:
    with pytest.raises((ShapeError, UnknownNameError), match=f"^{re.escape(sentence)}$"):
        correlation_frame(signal, kernel, boundary)
