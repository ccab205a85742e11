"""Noise: its deviation is the strength times the range, and it has no mean."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.data.augment.noise import NOISE


def stream() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.mark.covers("aug-noise")
def test_the_difference_has_the_deviation_that_was_asked_for() -> None:
    x = torch.rand(16, 3, 32, 32, generator=stream())
    x[0, 0, 0, :2] = torch.tensor([0.0, 1.0])  # a range of 1
    added = NOISE.apply(x, 0.1, torch.Generator().manual_seed(1)) - x
    assert added.std().item() == pytest.approx(0.1, rel=0.01)
    assert added.mean().item() == pytest.approx(0, abs=0.002)
    assert added.flatten(1).std(dim=1).tolist() == pytest.approx([0.1] * 16, rel=0.1)


def test_the_encoding_of_pixels_makes_no_difference() -> None:
    x = torch.rand(4, 1, 8, 8, generator=stream(), dtype=torch.float64)
    plain = NOISE.apply(x, 0.1, stream())
    assert torch.allclose(NOISE.apply(5 * x - 2, 0.1, stream()), 5 * plain - 2)


def test_no_two_images_have_the_same_noise() -> None:
    x = torch.zeros(8, 1, 4, 4)
    x[:, :, 0, 0] = 1
    assert len(torch.unique(NOISE.apply(x, 0.1, stream()), dim=0)) == 8


def test_a_deviation_is_at_most_the_range() -> None:
    NOISE.check("noise", 1, (3, 8, 8))
    with pytest.raises(ConfigError, match=r"and at most 1, got 1.1$"):
        NOISE.check("noise", 1.1, (3, 8, 8))


def test_the_noise_is_drawn_in_the_room_that_is_given() -> None:
    x = torch.rand(2, 1, 4, 4, generator=stream())
    room = torch.empty_like(x)
    assert not NOISE.in_place  # the images are added to it last
    noisy = NOISE.apply(x, 0.1, stream(), room)
    assert noisy.data_ptr() == room.data_ptr()
    assert torch.equal(noisy, NOISE.apply(x, 0.1, stream()))
