"""Masks over images: which are shown, what is coloured, and what is wrong with a pixel."""

import json

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.segmentation_overlay import (
    INVENTED,
    MISSED,
    MIXED_UP,
    MOST_PIXELS,
    _rgb,
    measure_segmentation,
)
from tests.inspection.drawn import HOSTILE, check_sound, words_on

NAMES = ("ground", "cell", "wall")


def chances(said: Tensor, classes: int = 3) -> Tensor:
    return F.one_hot(said.long(), classes).movedim(-1, 1).float()


def images_of(masks: Tensor) -> Tensor:
    return masks[:, None].float()


# Pixels: right ground, right cell, missed, invented, mixed up, right ground.
TRUTH = torch.tensor([[[0, 1, 1], [0, 1, 0]]])
SAID = torch.tensor([[[0, 1, 0], [2, 2, 0]]])


def test_wrong_pixels_are_told_apart_by_hand() -> None:
    view = measure_segmentation(images_of(TRUTH), TRUTH, chances(SAID), NAMES)
    (image,) = view.images
    assert (view.background, image.row, image.wrong) == (0, 0, 0.5)
    shown = view._disagreement(image)
    assert np.allclose(shown[0, 2], _rgb(MISSED))
    assert np.allclose(shown[1, 0], _rgb(INVENTED))
    assert np.allclose(shown[1, 1], _rgb(MIXED_UP))
    assert np.allclose(
        shown[0, :2], [[0.5, 0.5, 0.5], [1.0, 1.0, 1.0]]
    )  # right: the faint picture itself
    assert view.dice == pytest.approx((2 * 2 / (3 + 3), 2 * 1 / (3 + 1), 0))


def test_the_commonest_class_is_not_coloured() -> None:
    view = measure_segmentation(images_of(TRUTH), TRUTH, chances(SAID), NAMES)
    (image,) = view.images
    coloured = view._coloured(image.picture, image.truth)
    is_coloured = ~np.isclose(coloured, image.picture / 255).all(axis=2)
    assert is_coloured.tolist() == (TRUTH[0] != 0).tolist()


def many(count: int = 9, side: int = 10) -> tuple[Tensor, Tensor]:
    """True masks, and answers that have 0, 1, 2 ... wrong pixels, in another order."""
    truth = torch.zeros(count, side, side, dtype=torch.uint8)
    truth[:, :4] = 1
    said = truth.clone()
    for row in range(count):
        said[row].view(-1)[: 2 * ((5 * row) % count)] = 0
    return truth, said


def test_images_come_from_the_worst_to_the_best() -> None:
    truth, said = many()
    view = measure_segmentation(images_of(truth), truth, chances(said, 2), ("a", "b"), count=3)
    assert [image.wrong for image in view.images] == pytest.approx([0.16, 0.08, 0.0])
    assert [(5 * image.row) % 9 for image in view.images] == [8, 4, 0]
    assert view.num_images == 9
    few = measure_segmentation(images_of(truth[:2]), truth[:2], chances(said[:2], 2), ("a", "b"))
    assert len(few.images) == 2


def test_large_images_are_shown_smaller_and_the_numbers_are_those_of_all_pixels() -> None:
    truth = torch.zeros(1, 2 * MOST_PIXELS, MOST_PIXELS, dtype=torch.uint8)
    truth[:, :, : MOST_PIXELS // 2] = 1
    said = truth.clone()
    said[:, 0, 0] = 0
    view = measure_segmentation(images_of(truth), truth, chances(said, 2), ("a", "b"))
    (image,) = view.images
    assert image.picture.shape == (MOST_PIXELS, MOST_PIXELS // 2, 3)
    assert image.truth.shape == image.said.shape == (MOST_PIXELS, MOST_PIXELS // 2)
    assert image.truth.mean() == 0.5
    assert image.wrong == pytest.approx(1 / truth.numel(), rel=1e-2)


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_a_sound_picture_of_any_channels(channels: int) -> None:
    truth, said = many()
    images = images_of(truth).expand(-1, channels, -1, -1)
    view = measure_segmentation(images, truth, chances(said, 2), ("cell", "membrane"))
    check_sound(view)
    words = words_on(view)
    assert {"image", "truth", "prediction", "disagreement", "missed", "invented"} <= set(words)
    assert "membrane" in words
    assert not {"cell", "mixed up"} & set(words)
    assert view.caption == (
        'Dice over 9 images: "cell" 0.938, "membrane" 0.889. Shown: 3, from the most wrong pixels '
        'to the fewest; "cell", the commonest class, is not coloured.'
    )


def test_json_holds_numbers_but_no_pixels() -> None:
    truth, said = many()
    view = measure_segmentation(images_of(truth), truth, chances(said), NAMES)
    values = json.loads(json.dumps(view.to_json(), allow_nan=False))
    assert values["dice"][2] is None  # it is in no mask
    assert len(json.dumps(values)) < 400


def test_names_from_files_stay_text() -> None:
    truth, said = many()
    check_sound(measure_segmentation(images_of(truth), truth, chances(said, 5), HOSTILE))


def test_refusals() -> None:
    truth, said = many()
    with pytest.raises(ShapeError, match=r"^images must have shape \(9, channels, 10, 10\), got"):
        measure_segmentation(images_of(truth)[:, :, 1:], truth, chances(said), NAMES)
    with pytest.raises(DataError, match=r"^class_names must hold 3 names, got 2$"):
        measure_segmentation(images_of(truth), truth, chances(said), NAMES[:2])
