"""Crop, flips and cutout in one pass: the bits of one after the other."""

import pytest
import torch

from netwright.data.augment.augmentation import Augmentation
from netwright.data.augment.catalog import AUGMENTATIONS
from netwright.data.augment.one_pass import is_one_pass
from netwright.data.augment.pipeline import parse_augmentations
from netwright.data.loading.loader import Batch
from netwright.data.spec import DataSpec

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
CHAINS = [
    ("crop=4", "flip", "cutout=5"),
    ("flip-vertical", "crop=2"),
    ("flip",),
    ("cutout=4",),
]


def batch(device: str, *sides: int) -> Batch:
    images = torch.randn(9, 3, *sides, generator=torch.Generator().manual_seed(0)).to(device)
    return Batch(images, torch.arange(9, device=device) % 5, None, torch.arange(9, device=device))


@needs_cuda
@pytest.mark.parametrize("chain", CHAINS, ids="-".join)
@pytest.mark.parametrize("sides", [(8, 8), (11, 20)], ids=str)
def test_the_bits_are_those_of_the_plain_way(
    chain: tuple[str, ...], sides: tuple[int, int]
) -> None:
    shape = (3, *sides)
    spec = DataSpec(inputs="image", input_shape=shape, target="class", num_outputs=5)
    pipeline, given = parse_augmentations(chain, spec), batch("cuda", *sides)
    assert is_one_pass(pipeline.steps, given.inputs)
    for position in range(3):
        plain = pipeline(given, 1, 2, position)
        quick = pipeline(given, 1, 2, position, channels_last=True)
        assert torch.equal(quick.inputs, plain.inputs)
        assert not torch.equal(quick.inputs, given.inputs)
        assert quick.inputs.is_contiguous(memory_format=torch.channels_last)


def steps(*names: str) -> list[tuple[Augmentation, float]]:
    return [(AUGMENTATIONS.load(name), 2.0) for name in names]


def test_other_changes_and_other_places_are_left_to_the_plain_way() -> None:
    images = batch("cpu", 8, 8).inputs
    assert not is_one_pass(steps("crop", "flip"), images)  # on a CPU


@needs_cuda
@pytest.mark.parametrize(
    "names", [(), ("rotation",), ("cutout", "crop"), ("crop", "mixup"), ("crop", "noise")], ids=str
)
def test_changes_that_are_no_single_pass(names: tuple[str, ...]) -> None:
    assert not is_one_pass(steps(*names), batch("cuda", 8, 8).inputs)
