"""Drawings as data: the same numbers and classes, scaled as digits are; all else is refused."""

from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.recipes.playground.drawings import SIDE, WHITE, drawn_images
from tests.repetition import for_each

BLANK = [0] * (SIDE * SIDE)
ROWS = [[place, *BLANK[1:], 3 + 4 * (place % 2)] for place in range(10)]


def test_drawings_are_images_with_their_own_classes() -> None:
    data = drawn_images(ROWS)
    assert data.spec.input_shape == (1, SIDE, SIDE) and data.spec.class_names == ("3", "7")
    splits = dict(data.splits())
    assert {name: len(split) for name, split in splits.items()} == {"train": 8, "val": 2}
    first = torch.cat([split.read(torch.arange(len(split))) for split in splits.values()])
    assert sorted(first[:, 0, 0, 0].tolist()) == pytest.approx([n / WHITE for n in range(10)])
    assert not first[:, 0, 1:].any()
    for split in splits.values():
        places = (split.read(torch.arange(len(split)))[:, 0, 0, 0] * WHITE).round().long()
        assert torch.equal(split.targets, places % 2)


@for_each(
    ("rows", "words"),
    [
        (ROWS[:3], "4 to 500 pictures, got 3"),
        ([*ROWS, *ROWS] * 26, "got 520"),
        ([[*BLANK, 1]] * 6, "two classes"),
        ([*ROWS, [*BLANK, 10]], "0 to 9"),
        ([*ROWS, [*BLANK, -1]], "64 whole numbers from 0 to 15"),
        ([*ROWS, [16, *BLANK]], "64 whole numbers"),
        ([*ROWS, BLANK], "64 whole numbers"),
        ([*ROWS, [0.5, *BLANK]], "64 whole numbers"),
        ([*ROWS, "x" * 65], "64 whole numbers"),
        ([*ROWS, 7], "64 whole numbers"),
    ],
)
def test_what_are_no_drawings_is_refused(rows: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        drawn_images(rows)
