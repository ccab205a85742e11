"""The U-Net: counted by hand, masks as large as images, what it learns and what skips are for."""

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.losses.segmentation import pixel_cross_entropy
from netwright.metrics.segmentation import class_iou, mask_tables
from netwright.models.vision.unet import UNet, UNetConfig
from netwright.testing.model_contract import MODEL_CHECKS, Build
from tests.repetition import for_each


def spec_of(channels: int = 1, tall: int = 16, wide: int = 16, classes: int = 2) -> DataSpec:
    return DataSpec(
        inputs="image",
        input_shape=(channels, tall, wide),
        target="mask",
        num_outputs=classes,
        class_names=tuple("abcde"[:classes]),
    )


def unet(spec: DataSpec, seed: int = 0, **settings: object) -> UNet:
    with seeded(seed):
        return UNet.build(UNetConfig(**settings), spec)  # type: ignore[arg-type]


SMALL = {"width": 2, "depth": 2}
BUILDS: dict[str, Build] = {
    "plain": lambda: UNet.build(UNetConfig(width=2, depth=2), spec_of(tall=8, wide=8)),
    "odd sizes without skips and norms": lambda: UNet.build(
        UNetConfig(width=2, depth=2, skips=False, batch_norm=False), spec_of(3, 7, 9, 3)
    ),
}


@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
@for_each("build", BUILDS.values(), ids=BUILDS)
def test_keeps_the_model_contract(build: Build, check: Callable[[Build], None]) -> None:
    check(build)


def size_of(model: UNet) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def test_the_paper_s_network_has_31_million_parameters() -> None:
    with torch.device("meta"):
        model = UNet.build(UNetConfig(width=64, batch_norm=False), spec_of())
    assert size_of(model) == 31_030_658


def test_parameters_by_hand() -> None:
    # Width 2, depth 1, one channel, two classes; a convolution of 3 by 3 has 9 weights a pair.
    first, down = (9 * 1 * 2 + 2) + (9 * 2 * 2 + 2), (9 * 2 * 4 + 4) + (9 * 4 * 4 + 4)
    rise, head = 4 * 4 * 2 + 2, 2 * 2 + 2
    joined, alone = (9 * 4 * 2 + 2) + (9 * 2 * 2 + 2), (9 * 2 * 2 + 2) + (9 * 2 * 2 + 2)
    model = unet(spec_of(), width=2, depth=1, batch_norm=False)
    assert size_of(model) == first + down + rise + joined + head
    blind = unet(spec_of(), width=2, depth=1, batch_norm=False, skips=False)
    assert size_of(blind) == first + down + rise + alone + head


@for_each("sides", [(4, 4), (5, 4), (7, 13), (9, 6)])
def test_a_mask_is_as_large_as_its_image(sides: tuple[int, int]) -> None:
    model = unet(spec_of(3, *sides, classes=5), **SMALL).eval()
    assert model(torch.zeros(2, 3, *sides)).shape == (2, 5, *sides)


def test_widening_repeats_the_border_and_is_cut_off_again() -> None:
    model = unet(spec_of(tall=8, wide=8), **SMALL).eval()
    image = torch.randn(1, 1, 6, 7, generator=torch.Generator().manual_seed(0))
    wider = F.pad(image, (0, 1, 0, 2), mode="replicate")
    with torch.no_grad():
        torch.testing.assert_close(model(image), model(wider)[..., :6, :7])


def test_what_is_seen_is_seen_from_everywhere() -> None:
    # Down to 2 by 2 pixels and up again: a change in one corner reaches the opposite one.
    model = unet(spec_of(), width=4, depth=3, batch_norm=False).eval()
    image = torch.randn(1, 1, 16, 16, generator=torch.Generator().manual_seed(0))
    changed = image.clone()
    changed[..., 0, 0] += 10
    with torch.no_grad():
        assert (model(changed) - model(image))[..., -1, -1].abs().max() > 0


def discs(count: int, side: int = 16) -> tuple[Tensor, Tensor]:
    """Noisy images with two light discs each, and their masks."""
    rng = torch.Generator().manual_seed(0)
    middles = torch.randint(3, side - 3, (count, 2, 2, 1, 1), generator=rng)
    radii = torch.randint(2, 5, (count, 2, 1, 1), generator=rng)
    down, right = (
        torch.arange(side)[:, None] - middles[:, :, 0],
        torch.arange(side) - middles[:, :, 1],
    )
    masks = (down.square() + right.square() <= radii.square()).any(dim=1).long()
    return masks[:, None] + 0.3 * torch.randn(count, 1, side, side, generator=rng), masks


def learned(images: Tensor, masks: Tensor, *, skips: bool) -> Tensor:
    """What a small U-Net says of images after learning them by heart."""
    model = unet(spec_of(), width=8, depth=3, skips=skips)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(40):
        optimizer.zero_grad()
        pixel_cross_entropy(model(images), masks, "mean").backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        said: Tensor = model.eval()(images).argmax(dim=1)
    return said


def disc_iou(masks: Tensor, said: Tensor, where: Tensor) -> float:
    table = mask_tables(masks[where][None, None], said[where][None, None], 2)[0]
    return class_iou(table)[1].item()


@pytest.mark.slow
@pytest.mark.covers("unet")
def test_learns_masks_by_heart_and_loses_the_boundaries_without_skips() -> None:
    images, masks = discs(8)
    light = masks[:, None].float()
    widest, narrowest = F.max_pool2d(light, 3, 1, 1), -F.max_pool2d(-light, 3, 1, 1)
    boundary, everywhere = (widest != narrowest)[:, 0], torch.ones_like(masks, dtype=torch.bool)
    with_skips, without = (learned(images, masks, skips=skips) for skips in (True, False))
    assert with_skips.shape == masks.shape
    assert disc_iou(masks, with_skips, everywhere) > 0.95
    assert disc_iou(masks, without, boundary) < disc_iou(masks, with_skips, boundary) - 0.05


def test_an_image_that_cannot_be_halved_so_often_is_refused() -> None:
    sentence = "a unet of depth 4 halves an image 4 times: it must be at least 16 x 16, got 8 x 40"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        unet(spec_of(1, 8, 40))
    assert unet(spec_of(1, 8, 40), width=2, depth=3).spec.input_shape == (1, 8, 40)
