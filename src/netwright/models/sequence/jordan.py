"""The Jordan network: a recurrent network that remembers its own answers only.

Shapes: T steps, D inputs, H units, K outputs.
Source: Jordan, "Serial order: a parallel distributed processing approach" (1986).
"""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.layers.recurrence.jordan import JordanLayer
from netwright.layers.recurrence.recurrent_cells import jordan_step
from netwright.models.model import Functions
from netwright.models.sequence.sequence_model import SequenceConfig, SequenceModel


@dataclass(frozen=True, kw_only=True)
class JordanConfig(SequenceConfig):
    """Settings of the Jordan network."""


class Jordan(SequenceModel):
    """y_t = V tanh(U x_t + W y_{t-1} + b) + c."""

    settings: ClassVar[type[Config]] = JordanConfig
    code: ClassVar[Functions] = (jordan_step,)
    card: ClassVar[Card] = Card(
        sentence="A recurrent network to which its last answer comes back, not its hidden units.",
        formula=r"h_t = \tanh(U x_t + W y_{t-1} + b), \quad y_t = V h_t + c, \quad y_0 = 0",
        symbols={
            "x_t": "input of step t, (D)",
            "h_t": "hidden units, (H)",
            "y_t": "answer: logits or reals, (K)",
            "U, W, V": "weights, (H, D), (H, K) and (K, H), the same at every step",
            "b, c": "biases, (H) and (K)",
        },
        source="Jordan (1986), Proceedings of the Cognitive Science Society 8, 531-546",
        misprint="It is weaker than Elman's network, not an equal wiring of it: what the answers do"
        " not show is forgotten.",
    )

    def make_backbone(self, config: JordanConfig, input_size: int) -> JordanLayer:
        """A layer whose outputs are the answers."""
        return JordanLayer(input_size, config.hidden, self.spec.num_outputs)

    def make_head(self) -> nn.Module:
        """Nothing is left to do."""
        return nn.Identity()

    def answer(self, outputs: Tensor) -> Tensor:
        """The outputs as they are: answers are not dropped."""
        return outputs
