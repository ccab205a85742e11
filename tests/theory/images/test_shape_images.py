"""Pictures of shapes: where they lie, that classes are even, and that they can be learned."""

import pytest
import torch

from netwright.core.seeding import generator
from netwright.theory.images import shape_images
from netwright.theory.images.shape_images import (
    EDGE,
    SHAPES,
    SIDE,
    TESTED,
    bitmaps,
    draw_shapes,
    percent_right,
    shape_data,
)


def test_the_shapes_differ_and_are_as_drawn() -> None:
    shapes = bitmaps(list(SHAPES))
    assert shapes.shape == (10, EDGE, EDGE)
    assert len({tuple(shape.flatten().tolist()) for shape in shapes}) == 10
    assert bitmaps(["bar"])[0].tolist() == [[0] * 5, [0] * 5, [1] * 5, [0] * 5, [0] * 5]


def test_without_noise_a_picture_holds_its_shape_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape_images, "NOISE", 0.0)
    names = ["box", "times"]
    images, classes = draw_shapes(names, 1000, generator(0, "test"))
    assert images.shape == (1000, 1, SIDE, SIDE)
    assert classes.bincount().tolist() == [500, 500]
    windows = images[:, 0].unfold(1, EDGE, 1).unfold(2, EDGE, 1)  # (N, places, places, P, P)
    found = (windows == bitmaps(names)[classes][:, None, None]).all(dim=(-2, -1))
    assert found.flatten(1).sum(dim=1).eq(1).all()
    assert found.any(dim=0).all()  # every place is that of some picture
    assert torch.equal(images.sum(dim=(1, 2, 3)), bitmaps(names).sum(dim=(1, 2))[classes])


def test_shapes_that_are_not_shifted_lie_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape_images, "NOISE", 0.0)
    images, _ = draw_shapes(["box"], 5, generator(0, "test"), shifted=False)
    assert (images[:, 0, 3:8, 3:8] == bitmaps(["box"])).all()


def test_the_test_pictures_are_others() -> None:
    data = shape_data(["bar", "plus"], 40, generator(0, "test"))
    assert (len(data.train), len(data.split("test"))) == (40, TESTED)
    assert data.spec.input_shape == (1, SIDE, SIDE)
    assert not torch.equal(data.train.inputs, data.split("test").inputs[:40])


def test_the_convolutional_network_learns_centred_shapes() -> None:
    data = shape_data(["bar", "pillar"], 100, generator(0, "test"), shifted=False)
    assert percent_right("cnn", data, seed=0, steps=15) > 90
