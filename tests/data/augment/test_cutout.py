"""Cutout: a square of zeros, whole inside the image, cut at its border."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.data.augment.cutout import CUTOUT, blanked


def stream() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_a_square_by_hand() -> None:
    x = torch.arange(1.0, 13).view(1, 1, 3, 4).repeat(2, 1, 1, 1)
    holes = blanked(x, 2, torch.tensor([[[1], [-1]], [[0], [3]]]))
    assert holes[0, 0].tolist() == [[1, 2, 3, 4], [0, 0, 7, 8], [0, 0, 11, 12]]
    assert holes[1, 0].tolist() == [[1, 2, 3, 0], [5, 6, 7, 8], [9, 10, 11, 12]]


@pytest.mark.parametrize("side", [1, 4, 5])
def test_the_square_has_its_area_and_every_channel_has_the_same(side: int) -> None:
    x = torch.ones(500, 3, 12, 10)
    lost = CUTOUT.apply(x, side, stream()) == 0
    areas = lost[:, 0].sum(dim=(1, 2))
    assert torch.equal(lost, lost[:, :1].expand_as(lost))
    assert areas.max() == side**2
    assert areas.min() == ((side + 1) // 2) ** 2 or side == 1  # a corner's quarter at least


def test_every_pixel_may_be_the_middle() -> None:
    x = torch.ones(4000, 1, 6, 5)
    lost = CUTOUT.apply(x, 1, stream()) == 0
    shares = lost.double().mean(dim=0).flatten().tolist()
    assert shares == pytest.approx([1 / 30] * 30, abs=0.012)


def test_it_may_be_written_over_the_images() -> None:
    x = torch.rand(20, 3, 8, 8, generator=stream()) - 0.5
    holes = CUTOUT.apply(x, 3, stream())
    assert CUTOUT.in_place
    assert torch.equal(CUTOUT.apply(x, 3, stream(), x), holes)
    assert torch.equal(x, holes)


def test_a_square_has_whole_pixels() -> None:
    with pytest.raises(ConfigError, match=r"must be a whole number of pixels, got 2\.5$"):
        CUTOUT.check("cutout", 2.5, (3, 8, 8))


def test_a_square_is_smaller_than_the_image() -> None:
    CUTOUT.check("cutout", 5, (3, 8, 6))
    with pytest.raises(ConfigError, match=r"and at most 5, got 6$"):
        CUTOUT.check("cutout", 6, (3, 8, 6))


def test_what_is_not_blanked_is_untouched() -> None:
    x = torch.rand(20, 3, 8, 8, generator=stream()) - 0.5
    holes = CUTOUT.apply(x, 3, stream())
    assert torch.equal(holes[holes != 0], x[holes != 0])
