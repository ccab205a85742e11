r"""The time-delay network: one small network that is applied at every time, layer after layer.

Shapes: B batch, T steps, D features of a step, H units of a layer, K outputs.
Source: Waibel et al., "Phoneme Recognition Using Time-Delay Neural Networks" (1989).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from torch import Tensor, nn
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.data.spec import DataSpec, InputKind
from netwright.layers.recurrence.sequence_pooling import pool_steps
from netwright.models.first_vectors import FirstVectorsConfig
from netwright.models.model import Functions
from netwright.models.words.text_model import TextModel


@dataclass(frozen=True, kw_only=True)
class TimeDelayConfig(FirstVectorsConfig):
    """Settings of the time-delay network."""

    embedding: Annotated[Size, Doc("features of a word vector; a series is used as it is")] = 64
    hidden: Annotated[Size, Doc("units per layer")] = 64
    layers: Annotated[Size, Doc("number of layers")] = 2
    kernel: Annotated[Size, Doc("steps that a unit sees of the layer below")] = 3
    pool: Annotated[
        Literal["mean", "max"], Doc("how the times are combined: the mean or the max")
    ] = "max"
    dropout: Annotated[Fraction, Doc("dropout before the output layer")] = 0.2


class TimeDelay(TextModel):
    """The same weights at every time: a pattern is found wherever it is, and moves its response."""

    settings: ClassVar[type[Config]] = TimeDelayConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"tokens", "series"})
    card: ClassVar[Card] = Card(
        sentence="Applies the same small network at every time step, so that a pattern is found"
        " wherever it occurs.",
        formula=r"h^{(l)}_t = \mathrm{relu}\left(\sum_{j=0}^{k-1} W^{(l)}_j h^{(l-1)}_{t-j}"
        r" + b^{(l)}\right), \quad y = V \max_t h^{(L)}_t + c",
        symbols={
            "h^{(0)}_t": "input at time t, (D)",
            "h^{(l)}_t": "layer l at time t, (H)",
            "k": "`kernel`: delays that a unit sees",
        },
        source="Waibel et al. (1989), IEEE Transactions on Acoustics, Speech and Signal Processing"
        " 37, 328-339",
    )

    def __init__(self, config: TimeDelayConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.pool, self.reach = config.pool, config.kernel - 1
        widths = [self.width, *[config.hidden] * config.layers]
        self.layers = nn.ModuleList(
            nn.Conv1d(below, above, config.kernel) for below, above in pairwise(widths)
        )
        self.dropout = nn.Dropout(config.dropout)
        self.head = nn.Linear(config.hidden, spec.num_outputs)

    def responses(self, inputs: Tensor) -> Tensor:
        """The last layer at every time (B, T, H): it sees no later step, and zeros before T = 0."""
        steps = self.embed(inputs).transpose(1, 2)  # (B, D, T)
        for layer in self.layers:
            steps = F.relu(layer(F.pad(steps, (self.reach, 0))))
        return steps.transpose(1, 2)

    def features(self, inputs: Tensor) -> Tensor:
        """(B, T) or (B, T, D) -> (B, H)."""
        return pool_steps(self.responses(inputs), self.pool, self.lengths(inputs))

    code: ClassVar[Functions] = (responses, pool_steps)

    def forward(self, inputs: Tensor) -> Tensor:
        """Words (B, T) or a series (B, T, D) -> (B, K)."""
        answers: Tensor = self.head(self.dropout(self.features(inputs)))
        return answers
