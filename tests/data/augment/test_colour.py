"""Brightness, contrast and colour: worked by hand, against HSV, and whatever the encoding is."""

import colorsys
import math

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.data.augment.augmentation import Retouch
from netwright.data.augment.colour import (
    BRIGHTNESS,
    COLOUR_JITTER,
    CONTRAST,
    brightened,
    colour_matrix,
    contrasted,
    recoloured,
)
from tests.repetition import for_each

ALL = (BRIGHTNESS, CONTRAST, COLOUR_JITTER)


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def images(*shape: int) -> Tensor:
    return torch.rand(*shape, generator=stream(), dtype=torch.float64)


def per_image(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64).view(-1, 1, 1)


def turned_hue(colours: Tensor, turn: float, saturation: float = 1.0) -> Tensor:
    """Colours (N, 3) by the matrix."""
    matrix = colour_matrix(per_image(saturation), per_image(2 * math.pi * turn))[0]
    return colours @ matrix.T


def test_brightness_by_hand() -> None:
    x = torch.tensor([[0.0, 0.5, 1.0], [0.2, 0.4, 0.6]]).view(2, 1, 1, 3)
    lighter = brightened(x, torch.tensor([0.25, -0.25]).view(2, 1, 1, 1)).flatten(1)
    assert lighter[0].tolist() == [0.25, 0.75, 1]
    assert lighter[1].tolist() == pytest.approx([0, 0.15, 0.35])


def test_contrast_by_hand() -> None:
    x = torch.tensor([[0.0, 0.5, 1.0, 0.5]] * 4).view(4, 1, 1, 4)
    factors = torch.tensor([0.0, 0.5, 1.0, 2.0]).view(4, 1, 1, 1)
    assert contrasted(x, factors).flatten(1).tolist() == [
        [0.5, 0.5, 0.5, 0.5],  # no contrast is the mean
        [0.25, 0.5, 0.75, 0.5],
        [0, 0.5, 1, 0.5],
        [0, 0.5, 1, 0.5],  # kept within the range
    ]


@pytest.mark.covers("aug-brightness-contrast")
def test_brightness_moves_the_mean_and_contrast_scales_the_deviation() -> None:
    x = 0.4 + 0.2 * images(3, 3, 8, 8)
    x[0, 0, 0, :2] = torch.tensor([0.0, 1.0], dtype=torch.float64)  # room to move in: a range of 1
    rest = x[1:]  # not clipped
    nothing = torch.zeros(3, 1, 1, 1, dtype=torch.float64)
    assert torch.equal(brightened(x, nothing), x)
    assert torch.equal(contrasted(x, nothing + 1), x)
    lift = torch.tensor([0.0, 0.3, -0.2], dtype=torch.float64)
    lifted = brightened(x, lift.view(3, 1, 1, 1))[1:]
    dims = (1, 2, 3)
    assert torch.allclose(lifted.mean(dims) - rest.mean(dims), lift[1:])
    factor = torch.tensor([1.0, 1.5, 0.2], dtype=torch.float64)
    stretched = contrasted(x, factor.view(3, 1, 1, 1))[1:]
    assert torch.allclose(stretched.std(dims), factor[1:] * rest.std(dims))
    assert torch.allclose(stretched.mean(dims), rest.mean(dims))
    both = brightened(x, nothing + 0.9)
    assert both.min() >= 0
    assert both.max() == 1  # clipped


COLOURS = [(0.9, 0.1, 0.2), (0.3, 0.8, 0.5), (0.25, 0.2, 0.7), (0.5, 0.5, 0.1)]


@for_each("turn", [0.0, 1 / 3, 2 / 3, 1.0])
def test_a_turn_by_thirds_is_the_hue_of_hsv(turn: float) -> None:
    turned = turned_hue(torch.tensor(COLOURS, dtype=torch.float64), turn)
    for colour, new in zip(COLOURS, turned.tolist(), strict=True):
        hue, saturation, value = colorsys.rgb_to_hsv(*colour)
        assert new == pytest.approx(colorsys.hsv_to_rgb((hue + turn) % 1, saturation, value))


@for_each("turn", [-0.2, -0.05, 0.01, 0.1, 0.25, 0.5])
def test_any_turn_moves_the_hue_of_hsv_by_nearly_as_much(turn: float) -> None:
    pale = 0.4 + 0.2 * torch.tensor(COLOURS, dtype=torch.float64)  # so that none leaves [0, 1]
    for colour, new in zip(pale.tolist(), turned_hue(pale, turn).tolist(), strict=True):
        moved = colorsys.rgb_to_hsv(*new)[0] - colorsys.rgb_to_hsv(*colour)[0]
        difference = (moved - turn + 0.5) % 1 - 0.5
        assert abs(difference) < 2.3 / 360  # a hexagon beside a circle: 1.1 degrees at each end


def test_saturation_by_hand() -> None:
    colours = torch.tensor([[0.9, 0.3, 0.0]], dtype=torch.float64)  # its grey is 0.4
    assert turned_hue(colours, 0, 0)[0].tolist() == pytest.approx([0.4, 0.4, 0.4])
    assert turned_hue(colours, 0.3, 0)[0].tolist() == pytest.approx([0.4, 0.4, 0.4])
    assert turned_hue(colours, 0, 0.5)[0].tolist() == pytest.approx([0.65, 0.35, 0.2])


def test_turns_add_up_and_stretches_multiply() -> None:
    colours = images(5, 3)
    twice = turned_hue(turned_hue(colours, 0.11, 0.7), 0.3, 1.4)
    assert torch.allclose(twice, turned_hue(colours, 0.41, 0.98))


def test_all_four_at_once_are_one_after_the_other() -> None:
    x = 0.45 + 0.1 * images(2, 3, 4, 5)
    x[0, 0, 0, :2] = torch.tensor([0.0, 1.0], dtype=torch.float64)  # a range of 1
    lift, contrast = per_image(0.1, -0.1), per_image(0.8, 1.3)
    saturation, hue = per_image(1.2, 0.5), per_image(0.4, -1.0)
    at_once = recoloured(x, lift, contrast, saturation, hue)[1]
    matrix = colour_matrix(saturation, hue)[1]
    coloured = torch.einsum("kl,lij->kij", matrix, x[1])
    mean = x[1].mean()
    wanted = 1.3 * (coloured - mean) + mean - 0.1
    assert torch.allclose(at_once, wanted)


@pytest.mark.covers("aug-color-jitter")
def test_greys_stay_grey_and_values_within_their_range() -> None:
    grey = images(8, 1, 6, 6).expand(8, 3, 6, 6)
    jittered = COLOUR_JITTER.apply(grey, 1, stream())
    assert torch.allclose(jittered, jittered[:, :1].expand_as(jittered))
    assert not torch.allclose(jittered, grey)
    colours = images(8, 3, 6, 6)
    strong = COLOUR_JITTER.apply(colours, 1, stream())
    assert strong.min() == colours.min()
    assert strong.max() == colours.max()


@pytest.mark.parametrize("augmentation", ALL, ids=["brightness", "contrast", "colour-jitter"])
def test_the_encoding_of_pixels_makes_no_difference(augmentation: object) -> None:
    assert hasattr(augmentation, "apply")
    x = images(6, 3, 5, 5)
    plain = augmentation.apply(x, 0.5, stream())
    encoded = augmentation.apply((x - 0.45) / 0.2, 0.5, stream())
    assert torch.allclose(encoded, (plain - 0.45) / 0.2)
    assert not torch.allclose(plain, x)


def test_numbers_fill_their_intervals() -> None:
    x = torch.tensor([0.0, 0.4, 0.6, 1.0], dtype=torch.float64).expand(2000, 1, 1, 4)
    lifts = (BRIGHTNESS.apply(x, 0.4, stream()) - x)[:, 0, 0, 1:3].mean(dim=1)
    assert (lifts.min().item(), lifts.max().item()) == pytest.approx((-0.4, 0.4), abs=0.01)
    factors = (CONTRAST.apply(x, 0.4, stream()) - 0.5)[:, 0, 0, 2] / 0.1
    assert (factors.min().item(), factors.max().item()) == pytest.approx((0.6, 1.4), abs=0.01)


def test_the_four_numbers_of_colour_jitter_fill_their_intervals() -> None:
    greys = torch.tensor([0.0, 1.0, 0.4, 0.6], dtype=torch.float64).expand(3, 4)
    red = torch.tensor([0.6, 0.45, 0.45], dtype=torch.float64)  # its grey is 0.5, as the mean is
    x = torch.cat([greys, red[:, None]], dim=1).view(1, 3, 1, 5).expand(4000, 3, 1, 5)
    jittered = COLOUR_JITTER.apply(x, 0.4, stream())[:, :, 0]
    dark, light, reddish = jittered[..., 2:].unbind(-1)
    lifts = (dark + light)[:, 0] / 2 - 0.5
    contrasts = (light - dark)[:, 0] / 0.2
    colours = reddish - reddish.mean(dim=1, keepdim=True)
    colours /= contrasts[:, None]
    stretches = colours.norm(dim=1) / (red - 0.5).norm()
    # Along red, and at right angles to it in the plane of colours: green against blue.
    angles = torch.atan2((colours[:, 1] - colours[:, 2]) / 3**0.5, colours[:, 0])
    quarter = 0.4 * math.pi / 2  # a turn of s / 4
    for numbers, low, high in (
        (lifts, -0.2, 0.2),
        (contrasts, 0.6, 1.4),
        (stretches, 0.6, 1.4),
        (angles, -quarter, quarter),
    ):
        assert (numbers.min().item(), numbers.max().item()) == pytest.approx((low, high), abs=0.01)


def test_colour_jitter_is_for_colours_only() -> None:
    COLOUR_JITTER.check("colour-jitter", 1, (3, 8, 8))
    with pytest.raises(DataError, match=r"needs images of 3 channels, got 1$"):
        COLOUR_JITTER.check("colour-jitter", 1, (1, 8, 8))


@pytest.mark.parametrize("augmentation", ALL, ids=["brightness", "contrast", "colour-jitter"])
def test_a_strength_goes_up_to_one(augmentation: Retouch) -> None:
    augmentation.check("it", 1, (3, 8, 8))
    with pytest.raises(ConfigError, match=r"at most 1, got 1.1$"):
        augmentation.check("it", 1.1, (3, 8, 8))


@pytest.mark.parametrize("augmentation", ALL, ids=["brightness", "contrast", "colour-jitter"])
def test_the_result_lies_in_the_room_that_is_given(augmentation: Retouch) -> None:
    x = images(4, 3, 5, 5)
    room = torch.empty_like(x)
    changed = augmentation.apply(x, 0.5, stream(), room)
    assert changed.data_ptr() == room.data_ptr()
    assert torch.equal(changed, augmentation.apply(x, 0.5, stream()))
