"""Patches: there and back, by hand, and the map of patches as a product."""

from collections.abc import Callable

import pytest
import torch

from netwright.core.errors import ShapeError
from netwright.core.seeding import seeded
from netwright.layers.patches import PatchEmbedding, count_patches, patchify, unpatchify
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each


def test_patches_of_a_counted_image_stand_row_by_row() -> None:
    image = torch.arange(16.0).reshape(1, 1, 4, 4)
    assert patchify(image, 2)[0].tolist() == [
        [0, 1, 4, 5],
        [2, 3, 6, 7],
        [8, 9, 12, 13],
        [10, 11, 14, 15],
    ]


@for_each("sides", [(6, 8), (5, 7), (1, 1), (2, 9)], ids=str)
def test_there_and_back_is_the_image(sides: tuple[int, int]) -> None:
    images = torch.randn(2, 3, *sides, generator=torch.Generator().manual_seed(0))
    patches = patchify(images, 2)
    assert patches.shape == (2, count_patches(*sides, 2), 12)
    assert torch.equal(unpatchify(patches, 2, *sides), images)


@pytest.mark.covers("vit")
def test_an_image_of_224_has_196_patches_of_768_numbers() -> None:
    images = torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(0))
    patches = patchify(images, 16)
    assert patches.shape == (1, 196, 768)
    assert torch.equal(unpatchify(patches, 16, 224, 224), images)


def test_the_embedding_is_one_linear_map_of_every_patch() -> None:
    with seeded(0):
        layer, images = PatchEmbedding(3, 5, 2).double(), torch.randn(2, 3, 5, 4).double()
    kernel = layer.projection
    assert kernel.bias is not None
    wanted = patchify(images, 2) @ kernel.weight.flatten(1).T + kernel.bias
    torch.testing.assert_close(layer(images), wanted)


def test_patches_of_another_image_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^an image of 4 x 6 has 6 patches of 2 x 2, got 4$"):
        unpatchify(torch.zeros(1, 4, 12), 2, 4, 6)


@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_layer_contract(check: Callable[[Build], None]) -> None:
    check(lambda: (PatchEmbedding(2, 4, 2), torch.randn(3, 2, 3, 4)))
