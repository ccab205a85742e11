"""A recurrence whose state enters linearly, channel by channel: h_t = a_t h_{t-1} + b_t.

The coefficients a_t and b_t are made from the input alone, never from the state. That is what
allows `scan` to compute all steps at once, and it is all that a layer of this kind has to give.

Shapes: B batch, T steps, D inputs, N channels of the state, H outputs.
Source: Martin and Cundy, "Parallelizing Linear Recurrent Neural Nets Over Sequence Length" (2018).
"""

from abc import abstractmethod

import torch
from torch import Tensor

from netwright.layers.recurrence.counted_steps import last_counted, zero_beyond
from netwright.layers.recurrence.recurrence import Recurrence
from netwright.layers.recurrence.scan import scan


class LinearRecurrence(Recurrence):
    """`coefficients` says how the state moves on, `read_out` what is seen of it.

    Args:
        input_size: D.
        output_size: H.
        state_size: N.
    """

    def __init__(self, input_size: int, output_size: int, state_size: int) -> None:
        super().__init__(input_size, output_size)
        self.state_size = state_size

    @abstractmethod
    def coefficients(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """The pair (a, b): (..., D) -> (..., N) each; an a that is always the same is (N,)."""

    def read_out(self, states: Tensor, inputs: Tensor) -> Tensor:
        """(..., N) and (..., D) -> (..., H); unless told, the output is the state."""
        return states

    def start(self, batch: int) -> Tensor:
        """Zeros (B, N)."""
        return next(self.parameters()).new_zeros(batch, self.state_size)

    def forward(
        self, inputs: Tensor, state: Tensor | None = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """All steps by one scan: (B, T, D) -> (B, T, H), and the last state that counts (B, N)."""
        state = self.start(inputs.shape[0]) if state is None else state
        if lengths is not None:
            inputs = zero_beyond(inputs, lengths)
        states = scan(*self.coefficients(inputs), state)
        outputs = self.read_out(states, inputs)
        if lengths is None:
            return outputs, states[:, -1]
        return zero_beyond(outputs, lengths), last_counted(states, lengths, state)

    def step(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """(B, D) and a state (B, N) -> (B, H) and the next state."""
        a, b = self.coefficients(inputs)
        state = a * state + b
        return self.read_out(state, inputs), state


def at_least_single(tensor: Tensor) -> Tensor:
    """Half precision becomes float32: it has no number between 0.996 and 1 to forget slowly by."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))
