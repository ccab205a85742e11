"""minGRU and minLSTM: gated units whose gates look at the input alone, so that a scan is enough.

    minGRU     h_t = (1 - z) h_{t-1} + z V x,                    z = sigmoid(G x)
    minLSTM    h_t = f / (f + i) h_{t-1} + i / (f + i) V x,      f = sigmoid(F x), i = sigmoid(I x)

The new state is a weighted mean of the old one and of the candidate V x: it never grows beyond the
largest candidate. A unit that forgets the share 1 / u of its state a step remembers about u steps;
the biases of the gates are drawn so that units begin with memories of all lengths up to `LONGEST`.

Shapes: B batch, T steps, D inputs, H units.
Source: Feng et al., "Were RNNs All We Needed?" (2024), section 3; for the biases Tallec and
Ollivier, "Can Recurrent Neural Networks Warp Time?" (2018), section 3.
"""

import torch
from torch import Tensor, nn

from netwright.layers.recurrence.linear_recurrence import LinearRecurrence, at_least_single

LONGEST = 1000.0  # steps that the most patient units remember at the start of training


def draw_memories(units: int) -> Tensor:
    """How many steps each unit shall remember: from 1 to `LONGEST`, evenly in the logarithm."""
    return LONGEST ** torch.rand(units)


class MinimalGRU(LinearRecurrence):
    """One gate, two matrices.

    Args:
        input_size: D.
        hidden: H.
    """

    def __init__(self, input_size: int, hidden: int) -> None:
        super().__init__(input_size, output_size=hidden, state_size=hidden)
        self.update_gate = nn.Linear(input_size, hidden)
        self.candidate = nn.Linear(input_size, hidden)
        with torch.no_grad():
            self.update_gate.bias.copy_(-draw_memories(hidden).log())

    def coefficients(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """The pair 1 - z and z V x: (..., D) -> (..., H) each."""
        gate = at_least_single(self.update_gate(inputs)).sigmoid()
        return 1 - gate, gate * self.candidate(inputs)


class MinimalLSTM(LinearRecurrence):
    """A gate to forget and one to let in, made to add up to 1; three matrices.

    Args:
        input_size: D.
        hidden: H.
    """

    def __init__(self, input_size: int, hidden: int) -> None:
        super().__init__(input_size, output_size=hidden, state_size=hidden)
        self.forget_gate = nn.Linear(input_size, hidden)
        self.input_gate = nn.Linear(input_size, hidden)
        self.candidate = nn.Linear(input_size, hidden)
        with torch.no_grad():
            self.forget_gate.bias.copy_(draw_memories(hidden).log())
            self.input_gate.bias.copy_(-self.forget_gate.bias)

    def coefficients(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """The pair f / (f + i) and i / (f + i) V x: (..., D) -> (..., H) each."""
        forget = at_least_single(self.forget_gate(inputs)).sigmoid()
        let_in = at_least_single(self.input_gate(inputs)).sigmoid()
        share = let_in / (forget + let_in)
        return 1 - share, share * self.candidate(inputs)
