"""Path data: worked by hand, and read back into the corners that were given."""

import re

import pytest

from netwright.inspection.drawing.path_data import Segment, decimals, path_data, read_path
from tests.repetition import for_each


@for_each(
    ("number", "places", "text"),
    [
        (0.0, 2, "0"),
        (-0.004, 2, "0"),
        (0.5, 2, ".5"),
        (-0.5, 1, "-.5"),
        (12.0, 3, "12"),
        (-3.14159, 3, "-3.142"),
        (0.05, 2, ".05"),
        (7.6, 0, "8"),
    ],
)
def test_a_number_has_no_letter_too_many(number: float, places: int, text: str) -> None:
    assert decimals(number, places) == text


@for_each(
    ("segments", "data"),
    [
        ([("M", (1, 2)), ("L", (4, 6)), ("Z", ())], "m1 2 3 4z"),
        ([("M", (1, 2)), ("L", (4, 2)), ("L", (4, 1)), ("L", (6, 1))], "m1 2h3v-1h2"),
        ([("M", (0, 0)), ("L", (1, 1)), ("Z", ()), ("L", (2, 3))], "m0 0 1 1zl2 3"),
        ([("M", (5, 5)), ("Z", ()), ("M", (6, 7))], "m5 5zm1 2"),  # steps go on from the start
        ([("M", (0, 0)), ("M", (1, 1))], "m0 0m1 1"),  # without the letter it would be a line
        ([("M", (0, 0)), ("Q", (1, 0, 2, 2)), ("Q", (3, 4, 5, 5))], "m0 0q1 0 2 2t3 3"),
        ([("M", (0, 0)), ("Q", (1, 0, 2, 2)), ("Q", (5, 4, 5, 5))], "m0 0q1 0 2 2 3 2 3 3"),
        ([("M", (0, 0)), ("L", (2, 2)), ("Q", (4, 4, 5, 5))], "m0 0 2 2q2 2 3 3"),
        ([("M", (0, 0)), ("C", (1, 1, 2, 1, 3, 0))], "m0 0c1 1 2 1 3 0"),
        ([("M", (0.51, -0.5)), ("L", (1.02, 0.26))], "m.51-.5 .51.76"),
    ],
)
def test_a_path_by_hand(segments: list[Segment], data: str) -> None:
    assert path_data(segments, places=2) == data


def test_rounded_steps_do_not_add_up_to_an_error() -> None:
    segments: list[Segment] = [("M", (0, 0)), *(("L", (k / 3, k / 7)) for k in range(1, 1000))]
    x = y = 0.0
    numbers = re.findall(r"-?(?:\d*\.\d+|\d+)", path_data(segments, places=2))
    for right, up in zip(numbers[::2], numbers[1::2], strict=True):
        x, y = x + float(right), y + float(up)
    assert (x, y) == pytest.approx((333.0, 999 / 7), abs=0.006)


def test_what_matplotlib_writes_is_read() -> None:
    text = "M 1.5 2 \nL -3 4e-05 \nQ 1 2 3 4 \nC 1 2 3 4 5 6 \nz\n"
    assert read_path(text) == [
        ("M", [1.5, 2]),
        ("L", [-3, 4e-05]),
        ("Q", [1, 2, 3, 4]),
        ("C", [1, 2, 3, 4, 5, 6]),
        ("Z", []),
    ]
