"""The contact sheet: the image first, fresh draws beside it, all on one scale."""

import pytest
import torch

from netwright.core.errors import ConfigError, ShapeError, UnknownNameError
from netwright.data.spec import DataSpec
from netwright.inspection.dataset.contact_sheet import measure_contact_sheet
from tests.inspection.drawn import check_sound, words_on

GREY = DataSpec(inputs="image", input_shape=(1, 2, 3), target="class", num_outputs=2)
COLOUR = DataSpec(inputs="image", input_shape=(3, 80, 40), target="class", num_outputs=2)
IMAGE = torch.tensor([[[[0.0, 0.25, 0.5], [0.5, 0.75, 1.0]]]])


def test_the_image_comes_first_and_its_changes_beside_it() -> None:
    view = measure_contact_sheet(IMAGE, ["flip=1"], GREY, count=2)
    (strip,) = view.strips
    first, *draws = strip.pictures
    assert first == (((0,), (64,), (128,)), ((128,), (191,), (255,)))
    assert draws == [(((128,), (64,), (0,)), ((255,), (191,), (128,)))] * 2
    assert strip.name == "flip=1"


def test_draws_are_fresh_and_repeatable() -> None:
    def pictures(seed: int) -> object:
        return measure_contact_sheet(IMAGE, ["noise"], GREY, seed=seed).strips[0].pictures

    assert len(set(pictures(0))) == 7  # type: ignore[call-overload]
    assert pictures(0) == pictures(0) != pictures(1)


def test_all_pictures_share_one_scale() -> None:
    strips = measure_contact_sheet(IMAGE - 5, ["contrast=1"], GREY, count=20, seed=1).strips
    spans = [
        max(level for row in picture for (level,) in row)
        - min(level for row in picture for (level,) in row)
        for picture in strips[0].pictures
    ]
    assert spans[0] == 255
    assert min(spans) < 100


def test_several_have_a_last_row_together() -> None:
    view = measure_contact_sheet(IMAGE, ["flip", "noise=0.1"], GREY)
    assert [strip.name for strip in view.strips] == ["flip", "noise=0.1", "all together"]
    assert {"original", "fresh draws", "noise=0.1"} <= set(words_on(view))
    assert len({strip.pictures[0] for strip in view.strips}) == 1  # though noise leaves the range
    assert view.caption == (
        "What augmentation makes of one image: the image itself, then 6 fresh draws. All pictures "
        "have one scale from black to white."
    )
    check_sound(view)


def test_mixup_takes_its_partners_from_the_other_images() -> None:
    images = torch.cat([torch.zeros(1, 1, 2, 3), torch.ones(30, 1, 2, 3)])
    (strip,) = measure_contact_sheet(images, ["mixup=1"], GREY).strips
    levels = [picture[0][0][0] for picture in strip.pictures]
    assert levels[0] == 0
    assert len(set(levels)) > 3


def test_large_colour_images_are_shown_smaller() -> None:
    images = torch.rand(2, *COLOUR.input_shape, generator=torch.Generator().manual_seed(0))
    view = measure_contact_sheet(images, ["colour-jitter"], COLOUR, count=1)
    picture = view.strips[0].pictures[0]
    assert (len(picture), len(picture[0]), len(picture[0][0])) == (64, 32, 3)
    check_sound(view)


@pytest.mark.parametrize(
    ("channels", "shown", "words"),
    [
        (2, (128,), "Of 2 channels the mean is shown."),
        (4, (0, 255, 255), "Of 4 channels the first three are shown, as colours."),
    ],
)
def test_images_that_are_neither_grey_nor_colour(
    channels: int, shown: tuple[int, ...], words: str
) -> None:
    spec = DataSpec(inputs="image", input_shape=(channels, 2, 3), target="class", num_outputs=2)
    images = torch.stack([torch.full((channels, 2, 3), level) for level in (1.0, 1.0, 0.0)])
    images[0, 0] = 0.0
    view = measure_contact_sheet(images, ["flip"], spec, count=1)
    assert view.strips[0].pictures[0][0][0] == shown
    assert view.caption.endswith(f" {words}")
    check_sound(view)


def test_a_constant_image_is_drawn_too() -> None:
    check_sound(measure_contact_sheet(torch.full((1, 1, 2, 3), 7.0), ["brightness"], GREY))


def test_refusals() -> None:
    with pytest.raises(ShapeError, match=r"^images must have shape \(N, 1, 2, 3\), got \(1, 4\)$"):
        measure_contact_sheet(torch.zeros(1, 4), ["flip"], GREY)
    with pytest.raises(ShapeError, match=r"^images must not be empty, got shape \(0, 1, 2, 3\)$"):
        measure_contact_sheet(torch.zeros(0, 1, 2, 3), ["flip"], GREY)
    with pytest.raises(ConfigError, match=r"^count must be positive, got 0$"):
        measure_contact_sheet(IMAGE, ["flip"], GREY, count=0)
    with pytest.raises(ConfigError, match=r"needs at least one augmentation, got none$"):
        measure_contact_sheet(IMAGE, [], GREY)
    with pytest.raises(UnknownNameError, match="did you mean 'rotation'"):
        measure_contact_sheet(IMAGE, ["rotate"], GREY)
