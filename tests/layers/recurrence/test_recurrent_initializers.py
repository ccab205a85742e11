"""How recurrent stacks start: units that keep their value, and gates that are open."""

import pytest
import torch

from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import ELMAN_RELU, LSTM, LSTM_CELL_GATE, Cell
from netwright.layers.recurrence.recurrent_initializers import start_as_identity, start_remembering


def test_identity_units_keep_their_state_and_its_gradient_for_a_thousand_steps() -> None:
    stack = RecurrentStack(ELMAN_RELU, 2, 5)
    start_as_identity(stack)
    first = torch.rand(1, 1, 5, requires_grad=True)
    _, (last,) = stack(torch.zeros(1, 1000, 2), (first,))
    assert torch.equal(last, first)
    rows = [torch.autograd.grad(last[0, 0, unit], first, retain_graph=True)[0] for unit in range(5)]
    assert torch.equal(torch.cat(rows).squeeze(), torch.eye(5))


@pytest.mark.parametrize("cell", [LSTM, LSTM_CELL_GATE], ids=["input", "cell"])
def test_forget_gates_start_at_one_in_every_layer_and_direction(cell: Cell) -> None:
    stack = RecurrentStack(cell, 2, 3, 2, bidirectional=True)
    before = {name: part.clone() for name, part in stack.named_parameters()}
    start_remembering(stack)
    for layer in (0, 1):
        for backward in (False, True):
            weights = stack.weights(layer, backward=backward)
            assert weights["bias_ih"][3:6].tolist() == [1.0] * 3
            assert weights["bias_hh"][3:6].tolist() == [0.0] * 3
    for name, part in stack.named_parameters():
        blocks = torch.ones(len(part), dtype=torch.bool)
        if "bias" in name:
            blocks[3:6] = False
        assert torch.equal(part[blocks], before[name][blocks])
