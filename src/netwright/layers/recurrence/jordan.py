"""The Jordan layer: what comes back is the output, and nothing else is remembered.

    h_t = tanh(U x_t + W y_{t-1} + b),   y_t = V h_t + c

Shapes: B batch, T steps, D inputs, H units, K outputs.
Source: Jordan, "Serial order: a parallel distributed processing approach" (1986).
"""

from functools import partial

from torch import Tensor, nn

from netwright.layers.recurrence.recurrence import Recurrence
from netwright.layers.recurrence.recurrent_cells import States, Weights, jordan_step
from netwright.layers.recurrence.unrolled import unroll


class JordanLayer(Recurrence):
    """Output-recurrent: its state is (y,), as wide as its answers.

    Args:
        input_size: D.
        hidden: H.
        output_size: K.
    """

    def __init__(self, input_size: int, hidden: int, output_size: int) -> None:
        super().__init__(input_size, output_size)
        self.inward = nn.Linear(input_size, hidden)
        self.back = nn.Linear(output_size, hidden, bias=False)
        self.outward = nn.Linear(hidden, output_size)

    def weights(self) -> Weights:
        """By the names that `jordan_step` knows."""
        return {
            "weight_ih": self.inward.weight,
            "bias_ih": self.inward.bias,
            "weight_hh": self.back.weight,
            "weight_ho": self.outward.weight,
            "bias_ho": self.outward.bias,
        }

    def start(self, batch: int) -> States:
        """No output yet: zeros (B, K)."""
        return (self.outward.weight.new_zeros(batch, self.output_size),)

    def forward(
        self, inputs: Tensor, state: States | None = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, States]:
        """All steps: (B, T, D) -> (B, T, K), and the state after the last; see `Recurrence`."""
        state = self.start(inputs.shape[0]) if state is None else state
        return unroll(partial(jordan_step, weights=self.weights()), inputs, state, lengths)

    def step(self, inputs: Tensor, state: States) -> tuple[Tensor, States]:
        """One step: (B, D) and a state -> (B, K) and the next state."""
        state = jordan_step(inputs, state, self.weights())
        return state[0], state
