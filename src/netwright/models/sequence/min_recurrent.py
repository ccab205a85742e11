"""minGRU and minLSTM as models: gates that look at the input alone, trained by one scan a layer.

Shapes: B batch, T steps, H units.
Source: Feng et al., "Were RNNs All We Needed?" (2024).
"""

from dataclasses import dataclass
from typing import ClassVar

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.layers.recurrence.minimal_recurrence import MinimalGRU, MinimalLSTM
from netwright.models.model import Functions
from netwright.models.sequence.linear_recurrent_model import (
    SCAN,
    LinearRecurrentConfig,
    LinearRecurrentModel,
)

_SOURCE = 'Feng et al. (2024), "Were RNNs All We Needed?", arXiv 2410.01201'


@dataclass(frozen=True, kw_only=True)
class MinGRUConfig(LinearRecurrentConfig):
    """Settings of minGRU."""


class MinGRU(LinearRecurrentModel):
    """Residual blocks around a GRU without a reset gate, whose gate does not see the state."""

    settings: ClassVar[type[Config]] = MinGRUConfig
    code: ClassVar[Functions] = (MinimalGRU.coefficients, *SCAN)
    card: ClassVar[Card] = Card(
        sentence="A GRU whose gate looks at the input alone, so that all steps are trained at once "
        "by a scan.",
        formula=r"h_t = (1 - z_t) \odot h_{t-1} + z_t \odot (V x_t + b_v), "
        r"\quad z_t = \sigma(G x_t + b_z)",
        symbols={
            "x_t": "input of the block at step t, (H)",
            "h_t": "state, (H)",
            "z_t": "share of the state that is new, (H)",
            "G, V": "weights, (H, H) each",
            "b_z, b_v": "biases, (H) each; b_z is drawn so that units begin with memories of 1 to "
            "1000 steps",
        },
        source=_SOURCE,
        misprint="It is often called the LRU. The linear recurrent unit (Orvieto et al., 2023) "
        "is another one: complex, and with a decay that no input changes.",
    )

    def recurrence(self, config: MinGRUConfig) -> MinimalGRU:
        """As many units as features."""
        return MinimalGRU(config.hidden, config.hidden)


@dataclass(frozen=True, kw_only=True)
class MinLSTMConfig(LinearRecurrentConfig):
    """Settings of minLSTM."""


class MinLSTM(LinearRecurrentModel):
    """Residual blocks around an LSTM without a cell, whose gates do not see the state."""

    settings: ClassVar[type[Config]] = MinLSTMConfig
    code: ClassVar[Functions] = (MinimalLSTM.coefficients, *SCAN)
    card: ClassVar[Card] = Card(
        sentence="An LSTM whose two gates look at the input alone and add up to 1, so that all "
        "steps are trained at once by a scan.",
        formula=r"h_t = \frac{f_t}{f_t + i_t} \odot h_{t-1} + \frac{i_t}{f_t + i_t} "
        r"\odot (V x_t + b_v), \quad f_t = \sigma(F x_t + b_f), \quad i_t = \sigma(I x_t + b_i)",
        symbols={
            "x_t": "input of the block at step t, (H)",
            "h_t": "state, (H)",
            "f_t, i_t": "gates to forget and to let in, (H) each",
            "F, I, V": "weights, (H, H) each",
            "b_f, b_i, b_v": "biases, (H) each; b_f = -b_i is drawn so that units begin with "
            "memories of 1 to 1000 steps",
        },
        source=_SOURCE,
    )

    def recurrence(self, config: MinLSTMConfig) -> MinimalLSTM:
        """As many units as features."""
        return MinimalLSTM(config.hidden, config.hidden)
