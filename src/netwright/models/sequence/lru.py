"""The linear recurrent unit as a model: a diagonal complex recurrence of long memory, in blocks.

Shapes: B batch, T steps, H features, N = H complex channels.
Source: Orvieto et al., "Resurrecting Recurrent Neural Networks for Long Sequences" (2023).
"""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Interval

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction
from netwright.core.errors import ConfigError
from netwright.layers.recurrence.linear_recurrent_unit import LinearRecurrentUnit, eigenvalues
from netwright.models.model import Functions
from netwright.models.sequence.linear_recurrent_model import (
    SCAN,
    LinearRecurrentConfig,
    LinearRecurrentModel,
)

Phase = Annotated[float, Interval(gt=0, le=2 * math.pi)]


@dataclass(frozen=True, kw_only=True)
class LRUConfig(LinearRecurrentConfig):
    """Settings of the linear recurrent unit."""

    r_min: Annotated[Fraction, Doc("smallest initial eigenvalue magnitude")] = 0.9
    r_max: Annotated[Fraction, Doc("largest initial eigenvalue magnitude")] = 0.999
    max_phase: Annotated[Phase, Doc("largest initial eigenvalue phase")] = 2 * math.pi

    def __post_init__(self) -> None:
        """Check the fields, then the ring that they mean together."""
        super().__post_init__()
        if not self.r_min < self.r_max:
            raise ConfigError(f"r_max must be larger than r_min = {self.r_min}, got {self.r_max}")


class LRU(LinearRecurrentModel):
    """Residual blocks around the linear recurrent unit."""

    settings: ClassVar[type[Config]] = LRUConfig
    code: ClassVar[Functions] = (
        eigenvalues,
        LinearRecurrentUnit.coefficients,
        LinearRecurrentUnit.read_out,
        *SCAN,
    )
    card: ClassVar[Card] = Card(
        sentence="A linear recurrence with complex eigenvalues inside the unit circle, read out by "
        "a gate: it remembers for thousands of steps and is trained by a scan.",
        formula=r"h_t = \lambda \odot h_{t-1} + \gamma \odot B x_t, \quad "
        r"y_t = \mathrm{Re}(C h_t) + d \odot x_t, \quad "
        r"\lambda = \exp(-e^{\nu} + i e^{\theta}), \quad \gamma = \sqrt{1 - |\lambda|^2}",
        symbols={
            "x_t, y_t": "input and output of the recurrence at step t, (H)",
            "h_t": "state, complex, (N)",
            r"\lambda": "eigenvalues, complex, (N); learned through nu and theta",
            r"\gamma": "scale of each channel, (N); learned, this is its value at the start",
            "B, C": "weights, complex, (N, H) and (H, N)",
            "d": "weights of the input, (H)",
        },
        source='Orvieto et al. (2023), "Resurrecting Recurrent Neural Networks for Long '
        'Sequences", arXiv 2303.06349',
        misprint="It is a linear recurrent unit, and its eigenvalues are the same at all steps; "
        "with a gate that the input moves it is minGRU.",
    )

    def recurrence(self, config: LRUConfig) -> LinearRecurrentUnit:
        """As many complex channels as features."""
        return LinearRecurrentUnit(
            config.hidden,
            config.hidden,
            r_min=config.r_min,
            r_max=config.r_max,
            max_phase=config.max_phase,
        )
