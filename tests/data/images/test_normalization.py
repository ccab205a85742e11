"""Mean and scale: agreed ones, and those of bytes against torch."""

import pytest
import torch

from netwright.data.images.normalization import IMAGENET, agreed_scaling, measured_scaling
from netwright.data.pixels import ChannelScaling
from tests.data.images.pictures import bytes_of


def test_measured_on_bytes_as_on_floats() -> None:
    pixels = torch.from_numpy(bytes_of(0, 5, 3, 4, 6))
    floats = pixels.double() / 255
    scaling = measured_scaling(pixels)
    assert scaling.mean == pytest.approx(floats.mean(dim=(0, 2, 3)).tolist(), abs=1e-12)
    spread = floats.std(dim=(0, 2, 3), correction=0)
    assert scaling.scale == pytest.approx(spread.tolist(), abs=1e-12)


def test_a_channel_of_one_byte_keeps_its_scale() -> None:
    scaling = measured_scaling(torch.full((2, 1, 2, 2), 51, dtype=torch.uint8))
    assert scaling.mean == pytest.approx((0.2,))
    assert scaling.scale == (1.0,)


def test_agreed_ones_need_no_image() -> None:
    # As published weights expect them; alpha has no published numbers.
    mean, scale = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    assert agreed_scaling("imagenet", "RGB") == ChannelScaling(mean=mean, scale=scale)
    with_alpha = agreed_scaling("imagenet", "RGBA")
    assert (with_alpha.mean[:3], with_alpha.scale[:3]) == (mean, scale)
    assert agreed_scaling("none", "RGBA") == ChannelScaling(mean=(0.0,) * 4, scale=(1.0,) * 4)
    assert IMAGENET["L"].mean == pytest.approx((sum(IMAGENET["RGB"].mean) / 3,), abs=1e-3)
    assert IMAGENET["L"].scale == pytest.approx((sum(IMAGENET["RGB"].scale) / 3,), abs=1e-3)
