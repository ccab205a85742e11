"""CutMix: a rectangle of another example, and as much of its target."""

import pytest
import torch
from torch import Tensor

from netwright.data.augment.cutmix import CUTMIX
from netwright.data.augment.mixing import draw_partners
from netwright.data.loading.loader import Batch


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def numbered(count: int, rows: int = 8, columns: int = 6) -> Tensor:
    """Images whose pixels all are the image's own number, in both channels."""
    return torch.arange(1.0, count + 1)[:, None, None, None].expand(-1, 2, rows, columns).clone()


def test_each_image_has_one_rectangle_of_its_partner_and_is_itself_elsewhere() -> None:
    plain = numbered(200)
    mixed, partners = CUTMIX.mixed(plain, 1.0, stream())
    for own, image, place in zip(plain, mixed, partners.places, strict=True):
        is_pasted = image[0] != own[0]
        rows, columns = is_pasted.any(dim=1), is_pasted.any(dim=0)
        assert torch.equal(is_pasted, rows[:, None] & columns)
        for part in (rows, columns):  # one stretch
            assert int((part[1:] != part[:-1]).sum()) <= 2
        assert torch.equal(image[0], image[1])
        assert (image[0][is_pasted] == place + 1).all()


def test_targets_count_the_pixels() -> None:
    plain = numbered(100)
    rows = torch.arange(100)
    batch = CUTMIX.mix(Batch(plain, rows, None, rows), 1.0, stream(), 100)
    for place, (image, target) in enumerate(zip(batch.inputs, batch.targets, strict=True)):
        wanted = torch.bincount(image[0].long().flatten() - 1, minlength=100) / image[0].numel()
        torch.testing.assert_close(target, wanted)
        assert target[place] >= 0.5 - 1 / 8  # the larger part, but for whole pixels


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_sides_are_the_root_of_the_share_in_whole_pixels(dtype: torch.dtype) -> None:
    images = numbered(64, 32, 16).to(dtype)
    shares = draw_partners(images, 0.7, stream())[1]
    found = CUTMIX.mixed(images, 0.7, stream())[1].shares
    tall, wide = (((1 - shares).sqrt() * side).round() for side in (32, 16))
    torch.testing.assert_close(found, 1 - tall * wide / 512)


def test_rectangles_lie_anywhere_within_the_image() -> None:
    count = 4000
    images = torch.zeros(count, 1, 6, 6)
    images[::2] = 1
    is_pasted = (CUTMIX.apply(images, 1.0, stream()) != images)[:, 0]
    often = is_pasted.float().mean(dim=0)
    torch.testing.assert_close(often, often.flip(0, 1), rtol=0.15, atol=0)
    assert (often > 0).all()
