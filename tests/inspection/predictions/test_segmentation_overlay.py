"""Masks over images: which are shown, what is coloured, and what is wrong with a pixel."""

import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.predictions.segmentation_overlay import (
    CLASS_COLOURS,
    INVENTED,
    MISSED,
    MIXED_UP,
    MOST_PIXELS,
    _rgb,
    measure_segmentation,
)
from tests.inspection.drawn import HOSTILE, check_sound, words_on
from tests.repetition import slow_but

NAMES = ("ground", "cell", "wall")


def images_of(masks: Tensor) -> Tensor:
    return masks[:, None].float()


# Pixels: right ground, right cell, missed, invented, mixed up, right ground.
TRUTH = torch.tensor([[[0, 1, 1], [0, 1, 0]]])
SAID = torch.tensor([[[0, 1, 0], [2, 2, 0]]])


def test_wrong_pixels_are_told_apart_by_hand() -> None:
    view = measure_segmentation(images_of(TRUTH), TRUTH, SAID, NAMES)
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
    view = measure_segmentation(images_of(TRUTH), TRUTH, SAID, NAMES)
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
    view = measure_segmentation(images_of(truth), truth, said, ("a", "b"), count=3)
    assert [image.wrong for image in view.images] == pytest.approx([0.16, 0.08, 0.0])
    assert [(5 * image.row) % 9 for image in view.images] == [8, 4, 0]
    assert view.num_images == 9
    few = measure_segmentation(images_of(truth[:2]), truth[:2], said[:2], ("a", "b"))
    assert len(few.images) == 2


def test_images_of_a_sample_are_named_by_their_rows_in_the_split() -> None:
    truth, said = many()
    whole = measure_segmentation(images_of(truth), truth, said, ("a", "b"))
    some = measure_segmentation(
        images_of(truth), truth, said, ("a", "b"), rows=10 * torch.arange(9)
    )
    assert [image.row for image in some.images] == [10 * image.row for image in whole.images]
    assert some.caption.startswith("Dice over 9 images, a sample of the split: ")


def test_large_images_are_shown_smaller_and_the_numbers_are_those_of_all_pixels() -> None:
    truth = torch.zeros(1, 2 * MOST_PIXELS, MOST_PIXELS, dtype=torch.uint8)
    truth[:, :, : MOST_PIXELS // 2] = 1
    said = truth.clone()
    said[:, 0, 0] = 0
    view = measure_segmentation(images_of(truth), truth, said, ("a", "b"))
    (image,) = view.images
    assert image.picture.shape == (MOST_PIXELS, MOST_PIXELS // 2, 3)
    assert image.truth.shape == image.said.shape == (MOST_PIXELS, MOST_PIXELS // 2)
    assert image.truth.mean() == 0.5
    assert image.wrong == pytest.approx(1 / truth.numel(), rel=1e-2)


@pytest.mark.parametrize("channels", slow_but([3], [1, 2, 3]))
def test_a_sound_picture_of_any_channels(channels: int) -> None:
    truth, said = many()
    images = images_of(truth).expand(-1, channels, -1, -1)
    view = measure_segmentation(images, truth, said, ("cell", "membrane"))
    check_sound(view)
    words = words_on(view)
    assert {"image", "truth", "prediction", "disagreement", "missed", "invented"} <= set(words)
    assert "membrane" in words
    assert not {"cell", "mixed up"} & set(words)
    assert view.caption == (
        'Dice over 9 images: "cell" 0.938, "membrane" 0.889. Shown: 3, most wrong pixels '
        'first; "cell", the commonest class, is not coloured. From left to right: the '
        "image, the true mask, the predicted mask, and the pixels that differ, missed where only "
        "the truth has a class, invented where only the prediction has one."
    )


def test_json_holds_numbers_but_no_pixels() -> None:
    truth, said = many()
    view = measure_segmentation(images_of(truth), truth, said, NAMES)
    values = json.loads(json.dumps(view.to_json(), allow_nan=False))
    assert values["dice"][2] is None  # it is in no mask
    assert len(json.dumps(values)) < 400


def test_names_from_files_stay_text() -> None:
    truth = torch.arange(5, dtype=torch.uint8).repeat(1, 10, 2)
    check_sound(measure_segmentation(images_of(truth), truth, truth, HOSTILE))


@pytest.mark.parametrize("count", slow_but([8, 21], [2, 7, 8, 21]))
def test_no_two_entries_of_the_legend_have_one_colour(count: int) -> None:
    masks = torch.arange(count, dtype=torch.uint8).repeat(1, 4, 3)
    masks[:, 0] = 0
    view = measure_segmentation(
        images_of(masks), masks, masks, tuple(f"class {place}" for place in range(count))
    )
    (legend,) = view.plot().legends
    colours = [patch.get_facecolor() for patch in legend.get_patches()]
    words = [entry.get_text() for entry in legend.get_texts()]
    assert len(set(colours)) == len(colours) == len(words)
    others = count - 1 - len(CLASS_COLOURS)
    told = f"{others} other class{'' if others == 1 else 'es'}"
    assert (told in words) is (others > 0)
    check_sound(view)


def test_classes_on_no_picture_take_no_colour() -> None:
    masks = torch.zeros(1, 4, 4, dtype=torch.uint8)
    masks[:, 0] = 19
    view = measure_segmentation(
        images_of(masks), masks, masks, tuple(f"class {place}" for place in range(20))
    )
    assert view._colours == {19: CLASS_COLOURS[0]}


def test_words_beside_wide_images_do_not_overlap() -> None:
    truth = torch.zeros(3, 20, 120, dtype=torch.uint8)
    truth[:, :, :40] = 1
    figure = measure_segmentation(images_of(truth), truth, 1 - truth, ("a", "b")).plot()
    figure.draw_without_rendering()
    words = [axes.yaxis.label for axes in figure.axes if axes.get_ylabel()]
    boxes = [one.get_window_extent() for one in words]
    assert len(boxes) == 3
    assert all(above.y0 > below.y1 for above, below in pairwise(boxes))


def test_refusals() -> None:
    truth, said = many()
    with pytest.raises(ShapeError, match=r"^images must have shape \(9, channels, 10, 10\), got"):
        measure_segmentation(images_of(truth)[:, :, 1:], truth, said, NAMES)
    with pytest.raises(
        ShapeError, match=r"^said must have shape \(9, 10, 10\), got \(8, 10, 10\)$"
    ):
        measure_segmentation(images_of(truth), truth, said[1:], NAMES)
    with pytest.raises(DataError, match=r"^said must lie in \[0, 3\), got 3$"):
        measure_segmentation(images_of(truth), truth, said + 2, NAMES)
    with pytest.raises(DataError, match=r"^targets must lie in \[0, 1\), got 1$"):
        measure_segmentation(images_of(truth), truth, said, NAMES[:1])
