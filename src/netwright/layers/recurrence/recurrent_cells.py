r"""Recurrent cells: one step each, as pure functions of input, state and weights.

    state = step(x, state, weights)     state[0] is the output of the step

Weights are named and laid out as torch has them: `weight_ih` acts on the input, `weight_hh` on the
last output, and the blocks of a cell (its gates) lie one under the other. A bias that is not there
counts as zero.

Shapes: B batch, D inputs, H units, K outputs of a Jordan cell.
Source: Jordan (1986); Elman (1990); Hochreiter and Schmidhuber (1997) with the forget gate of Gers,
Schmidhuber and Cummins (2000); Cho et al. (2014).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

Weights = Mapping[str, Tensor]
States = tuple[Tensor, ...]  # each (B, H)


class Step(Protocol):
    """What one step of a cell computes."""

    def __call__(self, x: Tensor, state: States, weights: Weights) -> States:
        """An input (B, D), the last state and the weights -> the next state."""


def from_input(x: Tensor, weights: Weights) -> Tensor:
    """What the input brings to all blocks: W x + b, (B, D) -> (B, blocks * H)."""
    return linear(x, weights["weight_ih"], weights.get("bias_ih"))


def from_output(h: Tensor, weights: Weights) -> Tensor:
    """What the last output brings to all blocks: U h + b, (B, H) -> (B, blocks * H)."""
    return linear(h, weights["weight_hh"], weights.get("bias_hh"))


def elman_step(
    x: Tensor, state: States, weights: Weights, activation: Callable[[Tensor], Tensor] = torch.tanh
) -> States:
    """h_t = phi(W x_t + U h_{t-1} + b)."""
    (h,) = state
    return (activation(from_input(x, weights) + from_output(h, weights)),)


def jordan_step(x: Tensor, state: States, weights: Weights) -> States:
    """h_t = tanh(U x_t + W y_{t-1} + b), y_t = V h_t + c: only the output is remembered.

    Args:
        x: (B, D).
        state: y_{t-1}, (B, K).
        weights: `weight_ih` (H, D), `weight_hh` (H, K), `bias_ih` (H), `weight_ho` (K, H),
            `bias_ho` (K).
    """
    (y,) = state
    h = torch.tanh(from_input(x, weights) + from_output(y, weights))
    return (linear(h, weights["weight_ho"], weights.get("bias_ho")),)


def lstm_step(x: Tensor, state: States, weights: Weights) -> States:
    """Gates i, f, o = sigma(W x_t + U h_{t-1} + b) and a candidate g = tanh(W x_t + U h_{t-1} + b).

    c_t = f c_{t-1} + i g, h_t = o tanh(c_t). The blocks are i, f, g, o.
    """
    h, c = state
    i, f, g, o = (from_input(x, weights) + from_output(h, weights)).chunk(4, dim=-1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def lstm_cell_gate_step(x: Tensor, state: States, weights: Weights) -> States:
    """The LSTM whose output gate looks at [h_{t-1}, c_t] instead of [h_{t-1}, x_t].

    o = sigma(P c_t + U_o h_{t-1} + b_o), the rest as in `lstm_step`: `weight_ih` has the blocks
    i, f, g only, and `weight_co` (H, H) is P.
    """
    h, c = state
    i, f, g = from_input(x, weights).chunk(3, dim=-1)
    i_h, f_h, g_h, o_h = from_output(h, weights).chunk(4, dim=-1)
    c = (f + f_h).sigmoid() * c + (i + i_h).sigmoid() * (g + g_h).tanh()
    o = linear(c, weights["weight_co"]) + o_h
    return o.sigmoid() * c.tanh(), c


def lstm_mapped_step(x: Tensor, state: States, weights: Weights) -> States:
    """The LSTM with a fifth matrix: h_t = o tanh(P c_t), where `weight_ch` (H, H) is P.

    With P = 1 it is `lstm_step`.
    """
    h, c = state
    i, f, g, o = (from_input(x, weights) + from_output(h, weights)).chunk(4, dim=-1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * linear(c, weights["weight_ch"]).tanh(), c


def gru_step(x: Tensor, state: States, weights: Weights) -> States:
    """Torch's convention: r, z = sigma(W x_t + U h_{t-1} + b), the reset after the matrix.

    n = tanh(W x_t + b + r (U h_{t-1} + b')), h_t = (1 - z) n + z h_{t-1}. The blocks are r, z, n.
    """
    (h,) = state
    r, z, n = from_input(x, weights).chunk(3, dim=-1)
    r_h, z_h, n_h = from_output(h, weights).chunk(3, dim=-1)
    z = (z + z_h).sigmoid()
    n = (n + (r + r_h).sigmoid() * n_h).tanh()
    return ((1 - z) * n + z * h,)


def gru_reset_first_step(x: Tensor, state: States, weights: Weights) -> States:
    """The convention of Cho et al.: the reset before the matrix, and z is what is new.

    n = tanh(W x_t + U (r h_{t-1}) + b), h_t = (1 - z) h_{t-1} + z n. The blocks are r, z, n.
    """
    (h,) = state
    r, z, n = from_input(x, weights).chunk(3, dim=-1)
    of_gates, of_candidate = weights["weight_hh"].tensor_split([2 * h.shape[-1]])
    r_h, z_h = linear(h, of_gates).chunk(2, dim=-1)
    z = (z + z_h).sigmoid()
    n = (n + linear((r + r_h).sigmoid() * h, of_candidate)).tanh()
    return ((1 - z) * h + z * n,)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A kind of cell that can be stacked.

    Args:
        step: one step.
        states: how many tensors (B, H) its state has; the first is its output.
        shapes: from D and H to the shapes of its weights, by name.
        fused: torch's module that computes all steps at once; None where torch has no such cell.
    """

    step: Step
    states: int
    shapes: Callable[[int, int], Mapping[str, tuple[int, ...]]]
    fused: Callable[..., nn.RNNBase] | None = None


def _blocks(count: int, inputs: int, units: int) -> Mapping[str, tuple[int, ...]]:
    """The shapes of torch's cells of this many blocks."""
    rows = count * units
    return {
        "weight_ih": (rows, inputs),
        "weight_hh": (rows, units),
        "bias_ih": (rows,),
        "bias_hh": (rows,),
    }


def _cell_gate_shapes(inputs: int, units: int) -> Mapping[str, tuple[int, ...]]:
    return {
        "weight_ih": (3 * units, inputs),
        "weight_hh": (4 * units, units),
        "weight_co": (units, units),
        "bias_ih": (3 * units,),
        "bias_hh": (4 * units,),
    }


def _reset_first_shapes(inputs: int, units: int) -> Mapping[str, tuple[int, ...]]:
    return {
        "weight_ih": (3 * units, inputs),
        "weight_hh": (3 * units, units),
        "bias_ih": (3 * units,),
    }


ELMAN = Cell(step=elman_step, states=1, shapes=partial(_blocks, 1), fused=nn.RNN)
ELMAN_RELU = Cell(
    step=partial(elman_step, activation=torch.relu),
    states=1,
    shapes=partial(_blocks, 1),
    fused=partial(nn.RNN, nonlinearity="relu"),
)
LSTM = Cell(step=lstm_step, states=2, shapes=partial(_blocks, 4), fused=nn.LSTM)
LSTM_CELL_GATE = Cell(step=lstm_cell_gate_step, states=2, shapes=_cell_gate_shapes)
GRU = Cell(step=gru_step, states=1, shapes=partial(_blocks, 3), fused=nn.GRU)
GRU_RESET_FIRST = Cell(step=gru_reset_first_step, states=1, shapes=_reset_first_shapes)
