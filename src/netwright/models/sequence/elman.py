"""The Elman network: hidden units that see their own last values.

Shapes: T steps, D inputs, H units.
Source: Elman, "Finding structure in time" (1990).
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import ELMAN, ELMAN_RELU, Cell, elman_step
from netwright.layers.recurrence.recurrent_initializers import start_as_identity
from netwright.models.model import Functions
from netwright.models.sequence.recurrent_model import RecurrentConfig, RecurrentModel


@dataclass(frozen=True, kw_only=True)
class ElmanConfig(RecurrentConfig):
    """Settings of the Elman network."""

    nonlinearity: Annotated[Literal["tanh", "relu"], Doc("activation of the hidden units")] = "tanh"
    initializer: Annotated[
        Literal["torch", "identity"],
        Doc("initialisation of the recurrent weights; identity with relu is the IRNN"),
    ] = "torch"


class Elman(RecurrentModel):
    """h_t = phi(W x_t + U h_{t-1} + b)."""

    settings: ClassVar[type[Config]] = ElmanConfig
    code: ClassVar[Functions] = (elman_step,)
    card: ClassVar[Card] = Card(
        sentence="The simple recurrent network: hidden units that see the input and their own last "
        "values.",
        formula=r"h_t = \phi(W x_t + U h_{t-1} + b), \quad y_t = V h_t + c, \quad h_0 = 0",
        symbols={
            "x_t": "input of step t, (D)",
            "h_t": "hidden units, (H)",
            "y_t": "answer: logits or reals, (K)",
            "W, U, V": "weights, (H, D), (H, H) and (K, H), the same at every step",
            "b, c": "biases, (H) and (K); torch stores b as a sum of two",
            r"\phi": "tanh or ReLU",
        },
        source="Elman (1990), Cognitive Science 14, 179-211",
        misprint="Its weights are shared by all steps and trained, not frozen, and it takes "
        "sequences of any length, though both are often said otherwise.",
    )

    def cell(self, config: ElmanConfig) -> Cell:
        """Units of this nonlinearity."""
        return ELMAN if config.nonlinearity == "tanh" else ELMAN_RELU

    def make_backbone(self, config: ElmanConfig, input_size: int) -> RecurrentStack:
        """Layers of units, at their first values."""
        stack = super().make_backbone(config, input_size)
        if config.initializer == "identity":
            start_as_identity(stack)
        return stack
