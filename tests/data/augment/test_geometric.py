"""Warps: worked by hand, by slices, by numpy's rot90; together as one."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.errors import ConfigError
from netwright.data.augment.geometric import (
    CROP,
    ELASTIC,
    FLIP,
    FLIP_VERTICAL,
    ROTATION,
    ZOOM,
    Warp,
    apply_warps,
    bent,
    mirrored,
    shifted,
    turned,
    zoomed,
)
from netwright.data.augment.places import own_places, read_between, read_whole
from tests.repetition import for_each


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def images(*shape: int) -> Tensor:
    return torch.rand(*shape, generator=stream(), dtype=torch.float64)


def per_image(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64).view(-1, 1, 1)


def rotated(x: Tensor, *degrees: float) -> Tensor:
    return read_between(x, turned(own_places(x), per_image(*degrees).deg2rad()))


def test_a_mirrored_image_by_hand() -> None:
    x = torch.tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]]).repeat(2, 1, 1, 1)
    flipped = read_whole(x, mirrored(own_places(x), torch.tensor([1.0, 0.0]).view(-1, 1, 1)))
    assert flipped[0, 0].tolist() == [[3, 2, 1], [6, 5, 4]]
    assert torch.equal(flipped[1], x[1])


@pytest.mark.covers("aug-horizontal-flip")
@pytest.mark.parametrize("wide", [5, 6])
def test_to_flip_twice_is_the_identity(wide: int) -> None:
    x = images(3, 3, 4, wide)
    once = FLIP.apply(x, 1, stream())
    assert torch.equal(once, x.flip(-1))
    assert once.shape == x.shape
    assert torch.equal(FLIP.apply(once, 1, stream()), x)


def test_half_of_the_images_are_flipped() -> None:
    x = torch.arange(3.0).expand(4000, 1, 1, 3)
    flipped = FLIP.apply(x, FLIP.strength, stream())[:, 0, 0, 0] == 2
    assert flipped.double().mean().item() == pytest.approx(0.5, abs=0.03)
    assert not FLIP.apply(x, 0, stream())[:, 0, 0, 0].any()


@pytest.mark.covers("aug-random-crop")
def test_a_crop_is_the_slice_of_the_widened_image_at_the_offset_that_was_drawn() -> None:
    x = images(6, 3, 5, 4)
    cropped = CROP.apply(x, 2, stream(7))
    down, right = torch.randint(-2, 3, (2, 6), generator=stream(7)).tolist()
    wider = F.pad(x, (2, 2, 2, 2), mode="replicate")
    for place, (top, left) in enumerate(zip(down, right, strict=True)):
        piece = wider[place, :, 2 + top : 7 + top, 2 + left : 6 + left]
        assert torch.equal(cropped[place], piece)
    assert cropped.shape == x.shape


def test_a_shift_by_hand() -> None:
    x = torch.tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]])
    moved = read_whole(x, shifted(own_places(x), torch.tensor(1), torch.tensor(-1)))
    assert moved[0, 0].tolist() == [[4, 4, 5], [4, 4, 5]]


def test_every_offset_comes_as_often() -> None:
    x = torch.arange(9.0).expand(9000, 1, 1, 9)
    offsets = CROP.apply(x, 1, stream())[:, 0, 0, 4] - 4
    shares = [(offsets == offset).double().mean().item() for offset in (-1, 0, 1)]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.02)


@pytest.mark.covers("aug-rotation")
@pytest.mark.parametrize("side", [4, 5, 32])
def test_a_quarter_turn_is_rot90_and_four_are_the_identity(side: int) -> None:
    x = images(3, 2, side, side)
    turned_by = rotated(x, 90, 180, -90).numpy()
    for place, quarters in enumerate((1, 2, -1)):
        wanted = np.rot90(x[place].numpy(), quarters, axes=(1, 2))
        assert np.abs(turned_by[place] - wanted).max() < 1e-12
    four = x
    for _ in range(4):
        four = rotated(four, 90, 90, 90)
    assert torch.allclose(four, x, atol=1e-12)
    assert torch.allclose(rotated(x, 0, 360, -360), x, atol=1e-12)


def test_a_turn_by_45_degrees_by_hand() -> None:
    x = torch.zeros(1, 1, 3, 3, dtype=torch.float64)
    x[0, 0, 0, 1] = 1  # a light above the middle
    half = math.sqrt(0.5)
    # The pixel at the upper left (-1, -1) comes from (-root 2, 0): above the border, so the light.
    # The one on the left (0, -1) comes from (-root 1/2, -root 1/2), near the upper left corner.
    turned_x = rotated(x, 45)[0, 0]
    assert turned_x[0, 0].item() == pytest.approx(1)
    assert turned_x[0, 1].item() == pytest.approx(half * (1 - half))  # from (-half, half)
    assert turned_x[1, 0].item() == pytest.approx(half * (1 - half))
    assert turned_x[1, 1].item() == 0


def test_angles_fill_the_interval() -> None:
    x = torch.zeros(2000, 1, 1, 201, dtype=torch.float64)  # a row: turned, its end moves up by sin
    x += torch.arange(201.0, dtype=torch.float64)
    ends = ROTATION.apply(x, 60, stream())[:, 0, 0, 200] - 100  # 100 cos(angle)
    angles = torch.rad2deg((ends / 100).acos())
    assert angles.max().item() == pytest.approx(60, abs=0.5)
    assert angles.mean().item() == pytest.approx(30, abs=1.5)


def test_the_middle_of_an_image_zoomed_by_two_by_hand() -> None:
    x = torch.zeros(1, 1, 4, 4)
    x[0, 0, 1:3, 1:3] = torch.tensor([[4.0, 8.0], [12.0, 16.0]])
    large = read_between(x, zoomed(own_places(x), torch.full((1, 1, 1), 2.0)))[0, 0]
    # The pixel at (-0.5, -0.5) comes from (-0.25, -0.25), a quarter of the way to its neighbours:
    # 9/16 * 4 + 3/16 * (8 + 12) + 1/16 * 16 = 7.
    assert large[1:3, 1:3].tolist() == [[7, 9], [11, 13]]


@pytest.mark.covers("aug-zoom")
def test_zoom_by_one_is_the_identity_and_a_constant_stays_constant() -> None:
    x = images(2, 3, 6, 5)
    assert torch.allclose(read_between(x, zoomed(own_places(x), per_image(1, 1))), x, atol=1e-13)
    constant = torch.full_like(x, 0.3)
    zoomed_x = read_between(constant, zoomed(own_places(x), per_image(2, 0.5)))
    assert torch.allclose(zoomed_x, constant, atol=1e-13)


def test_zoom_factors_fill_the_interval() -> None:
    x = torch.arange(201.0, dtype=torch.float64).expand(2000, 1, 1, 201)
    read_at = ZOOM.apply(x, 0.5, stream())[:, 0, 0, 120] - 100  # 20 / factor
    factors = 20 / read_at
    assert (factors.min().item(), factors.max().item()) == pytest.approx((0.5, 1.5), abs=0.01)
    assert factors.mean().item() == pytest.approx(1, abs=0.03)


@for_each(
    ("warp", "most", "beyond"),
    [(FLIP, 1, 1.1), (FLIP_VERTICAL, 1, 1.1), (CROP, 6, 7), (ROTATION, 180, 181), (ZOOM, 0.9, 1)],
    ids=["flip", "flip-vertical", "crop", "rotation", "zoom"],
)
def test_a_strength_is_refused_beyond_what_it_can_mean(
    warp: Warp, most: float, beyond: float
) -> None:
    warp.check("it", most, (3, 8, 7))  # of a crop: less than an image has on its shorter side
    with pytest.raises(ConfigError, match=rf"and at most {most:g}, got {beyond:g}$"):
        warp.check("it", beyond, (3, 8, 7))


@for_each("warp", [FLIP, FLIP_VERTICAL, CROP, ROTATION, ZOOM, ELASTIC])
def test_the_card_explains_letters_that_its_formula_has(warp: Warp) -> None:
    for letter in (letter for key in warp.card.symbols for letter in key.split(", ")):
        assert letter in warp.card.formula


def test_warps_together_are_warps_one_after_the_other() -> None:
    x = images(4, 3, 6, 6)
    together = apply_warps(x, [(FLIP, 1), (CROP, 2)], stream())  # the last one draws first
    one_by_one = CROP.apply(FLIP.apply(x, 1, stream()), 2, stream())
    assert torch.equal(together, one_by_one)


def test_the_first_warp_is_done_first() -> None:
    def up(places: object, *_: object) -> object:
        return shifted(places, torch.tensor(1), torch.tensor(0))  # type: ignore[arg-type]

    def quarter(places: object, *_: object) -> object:
        return turned(places, per_image(math.pi / 2))  # type: ignore[arg-type]

    card = FLIP.card
    shift = Warp(move=up, is_whole=True, strength=1, card=card)  # type: ignore[arg-type]
    turn = Warp(move=quarter, strength=1, card=card)  # type: ignore[arg-type]
    x = torch.zeros(1, 1, 5, 5, dtype=torch.float64)
    x[0, 0, 2, 2] = 1
    after = apply_warps(x, [(shift, 1), (turn, 1)], stream())[0, 0].round().nonzero().tolist()
    before = apply_warps(x, [(turn, 1), (shift, 1)], stream())[0, 0].round().nonzero().tolist()
    assert after == [[2, 1]]  # up, then against the clock: to the left
    assert before == [[1, 2]]


def test_whole_pixels_stay_what_they_are_beside_a_turn_by_nothing() -> None:
    x = images(8, 3, 7, 6)
    exact = apply_warps(x, [(CROP, 3)], stream())
    between = apply_warps(x, [(ROTATION, 0), (CROP, 3)], stream())
    assert torch.allclose(exact, between, atol=1e-13)


def test_every_image_is_turned_by_its_own_angle() -> None:
    x = images(1, 1, 8, 8).expand(16, 1, 8, 8)
    assert len(torch.unique(ROTATION.apply(x, 30, stream()), dim=0)) == 16


@pytest.mark.parametrize("tall", [4, 5])
def test_a_vertical_flip_turns_upside_down_and_twice_is_the_identity(tall: int) -> None:
    x = images(3, 2, tall, 3)
    once = FLIP_VERTICAL.apply(x, 1, stream())
    assert torch.equal(once, x.flip(-2))
    assert torch.equal(FLIP_VERTICAL.apply(once, 1, stream()), x)


def test_pushing_all_points_alike_is_a_shift() -> None:
    x = images(2, 1, 6, 5)
    pushes = per_image(1, -2)[:, None].expand(2, 2, 3, 3)
    moved = read_between(x, bent(own_places(x), pushes))
    for place, push in enumerate((1, -2)):
        shift = torch.tensor(push)
        wanted = read_whole(
            x[place : place + 1], shifted(own_places(x[place : place + 1]), shift, shift)
        )
        assert torch.allclose(moved[place], wanted[0], atol=1e-12)


def test_a_push_is_full_at_its_point_and_nothing_at_the_others() -> None:
    x = images(1, 1, 9, 9)
    pushes = torch.zeros(1, 2, 3, 3, dtype=torch.float64)
    pushes[0, 0, 1, 2] = 0.5  # down, in the middle of the right side
    own, moved = own_places(x), bent(own_places(x), pushes)
    down = (moved.rows - own.rows)[0]
    assert down[4, 8].item() == pytest.approx(0.5)
    points = down[::4, ::4].clone()
    points[1, 2] = 0
    assert points.abs().max().item() == pytest.approx(0, abs=1e-12)
    assert torch.equal(moved.columns, own.columns.expand(1, 9, 9))


def test_elastic_pushes_by_a_share_of_the_shorter_side() -> None:
    x = torch.arange(21.0, dtype=torch.float64)[:, None].expand(2000, 1, 21, 25)
    pushed = ELASTIC.apply(x, 0.1, stream())[:, 0, 10, 12] - 10  # at the middle point of the grid
    assert pushed.std().item() == pytest.approx(2.1, rel=0.06)
    assert pushed.mean().item() == pytest.approx(0, abs=0.15)


def test_a_bend_that_would_fold_the_image_is_refused() -> None:
    sentence = r"'elastic' must be greater than 0 and at most 0.2, got 0.3$"
    with pytest.raises(ConfigError, match=sentence):
        ELASTIC.check("elastic", 0.3, (1, 8, 8))


def test_elastic_after_a_flip_bends_the_flipped_image() -> None:
    x = images(3, 1, 8, 8)
    together = apply_warps(x, [(FLIP, 1), (ELASTIC, 0.05)], stream())
    one_by_one = ELASTIC.apply(FLIP.apply(x, 1, stream(9)), 0.05, stream())
    assert torch.allclose(together, one_by_one, atol=1e-12)
