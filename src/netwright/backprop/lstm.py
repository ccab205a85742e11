r"""An LSTM, unrolled and differentiated by hand: the error goes back through outputs and cells.

    [i f g o] = W x_t + U h_{t-1} + b,  through sigmoid, sigmoid, tanh, sigmoid
    c_t = f c_{t-1} + i g,              h_t = o tanh(c_t)

Back from the last step, with dh_t = dl/dh_t + U^T delta_{t+1} and the errors of the four sums

    dc_t    = dh_t o (1 - tanh^2 c_t) + f_{t+1} dc_{t+1}
    delta_t = [dc_t g i(1-i),  dc_t c_{t-1} f(1-f),  dc_t i (1-g^2),  dh_t tanh(c_t) o(1-o)]

The error of a cell is multiplied by the forget gate alone on its way back: with f near 1 it does
not vanish. The blocks lie in torch's order i, f, g, o.

Shapes: B batch, T steps, D inputs, H units.
Source: Hochreiter and Schmidhuber (1997), with the forget gate of Gers, Schmidhuber and Cummins
(2000); the whole gradient is that of Graves and Schmidhuber (2005).
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.backprop.recurrent import (
    RecurrentGradients,
    RecurrentWeights,
    check_recurrent,
    weight_gradients,
)
from netwright.core.checks import check_shape


class LSTMKept(NamedTuple):
    """What the way back needs.

    Args:
        x: (B, T, D).
        outputs: h_0 to h_T, (B, T + 1, H).
        cells: c_0 to c_T, (B, T + 1, H).
        gates: i, f, g and o of each step, (B, T, 4 H).
        weights: W (4 H, D), U (4 H, H) and b (4 H).
    """

    x: Tensor
    outputs: Tensor
    cells: Tensor
    gates: Tensor
    weights: RecurrentWeights


@dataclass(frozen=True, kw_only=True)
class LSTMGradients(RecurrentGradients):
    """Those of a recurrent layer, and that of c_0 (B, H)."""

    start_cell: Tensor


def lstm_forward(
    x: Tensor, start: tuple[Tensor, Tensor], weights: RecurrentWeights
) -> tuple[Tensor, LSTMKept]:
    """Inputs (B, T, D), h_0 and c_0 (B, H) -> h_1 to h_T (B, T, H)."""
    for part in start:
        check_recurrent(x, part, weights, blocks=4)
    (h, c), gates = start, []
    outputs, cells = [h], [c]
    for given in x.unbind(dim=1):
        summed = given @ weights.inputs.T + h @ weights.state.T + weights.bias
        i, f, g, o = summed.chunk(4, dim=-1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        c = f * c + i * g
        h = o * c.tanh()
        outputs.append(h)
        cells.append(c)
        gates.append(torch.cat((i, f, g, o), dim=-1))
    kept = LSTMKept(
        x,
        torch.stack(outputs, dim=1),
        torch.stack(cells, dim=1),
        torch.stack(gates, dim=1),
        weights,
    )
    return kept.outputs[:, 1:], kept


def lstm_backward(kept: LSTMKept, delta: Tensor) -> LSTMGradients:
    """Carry the error back; `delta` is what each output brings to the loss by itself, (B, T, H)."""
    check_shape("delta", delta, *kept.outputs[:, 1:].shape)
    errors: list[Tensor] = []
    carried = torch.zeros_like(delta[:, 0])  # U^T delta_{t+1}
    carried_cell = torch.zeros_like(carried)  # f_{t+1} dc_{t+1}
    for step in reversed(range(delta.shape[1])):
        i, f, g, o = kept.gates[:, step].chunk(4, dim=-1)
        squashed = kept.cells[:, step + 1].tanh()
        output_error = delta[:, step] + carried
        cell_error = output_error * o * (1 - squashed**2) + carried_cell
        of_sums = (
            cell_error * g * i * (1 - i),
            cell_error * kept.cells[:, step] * f * (1 - f),
            cell_error * i * (1 - g**2),
            output_error * squashed * o * (1 - o),
        )
        errors.insert(0, torch.cat(of_sums, dim=-1))
        carried = errors[0] @ kept.weights.state
        carried_cell = cell_error * f
    summed = torch.stack(errors, dim=1)
    return LSTMGradients(
        by_step=weight_gradients(summed, kept.x, kept.outputs[:, :-1]),
        x=summed @ kept.weights.inputs,
        start=carried,
        start_cell=carried_cell,
    )
