"""Room is used again, never by two at once."""

import torch

from netwright.data.augment.pipeline import parse_augmentations
from netwright.data.augment.scratch import Scratch
from netwright.data.loading.loader import Batch
from netwright.data.spec import DataSpec


def test_two_rooms_take_turns() -> None:
    scratch, images = Scratch(), torch.rand(4, 3, 5, 5)
    first = scratch.beside(images)
    second = scratch.beside(first)
    assert len({images.data_ptr(), first.data_ptr(), second.data_ptr()}) == 3
    assert scratch.beside(second).data_ptr() == first.data_ptr()
    assert scratch.beside(images).data_ptr() == first.data_ptr()


def test_it_holds_its_own() -> None:
    scratch, images = Scratch(), torch.rand(4, 3, 5, 5)
    assert not scratch.holds(images)
    assert scratch.holds(scratch.beside(images))


def test_a_smaller_batch_has_room_and_other_images_get_their_own() -> None:
    scratch, images = Scratch(), torch.rand(4, 3, 5, 5)
    room = scratch.beside(images)
    small = scratch.beside(images[:3])
    assert small.shape == (3, 3, 5, 5)
    assert small.data_ptr() == room.data_ptr()
    assert scratch.beside(images.double()).dtype == torch.float64
    assert scratch.beside(torch.rand(4, 3, 6, 6)).shape == (4, 3, 6, 6)
    assert scratch.beside(torch.rand(9, 3, 6, 6)).shape == (9, 3, 6, 6)


def test_a_pipeline_gives_the_same_with_and_without_and_leaves_its_batch_alone() -> None:
    spec = DataSpec(inputs="image", input_shape=(3, 8, 8), target="class", num_outputs=5)
    orders = (
        ("crop=2", "flip", "colour-jitter", "cutout=3", "noise", "brightness", "contrast"),
        ("noise", "mixup", "rotation", "contrast", "crop=1"),
        ("cutout=2",),
        ("mixup",),
        ("crop=2", "flip", "cutmix"),
        ("cutmix", "noise"),
    )
    for specs in orders:
        pipeline, scratch = parse_augmentations(specs, spec), Scratch()
        for position in range(3):
            images = torch.rand(6 - position, 3, 8, 8)
            rows = torch.arange(len(images))
            batch, before = Batch(images, rows % 5, None, rows), images.clone()
            fresh = pipeline(batch, 1, 2, position)
            again = pipeline(batch, 1, 2, position, scratch)
            assert torch.equal(fresh.inputs, again.inputs)
            assert torch.equal(images, before)
