"""Filters of the first convolution: grey, in colour, of other channels, and of no convolution."""

import pytest
import torch
from torch import Tensor, nn

from netwright.inspection.inside.conv_filters import measure_conv_filters, strongest_channel
from tests.inspection.drawn import check_sound


def network(channels: int, weights: Tensor) -> nn.Module:
    first = nn.Conv2d(channels, len(weights), weights.shape[-1], bias=False)
    with torch.no_grad():
        first.weight.copy_(weights)
    return nn.Sequential(nn.Sequential(first, nn.ReLU()), nn.Conv2d(len(weights), 2, 3))


def test_filters_of_the_first_convolution_come_strongest_first() -> None:
    stripes = torch.tensor([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    view = measure_conv_filters(network(1, torch.stack((stripes, 2 * stripes.T))[:, None]))
    assert view is not None
    lying, standing = ((0, 0, 0), (255, 255, 255), (0, 0, 0)), ((0, 255, 0),) * 3
    assert view.pictures == (lying, standing)
    assert view.caption.startswith(
        'What the 3 x 3 filters of the first convolution, "0.0", look for (2, the strongest first)'
    )
    assert "channels" not in view.caption
    check_sound(view)


def test_three_channels_are_colours() -> None:
    weights = torch.zeros(1, 3, 2, 2)
    weights[0, 0, 0, 0] = 1.0
    view = measure_conv_filters(network(3, weights))
    assert view is not None
    assert view.pictures == ((((255, 0, 0), (0, 0, 0)), ((0, 0, 0), (0, 0, 0))),)
    check_sound(view)


@pytest.mark.parametrize("channels", [2, 4])
def test_of_other_channels_the_strongest_is_shown_and_the_caption_says_so(channels: int) -> None:
    weights = torch.randn(3, channels, 5, 5, generator=torch.Generator().manual_seed(0))
    weights[:, 1] *= 10
    assert torch.equal(strongest_channel(weights), weights[:, 1:2])
    view = measure_conv_filters(network(channels, weights))
    assert view is not None
    sentence = f" Each shows one of {channels} input channels: the strongest of its filter."
    assert view.caption.endswith(sentence)
    check_sound(view)


def test_module_that_is_a_convolution_and_one_without_any() -> None:
    view = measure_conv_filters(nn.Conv2d(1, 2, (3, 5)))
    assert view is not None
    assert '3 x 5 filters of the first convolution, "itself"' in view.caption
    assert measure_conv_filters(nn.Linear(3, 2)) is None
