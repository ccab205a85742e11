"""What units answer to one input: by hand, and in the words of the caption."""

import pytest
import torch
from torch import nn

from netwright.core.errors import DataError
from netwright.inspection.inside.unit_answers import MOST_LAYERS, measure_unit_answers


def by_hand() -> nn.Sequential:
    """Two inputs, a ReLU layer of three units, an output of two."""
    first, last = nn.Linear(2, 3, bias=False), nn.Linear(3, 2)
    with torch.no_grad():
        first.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
        last.weight.copy_(torch.tensor([[1.0, 1.0, 1.0], [2.0, 0.0, -1.0]]))
        last.bias.copy_(torch.tensor([0.5, 0.0]))
    return nn.Sequential(nn.Flatten(), first, nn.ReLU(), last)


def test_the_answers_are_those_after_the_nonlinearity_of_the_first_input() -> None:
    seen = measure_unit_answers(by_hand(), torch.tensor([[3.0, -1.0], [9.0, 9.0]]), ("no", "yes"))
    assert seen is not None
    assert [layer.answers for layer in seen.layers] == [(3.0, 0.0, 2.0), (5.5, 4.0)]
    assert '"no" answers most, 5.5' in seen.caption and seen.seen is None
    first, last = seen.table_rows()
    assert (first["units"], first["zero"], first["strongest"]) == ("3", "1", "unit 1")
    assert (last["lowest"], last["highest"]) == ("4", "5.5")
    assert len(seen.image("svg")) > 1000


def test_an_image_is_shown_and_outputs_without_names_are_counted() -> None:
    image = torch.tensor([[[[0.0, 4.0]]]])
    seen = measure_unit_answers(by_hand(), image, ("one", "two", "three"))
    assert seen is not None and seen.seen == ((0, 255),)
    assert seen.names == () and "unit 1 answers most, 8.5" in seen.caption


def test_of_many_layers_some_are_drawn_and_all_are_in_the_table() -> None:
    deep = nn.Sequential(*(nn.Linear(2, 2) for _ in range(MOST_LAYERS + 3)))
    seen = measure_unit_answers(deep, torch.ones(1, 2))
    assert seen is not None and "8 of 11 layers are drawn" in seen.caption
    assert len(seen.table_rows()) == 11


def test_a_model_without_dense_layers_has_none_and_no_number_is_refused() -> None:
    assert measure_unit_answers(nn.Tanh(), torch.ones(1, 2)) is None
    with pytest.raises(DataError, match="layer '1' answers"):
        measure_unit_answers(by_hand(), torch.tensor([[float("nan"), 1.0]]))
