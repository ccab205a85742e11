"""Units of dense layers: what each answers, after its nonlinearity, and the weights into it."""

import torch
from torch import nn

from netwright.inspection.inside.dense_units import measure_units


def test_a_layer_answers_with_what_leaves_its_nonlinearity() -> None:
    first, last = nn.Linear(2, 3), nn.Linear(3, 1)
    model = nn.Sequential(nn.Sequential(first, nn.Tanh(), nn.Dropout(0.5)), last)
    inputs = torch.randn(5, 2)
    output, (hidden, head) = measure_units(model, inputs)
    torch.testing.assert_close(hidden.answers, first(inputs).tanh())
    torch.testing.assert_close(head.answers, last(first(inputs).tanh()))
    assert torch.equal(output, head.answers) and not output.requires_grad
    assert (hidden.path, head.path) == ("0.0", "1")
    assert torch.equal(hidden.weights, first.weight)


def test_what_is_not_one_number_a_unit_is_no_layer() -> None:
    model = nn.Sequential(nn.Unflatten(1, (2, 1)), nn.Linear(1, 3), nn.Flatten(), nn.Linear(6, 2))
    _, layers = measure_units(model, torch.randn(4, 2))
    assert [layer.path for layer in layers] == ["3"]


def test_no_hook_stays_and_the_mode_is_as_it_was() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
    measure_units(model, torch.randn(4, 2))
    assert model.training and not any(part._forward_hooks for part in model.modules())
