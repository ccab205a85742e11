"""Drawn shapes: boxes are those of the pixels, shapes lie apart, a seed draws the same again."""

import numpy as np
import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.core.geometry.boxes import to_corners
from netwright.data.augment.pipeline import parse_augmentations
from netwright.data.catalog import load
from netwright.data.dataset import check_data
from netwright.data.images.drawn_shapes import (
    SHAPES,
    Scenes,
    ShapesConfig,
    boxes_of,
    draw_scenes,
    load_shapes,
    paint,
)

SIDE = 24


def test_the_boxes_are_those_of_the_coloured_pixels() -> None:
    random = torch.Generator().manual_seed(0)
    scenes = draw_scenes(60, SIDE, torch.ones(60, dtype=torch.int64), random)
    pixels, targets = paint(scenes, SIDE, random), boxes_of(scenes, SIDE)
    for image, (kind, *box) in zip(pixels, targets[:, 0].tolist(), strict=True):
        rows, columns = (image.amax(dim=0) > 140).nonzero(as_tuple=True)
        left, top, right, bottom = (to_corners(torch.tensor(box)) * SIDE).round().tolist()
        # A circle may stop short of its box, and a triangle begins with a single pixel.
        assert bottom - 1 - int(rows.max()) <= 1
        assert abs(int(rows.min()) - top) <= 1
        assert abs(int(columns.min()) - left) <= 1
        assert abs(right - 1 - int(columns.max())) <= 1
        filled = len(rows) / ((right - left) * (bottom - top))
        wanted = {"circle": torch.pi / 4, "square": 1.0, "triangle": 0.5}[SHAPES[int(kind)]]
        assert filled == pytest.approx(wanted, abs=0.12)


def test_shapes_of_one_image_do_not_touch() -> None:
    scenes = draw_scenes(300, SIDE, torch.full((300,), 3), torch.Generator().manual_seed(1))
    for corners in scenes.corners:
        taken = torch.zeros(SIDE, SIDE, dtype=torch.int64)
        for left, top, size in corners.tolist():
            assert left >= 0 <= top
            assert left + size <= SIDE >= top + size
            taken[top : top + size, left : left + size] += 1
        assert int(taken.max()) == 1


def test_an_absent_shape_is_neither_painted_nor_in_the_boxes() -> None:
    random = torch.Generator().manual_seed(0)
    corners = torch.tensor([[[2, 2, 8], [14, 14, 8]]])
    scenes = Scenes(torch.tensor([[1, -1]]), torch.tensor([[0, 1]]), corners)
    image = paint(scenes, SIDE, random)[0]
    assert int(image[:, 12:, 12:].max()) < 100 < int(image[:, 3, 3].max())
    assert boxes_of(scenes, SIDE)[0, 1].tolist() == [-1, 0, 0, 0, 0]


def test_the_seed_says_which_and_the_number_of_shapes_differs() -> None:
    config = ShapesConfig(n=50, side=16, objects=2)
    first, again = load_shapes(config), load_shapes(config)
    assert torch.equal(first.train.targets, again.train.targets)
    other = load_shapes(ShapesConfig(n=50, side=16, objects=2, seed=1))
    assert not torch.equal(first.train.targets, other.train.targets)
    assert set((first.train.targets[..., 0] >= 0).sum(dim=1).tolist()) == {1, 2}
    assert first.spec.class_names == SHAPES
    assert [len(split) for _, split in first.splits()] == [35, 5, 10]


def test_targets_that_are_no_boxes_are_refused_with_their_row() -> None:
    data = load("shapes", n=20, side=16)
    data.train.targets[3, 0, 0] = 7
    with pytest.raises(DataError, match=r"row 3 of the train split .* class below 3"):
        check_data(data)
    data.train.targets[3, 0] = torch.tensor([1, 0.5, 0.5, 0.0, 0.1])
    with pytest.raises(DataError, match="row 3 of the train split"):
        check_data(data)


@pytest.mark.parametrize("part", ["train", "val", "test"])
def test_a_part_without_an_object_is_refused(part: str) -> None:
    data = load("shapes", n=20, side=16)
    data.split(part).targets[1:, :, 0] = -1
    check_data(data)
    data.split(part).targets[..., 0] = -1
    with pytest.raises(DataError, match=f"the {part} split of shapes has no object in any image"):
        check_data(data)


def test_more_than_fits_is_refused_before_it_is_drawn() -> None:
    with pytest.raises(ConfigError, match="objects"):
        ShapesConfig(objects=9)
    with pytest.raises(DataError, match="n=1000000 images"):
        ShapesConfig(n=1_000_000, side=128)


def test_pixels_are_not_moved_from_under_their_boxes() -> None:
    data = load("shapes", n=20, side=16)
    with pytest.raises(DataError, match="'flip' moves pixels"):
        parse_augmentations(["flip"], data.spec)
    parse_augmentations(["noise=0.1"], data.spec)


def test_the_boxes_of_others_are_read_from_arrays_alone() -> None:
    encoder = load("shapes", n=20, side=16).preprocessor
    boxes = np.array([[[1, 0.5, 0.5, 0.2, 0.2]]])
    assert encoder.encode_targets(boxes).dtype == torch.float32
    with pytest.raises(DataError, match="boxes are not read from folders"):
        encoder.encode_targets(__file__)
