"""The gated recurrent unit: a state that is kept or replaced, unit by unit.

Shapes: T steps, D inputs, H units.
Source: Cho et al., "Learning phrase representations using RNN encoder-decoder for statistical
machine translation" (2014).
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.layers.recurrence.recurrent_cells import GRU as GRU_CELL
from netwright.layers.recurrence.recurrent_cells import GRU_RESET_FIRST, Cell, gru_step
from netwright.models.model import Functions
from netwright.models.sequence.recurrent_model import RecurrentConfig, RecurrentModel


@dataclass(frozen=True, kw_only=True)
class GRUConfig(RecurrentConfig):
    """Settings of the gated recurrent unit."""

    reset: Annotated[
        Literal["after", "before"],
        Doc("the reset gate acts after the matrix, as in torch, or before it, as first published"),
    ] = "after"


class GRU(RecurrentModel):
    """h_t = (1 - z) n + z h_{t-1}."""

    settings: ClassVar[type[Config]] = GRUConfig
    code: ClassVar[Functions] = (gru_step,)
    card: ClassVar[Card] = Card(
        sentence="A recurrent network that keeps or replaces its state unit by unit, by two gates.",
        formula=r"r, z = \sigma(W x_t + U h_{t-1} + b), \quad "
        r"n = \tanh(W_n x_t + b_n + r \odot (U_n h_{t-1} + b'_n)), \quad "
        r"h_t = (1 - z) \odot n + z \odot h_{t-1}",
        symbols={
            "x_t": "input of step t, (D)",
            "r, z": "reset and update gate, (H), each with weights of its own",
            "n": "candidate: the new state, (H)",
            "h_t": "state and output of step t, (H)",
            "W, U, b": "weights and biases, (H, D), (H, H) and (H)",
        },
        source="Cho et al. (2014), EMNLP, 1724-1734; the form of torch and cuDNN",
        misprint="As first published, z and 1 - z change places and the reset comes before the "
        "matrix: n = tanh(W x + U (r h)), here reset = before. What z mixes in is the candidate, "
        "not the reset gate.",
    )

    def cell(self, config: GRUConfig) -> Cell:
        """Torch's convention, or that of the paper."""
        return GRU_CELL if config.reset == "after" else GRU_RESET_FIRST
