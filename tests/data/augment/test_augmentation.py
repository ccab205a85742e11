"""What every augmentation refuses, and the numbers that each image draws for itself."""

import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.augment.augmentation import uniform
from netwright.data.augment.catalog import AUGMENTATIONS
from tests.repetition import for_each

SHAPE = (3, 8, 6)


@for_each(
    ("name", "strength", "sentence"),
    [
        ("flip", 1.5, r"'flip' must be greater than 0 and at most 1, got 1.5"),
        ("flip", 0, r"'flip' must be greater than 0 and at most 1, got 0"),
        ("zoom", 1, r"'zoom' must be greater than 0 and at most 0.9, got 1"),
        ("rotation", 181, r"'rotation' must be greater than 0 and at most 180, got 181"),
        ("noise", float("nan"), r"'noise' must be greater than 0 and at most 1, got nan"),
        ("mixup", 0, r"'mixup' must be at least 0.01, got 0"),
        ("mixup", float("inf"), r"'mixup' must be at least 0.01, got inf"),
        ("crop", 6, r"'crop' must be greater than 0 and at most 5, got 6"),
        ("cutout", 2.5, r"'cutout' must be a whole number of pixels, got 2.5"),
    ],
)
def test_a_strength_that_cannot_be_is_refused(name: str, strength: float, sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^the strength of augmentation {sentence}$"):
        AUGMENTATIONS.load(name).check(name, strength, SHAPE)


def test_colour_needs_three_channels() -> None:
    jitter = AUGMENTATIONS.load("colour-jitter")
    sentence = r"^augmentation 'colour-jitter' needs images of 3 channels, got 1$"
    with pytest.raises(DataError, match=sentence):
        jitter.check("colour-jitter", 0.2, (1, 8, 8))
    jitter.check("colour-jitter", 0.2, SHAPE)


def test_every_row_draws_a_number_between_the_bounds() -> None:
    rows = torch.zeros(5000, 3, 2, dtype=torch.float64)
    numbers = uniform(rows, -1, 3, torch.Generator().manual_seed(0))
    assert (numbers.shape, numbers.dtype) == ((5000, 1, 1), torch.float64)
    assert len(torch.unique(numbers)) == 5000
    assert numbers.min() >= -1
    assert numbers.max() < 3
    assert numbers.mean().item() == pytest.approx(1, abs=0.06)  # deviation 1.15, over root 5000
