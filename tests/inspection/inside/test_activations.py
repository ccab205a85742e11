"""The view of activations: the worst layer by name, and pictures of any model."""

import re

import pytest
import torch
from torch import nn

from netwright.core.errors import DataError
from netwright.inspection.inside.activations import MOST_ROWS, measure_activations
from tests.inspection.drawn import check_sound, words_on


def net(*layers: nn.Module) -> nn.Sequential:
    torch.manual_seed(0)
    for layer in layers:
        if isinstance(layer, nn.Linear):
            layer.reset_parameters()
    return nn.Sequential(*layers)


def inputs(features: int) -> torch.Tensor:
    return torch.randn(20, features, generator=torch.Generator().manual_seed(1))


def test_the_caption_names_the_layer_with_the_most_dead_units() -> None:
    model = net(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    with torch.no_grad():
        model.get_parameter("0.bias")[:] = torch.tensor([-100.0, 9.0, 9.0, 9.0])
        model.get_parameter("2.bias")[:] = torch.tensor([-100.0, -100.0, 99.0, 99.0])
    view = measure_activations(model, inputs(3))
    assert view.worst.path == "2"
    assert view.caption.startswith(
        'Worst is "2 relu": 2 of its 4 units (50.0 %) are dead, 0 on every example.'
    )
    assert view.table_rows()[1]["dead units"] == "2"
    with torch.no_grad():
        model.get_parameter("2.bias").fill_(99.0)
    assert measure_activations(model, inputs(3)).caption.startswith(
        'Worst is "0 relu": 1 of its 4 units (25.0 %) is dead, 0 on every example.'
    )
    check_sound(view)


def test_the_caption_names_the_saturated_layer() -> None:
    model = net(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    with torch.no_grad():
        model.get_parameter("0.bias")[:] = torch.tensor([50.0, -50.0, 50.0, 0.0])
    view = measure_activations(model, inputs(3))
    assert view.caption.startswith(
        'Worst is "0 tanh": 3 of its 4 units (75.0 %) are saturated on every example.'
    )
    assert "units always there" in words_on(view)


def test_values_at_an_end_are_told_where_no_unit_always_is() -> None:
    model = net(nn.Linear(1, 1, bias=False), nn.Tanh())
    with torch.no_grad():
        model.get_parameter("0.weight").fill_(100.0)
    view = measure_activations(model, torch.tensor([[-1.0], [1.0], [0.001], [2.0]]))
    assert view.caption.startswith(
        "No unit is dead or saturated on every example; 75.0 % of the values of "
        '"0 tanh" are at an end of their range.'
    )
    healthy = measure_activations(net(nn.Linear(3, 2)), inputs(3))
    assert healthy.caption.startswith("No unit is dead or saturated on every example. Left")
    assert "none" in words_on(healthy)


def test_spreads_of_very_different_width_share_an_axis_and_zeros_need_none() -> None:
    model = net(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2), nn.ReLU(), nn.Linear(2, 2))
    with torch.no_grad():
        model.get_parameter("0.weight").mul_(1000.0)
        model.get_parameter("2.bias")[:] = -1e6  # all is 0: no spread to draw
    view = measure_activations(model, inputs(3))
    assert view.layers[1].edges == ()
    words = words_on(view)
    assert {"-1000", "100"} & set(words) == {"100"}
    assert "value (logarithmic away from 0); orange: the mean" in words
    check_sound(view)


@pytest.mark.slow
def test_of_very_many_layers_some_are_drawn_and_the_fact_is_told() -> None:
    model = net(*(nn.Linear(2, 2) for _ in range(MOST_ROWS + 6)))
    view = measure_activations(model, inputs(2))
    assert len(view.layers) == 30
    assert view.caption.endswith(" 24 of 30 layers are drawn.")
    names = set(words_on(view)) & {str(place) for place in range(30)}
    assert {"0", "29"} <= names
    assert len(names) == MOST_ROWS


def test_a_model_without_layers_is_refused() -> None:
    sentence = "the model has no layer with weights whose activations could be shown"
    with pytest.raises(DataError, match=re.escape(sentence)):
        measure_activations(nn.Flatten(), inputs(2))
