"""Long short-term memory: a cell that keeps what it holds until its gates say otherwise.

Shapes: T steps, D inputs, H units.
Source: Hochreiter and Schmidhuber (1997); Gers, Schmidhuber and Cummins (2000), who added the
forget gate.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import LSTM as LSTM_CELL
from netwright.layers.recurrence.recurrent_cells import LSTM_CELL_GATE, Cell, lstm_step
from netwright.layers.recurrence.recurrent_initializers import start_remembering
from netwright.models.model import Functions
from netwright.models.sequence.recurrent_model import RecurrentConfig, RecurrentModel


@dataclass(frozen=True, kw_only=True)
class LSTMConfig(RecurrentConfig):
    """Settings of long short-term memory."""

    output_gate: Annotated[
        Literal["input", "cell"],
        Doc("the output gate looks at the input, or at the new cell instead (no fused kernel)"),
    ] = "input"


class LSTM(RecurrentModel):
    """c_t = f c_{t-1} + i g, h_t = o tanh(c_t); forget gates start with a bias of 1."""

    settings: ClassVar[type[Config]] = LSTMConfig
    code: ClassVar[Functions] = (lstm_step,)
    card: ClassVar[Card] = Card(
        sentence="A recurrent network with a cell that three gates let forget, take in and show.",
        formula=r"i, f, o = \sigma(W x_t + U h_{t-1} + b), \quad "
        r"g = \tanh(W_g x_t + U_g h_{t-1} + b_g), \quad "
        r"c_t = f \odot c_{t-1} + i \odot g, \quad h_t = o \odot \tanh(c_t)",
        symbols={
            "x_t": "input of step t, (D)",
            "i, f, o": "input, forget and output gate, (H), each with weights of its own",
            "g": "candidate: what could be taken in, (H)",
            "c_t": "cell, (H)",
            "h_t": "output of step t, (H)",
            "W, U, b": "weights and biases, (H, D), (H, H) and (H); b_f starts at 1",
        },
        source="Hochreiter and Schmidhuber (1997), Neural Computation 9, 1735-1780; Gers, "
        "Schmidhuber and Cummins (2000), Neural Computation 12, 2451-2471",
        misprint="The output gate looks at [h_{t-1}, x_t]; printed with [h_{t-1}, c_t] it is a "
        "variant, here output_gate = cell. The sigmoid beside the candidate is the input gate.",
    )

    def cell(self, config: LSTMConfig) -> Cell:
        """The usual cell, or the one whose output gate looks at the cell."""
        return LSTM_CELL if config.output_gate == "input" else LSTM_CELL_GATE

    def make_backbone(self, config: LSTMConfig, input_size: int) -> RecurrentStack:
        """Layers of cells that remember at first."""
        stack = super().make_backbone(config, input_size)
        start_remembering(stack)
        return stack
