"""Activation maximisation: the filter comes back, and no other image does better."""

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.inspection.attribution.activation_maximum import ascend, measure_activation_maximum
from tests.inspection.drawn import check_sound, words_on

STRIPES = torch.tensor([[-1.0, 2.0, -1.0, -1.0, 2.0]] * 5)


def network() -> nn.Sequential:
    """One unit for stripes and one of chance; dropout and batch statistics between."""
    filters = nn.Conv2d(1, 2, 5, padding=2)
    torch.nn.init.normal_(filters.weight, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        filters.weight[0, 0] = STRIPES
    return nn.Sequential(
        filters, nn.BatchNorm2d(2), nn.Dropout(0.5), nn.Flatten(), nn.Linear(2 * 81, 3)
    )


def correlation(first: Tensor, second: Tensor) -> float:
    return float(torch.corrcoef(torch.stack((first.flatten(), second.flatten())))[0, 1])


@pytest.mark.covers("learned-filter-visualization")
def test_image_of_a_stripe_detector_is_striped() -> None:
    (image,) = ascend(network(), "0", [0], (1, 9, 9))
    assert correlation(image[0, 2:7, 2:7], STRIPES) > 0.99  # what the middle of the map sees
    outside = image.clone()
    outside[0, 2:7, 2:7] = 0.0
    assert float(outside.abs().max()) < 0.01


def test_dense_unit_finds_its_own_weights_and_each_unit_its_own_image() -> None:
    dense = nn.Linear(3 * 4 * 4, 5)
    model = nn.Sequential(nn.Flatten(), dense)
    images = ascend(model, "1", [4, 2], (3, 4, 4))
    for image, unit in zip(images, (4, 2), strict=True):
        assert correlation(image, dense.weight[unit].detach()) > 0.99
        assert float(image.square().mean()) == pytest.approx(1.0)
    (alone,) = ascend(model, "1", [4], (3, 4, 4))
    assert correlation(alone, images[0]) > 0.99


def test_view_shows_what_was_gained_and_leaves_the_model_alone() -> None:
    model = network().train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    view = measure_activation_maximum(model, "4", [0, 2], (1, 9, 9))
    assert [one.unit for one in view.maxima] == [0, 2]
    assert all(one.activation > one.at_noise + 1 for one in view.maxima)
    assert view == measure_activation_maximum(model, "4", [0, 2], (1, 9, 9))
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(part.grad is None for part in model.parameters())
    assert words_on(view)[0].startswith("unit 0\n")
    check_sound(view)


def test_images_of_other_channels_are_drawn_in_grey() -> None:
    check_sound(measure_activation_maximum(nn.Conv2d(2, 3, 3), "", range(3), (2, 6, 8)))


def test_refusals() -> None:
    with pytest.raises(ConfigError, match=r"^the model has no layer '9'$"):
        ascend(network(), "9", [0], (1, 9, 9))
    with pytest.raises(ConfigError, match=r"^a unit of '4' must be from 0 to 2, got 3$"):
        ascend(network(), "4", [3], (1, 9, 9))
