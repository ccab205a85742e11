r"""Backpropagation through time: a recurrent layer, unrolled and differentiated by hand.

    a_t = W x_t + U h_{t-1} + b,    h_t = tanh(a_t)

    delta_t   = (1 - h_t^2) (dl/dh_t + U^T delta_{t+1})       the error of a_t, last step first
    dl/dW     = sum_t delta_t x_t^T
    dl/dU     = sum_t delta_t h_{t-1}^T
    dl/db     = sum_t delta_t

Where dl/dh_t is what step t brings to the loss by itself, V^T (p_t - y_t) under a softmax. Often
the sums are printed without the recursion, which carries what the later steps bring.

Shapes: B batch, T steps, D inputs, H units, G = H numbers a step that the weights make (4 H in an
LSTM).
Source: Werbos, "Backpropagation Through Time: What It Does and How to Do It" (1990).
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.checks import check_positive, check_shape
from netwright.core.errors import ShapeError


class RecurrentWeights(NamedTuple):
    """W (G, D) on the inputs, U (G, H) on the last output, and b (G); or their gradients."""

    inputs: Tensor
    state: Tensor
    bias: Tensor


class RecurrentKept(NamedTuple):
    """What the way back needs: x (B, T, D), h_0 to h_T (B, T + 1, H), and the weights."""

    x: Tensor
    outputs: Tensor
    weights: RecurrentWeights


@dataclass(frozen=True, kw_only=True)
class RecurrentGradients:
    """The gradients of a layer.

    Args:
        by_step: what each step brings to those of the weights, (T, ...): where the early ones are
            tiny beside the last, the gradient has vanished.
        x: (B, T, D).
        start: of h_0, (B, H).
    """

    by_step: RecurrentWeights
    x: Tensor
    start: Tensor

    @property
    def weights(self) -> RecurrentWeights:
        """The sums over all steps: the weights are the same at each."""
        return RecurrentWeights(*(part.sum(dim=0) for part in self.by_step))


def recurrent_forward(
    x: Tensor, start: Tensor, weights: RecurrentWeights
) -> tuple[Tensor, RecurrentKept]:
    """Inputs (B, T, D) and h_0 (B, H) -> h_1 to h_T (B, T, H)."""
    check_recurrent(x, start, weights, blocks=1)
    outputs = [start]
    for given in x.unbind(dim=1):
        summed = given @ weights.inputs.T + outputs[-1] @ weights.state.T + weights.bias
        outputs.append(summed.tanh())
    kept = RecurrentKept(x, torch.stack(outputs, dim=1), weights)
    return kept.outputs[:, 1:], kept


def recurrent_backward(
    kept: RecurrentKept, delta: Tensor, window: int | None = None
) -> RecurrentGradients:
    """Carry the error back from the last step.

    Args:
        kept: of the way forward.
        delta: what each output brings to the loss by itself, (B, T, H).
        window: truncated: no error crosses from one window of so many steps into the one before.
    """
    check_shape("delta", delta, *kept.outputs[:, 1:].shape)
    if window is not None:
        check_positive("window", window)
    errors: list[Tensor] = []
    carried = torch.zeros_like(delta[:, 0])  # U^T delta_{t+1}
    for step in reversed(range(delta.shape[1])):
        if window is not None and (step + 1) % window == 0:
            carried = torch.zeros_like(carried)
        slope = 1 - kept.outputs[:, step + 1] ** 2
        errors.insert(0, slope * (delta[:, step] + carried))
        carried = errors[0] @ kept.weights.state
    summed = torch.stack(errors, dim=1)
    return RecurrentGradients(
        by_step=weight_gradients(summed, kept.x, kept.outputs[:, :-1]),
        x=summed @ kept.weights.inputs,
        start=carried,
    )


def check_recurrent(x: Tensor, start: Tensor, weights: RecurrentWeights, *, blocks: int) -> None:
    """Refuse what does not fit to weights of so many blocks, each of H rows."""
    units = weights.state.shape[-1]
    check_shape("weights.state", weights.state, blocks * units, units)
    check_shape("weights.inputs", weights.inputs, blocks * units, "D")
    check_shape("weights.bias", weights.bias, blocks * units)
    check_shape("x", x, "B", "T", weights.inputs.shape[1])
    if not x.shape[1]:
        raise ShapeError(f"x must have at least one time step, got shape {tuple(x.shape)}")
    check_shape("start", start, len(x), units)


def weight_gradients(errors: Tensor, x: Tensor, before: Tensor) -> RecurrentWeights:
    """Errors of the sums (B, T, G), inputs and the outputs before them -> each step's part."""
    return RecurrentWeights(
        inputs=torch.einsum("btg,btd->tgd", errors, x),
        state=torch.einsum("btg,bth->tgh", errors, before),
        bias=errors.sum(dim=0),
    )
