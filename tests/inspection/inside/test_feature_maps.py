"""Feature maps: responses by hand, one stage a size, and a model that is left as it was."""

import pytest
import torch
from torch import Tensor, nn

from netwright.core.config import parse
from netwright.core.errors import DataError, ShapeError
from netwright.data.spec import DataSpec
from netwright.inspection.inside.feature_maps import (
    MOST_MAPS,
    MOST_STAGES,
    convolved_maps,
    measure_feature_maps,
)
from netwright.models.catalog import MODELS
from tests.inspection.drawn import check_sound, words_on

STANDING = torch.tensor([[-1.0, 2.0, -1.0]] * 3)  # a vertical stripe
BARS = torch.zeros(1, 1, 12, 12)
BARS[..., 2::3] = 1.0


def stripe_finder(*after: nn.Module) -> nn.Sequential:
    """One filter for vertical stripes, then one for horizontal ones."""
    filters = nn.Conv2d(1, 2, 3, bias=False)
    with torch.no_grad():
        filters.weight.copy_(torch.stack((STANDING, STANDING.T))[:, None])
    return nn.Sequential(filters, *after)


@pytest.mark.covers("feature-map")
def test_filter_responds_where_the_image_looks_like_it() -> None:
    upright = measure_feature_maps(stripe_finder(), BARS)
    lying = measure_feature_maps(stripe_finder(), BARS.transpose(2, 3))
    assert upright is not None
    assert lying is not None
    for view, found in ((upright, 0), (lying, 1)):
        (stage,) = view.stages
        assert (stage.num_maps, stage.sides) == (2, (10, 10))
        matching, other = stage.maps
        assert (matching.channel, matching.largest) == (found, 6.0)  # a whole stripe: 3 * 2
        assert (other.channel, other.mean, other.largest) == (1 - found, 0.0, 0.0)
    white = {column for column in range(10) if upright.stages[0].maps[0].pixels[0][column] == 255}
    assert white == {1, 4, 7}  # where a stripe is in the middle of the window
    check_sound(upright)


def test_maps_are_shown_after_what_keeps_their_shape_and_before_pooling() -> None:
    model = stripe_finder(nn.BatchNorm2d(2), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Flatten())
    image = torch.randn(1, 1, 12, 12, generator=torch.Generator().manual_seed(0))
    ((path, maps),) = convolved_maps(model, image)
    model.eval()
    assert path == "0"
    assert torch.equal(maps, model[:3](image)[0])


class Branching(nn.Module):
    """Two convolutions of one size, then three of the next; one of them is called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(4, 3, 3, padding=1), nn.Conv2d(3, 9, 3, padding=1)
        self.shrink, self.again = nn.Conv2d(9, 9, 2, stride=2), nn.Conv2d(9, 9, 1)
        self.unused = nn.Conv2d(1, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.again(self.again(self.shrink(self.second(self.first(x)).relu())))
        return out


def test_last_convolution_of_each_size_stands_for_its_stage() -> None:
    model = Branching()
    images = torch.randn(3, 4, 8, 6, generator=torch.Generator().manual_seed(0))
    assert [path for path, _ in convolved_maps(model, images[:1])] == [
        "first",
        "second",
        "shrink",
        "again",
    ]  # the second call of "again" makes the output
    view = measure_feature_maps(model, images)
    assert view is not None
    found = [(stage.path, stage.num_maps, stage.sides, len(stage.maps)) for stage in view.stages]
    assert found == [("second", 9, (8, 6), MOST_MAPS), ("again", 9, (4, 3), MOST_MAPS)]
    assert words_on(view) == ["the image", "second\n9 maps of 8 x 6", "again\n9 maps of 4 x 3"]
    check_sound(view)


def test_of_many_stages_the_first_and_the_last_are_among_those_shown() -> None:
    model = nn.Sequential(*(nn.Conv2d(1, 1, 3) for _ in range(20)))
    view = measure_feature_maps(model, torch.randn(1, 1, 48, 48))
    assert view is not None
    paths = [stage.path for stage in view.stages]
    assert len(paths) == MOST_STAGES
    assert (paths[0], paths[-1]) == ("0", "18")  # the last one makes the output
    check_sound(view)


def test_a_map_that_is_negative_everywhere_is_not_the_strongest() -> None:
    filters = nn.Conv2d(1, 2, 1, bias=False)
    with torch.no_grad():
        filters.weight.copy_(torch.tensor([-5.0, 1.0]).reshape(2, 1, 1, 1))
    view = measure_feature_maps(filters, BARS + 1)
    assert view is not None
    assert [one.channel for one in view.stages[0].maps] == [1, 0]


def test_a_unet_shows_all_its_stages_without_its_head_and_calls_none_coarser() -> None:
    spec = DataSpec(inputs="image", input_shape=(1, 32, 32), target="mask", num_outputs=2)
    unet = MODELS.load("unet")
    model = unet.build(parse(unet.settings, {"width": 2}, "model"), spec)
    view = measure_feature_maps(model, torch.randn(1, 1, 32, 32))
    assert view is not None
    assert [stage.sides[0] for stage in view.stages] == [32, 16, 8, 4, 2, 4, 8, 16, 32]
    assert view.stages[-1].num_maps == 2
    assert "coarser" not in view.caption


def test_later_maps_are_called_coarser_where_they_are() -> None:
    shrinking = stripe_finder(nn.MaxPool2d(2), nn.Conv2d(2, 2, 3), nn.Flatten())
    for model, is_said in ((shrinking, True), (stripe_finder(), False)):
        view = measure_feature_maps(model, BARS)
        assert view is not None
        assert ("later maps are coarser and look for more" in view.caption) is is_said


def test_model_is_left_as_it_was() -> None:
    model = stripe_finder(nn.BatchNorm2d(2), nn.Dropout(0.5)).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    first, second = measure_feature_maps(model, BARS), measure_feature_maps(model, BARS)
    assert first == second
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not any(part._forward_hooks for part in model.modules())


def test_no_convolution_no_view_and_refusals() -> None:
    assert measure_feature_maps(nn.Linear(3, 2), torch.zeros(1, 3)) is None
    uncalled = nn.Identity()
    uncalled.spare = nn.Conv2d(1, 1, 1)
    assert measure_feature_maps(uncalled, BARS) is None
    with pytest.raises(ShapeError, match=r"^images must have shape \(N, channels, I, J\), got"):
        measure_feature_maps(stripe_finder(), torch.zeros(3, 4))
    with pytest.raises(DataError, match=r"^images must be finite, got nan at \[0, 0, 0, 0\]"):
        measure_feature_maps(stripe_finder(), torch.full((1, 1, 5, 5), torch.nan))
