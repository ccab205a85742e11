"""An LSTM by hand: torch's own layer, the highway of the cell, refusals."""

import pytest
import torch
from torch import nn

from netwright.backprop.lstm import lstm_backward, lstm_forward
from netwright.backprop.recurrent import RecurrentWeights
from netwright.core.errors import ShapeError
from tests.backprop.references import assert_equal, numbers

BATCH, STEPS, INPUTS, UNITS = 3, 5, 2, 4


def weights() -> RecurrentWeights:
    return RecurrentWeights(
        numbers(4 * UNITS, INPUTS, seed=1),
        numbers(4 * UNITS, UNITS, seed=2),
        numbers(4 * UNITS, seed=3),
    )


def test_gradients_are_those_of_torchs_layer_with_a_state_of_its_own() -> None:
    layer, given = nn.LSTM(INPUTS, UNITS, batch_first=True).double(), weights()
    *learned, second_bias = layer.parameters()
    with torch.no_grad():
        for theirs, own in zip(learned, given, strict=True):
            theirs.copy_(own)
        second_bias.zero_()
    x = numbers(BATCH, STEPS, INPUTS).requires_grad_()
    start = tuple(numbers(BATCH, UNITS, seed=seed).requires_grad_() for seed in (4, 5))
    delta = numbers(BATCH, STEPS, UNITS, seed=6)
    outputs, _ = layer(x, tuple(part[None] for part in start))
    expected = torch.autograd.grad(outputs, [x, *start, *learned], delta)

    h, c = (part.detach() for part in start)
    ours, kept = lstm_forward(x.detach(), (h, c), given)
    assert_equal(ours, outputs.detach())
    found = lstm_backward(kept, delta)
    gradients = (found.x, found.start, found.start_cell, *found.weights)
    for one, other in zip(gradients, expected, strict=True):
        assert_equal(one, other)


def test_a_cell_that_forgets_nothing_carries_its_error_unchanged() -> None:
    """With f = 1 and gates that do not see the state, dl/dc_0 is what the last step gives c_T."""
    always, never = 50.0, -50.0
    bias = torch.tensor([never, always, 0.0, always], dtype=torch.float64)  # i, f, g, o
    zero = torch.zeros(4, 1, dtype=torch.float64)
    x, start = numbers(1, 100, 1), torch.full((1, 1), 0.5, dtype=torch.float64)
    h, kept = lstm_forward(x, (start, start), RecurrentWeights(zero, zero, bias))
    delta = torch.zeros_like(h)
    delta[:, -1] = 1.0
    found = lstm_backward(kept, delta)
    assert found.start_cell.item() == pytest.approx(1 - torch.tensor(0.5).tanh().item() ** 2)


def test_what_does_not_fit_is_refused() -> None:
    x, h = numbers(BATCH, STEPS, INPUTS), numbers(BATCH, UNITS)
    with pytest.raises(ShapeError, match=r"^weights.state must have shape \(16, 4\), got \(4, 4\)"):
        lstm_forward(x, (h, h), weights()._replace(state=numbers(UNITS, UNITS)))
    with pytest.raises(ShapeError, match=r"^start must have shape \(3, 4\), got \(1, 4\)$"):
        lstm_forward(x, (h, h[:1]), weights())
    sentence = r"^x must have at least one time step, got shape \(3, 0, 2\)$"
    with pytest.raises(ShapeError, match=sentence):
        lstm_forward(x[:, :0], (h, h), weights())
    outputs, kept = lstm_forward(x, (h, h), weights())
    with pytest.raises(ShapeError, match=r"^delta must have shape \(3, 5, 4\), got \(3, 1, 4\)$"):
        lstm_backward(kept, outputs[:, :1])
