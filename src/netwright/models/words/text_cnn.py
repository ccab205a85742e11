r"""The text CNN: kernels of several widths over the words of a text, and the best match of each.

Shapes: B batch, T words, D features of a word, M maps of a width, H maps in all, K outputs.
Source: Kim, "Convolutional Neural Networks for Sentence Classification" (2014).
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from annotated_types import MinLen
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Positive, Size
from netwright.data.spec import DataSpec
from netwright.layers.recurrence.sequence_pooling import pool_steps
from netwright.models.first_vectors import FirstVectorsConfig
from netwright.models.model import Functions
from netwright.models.words.text_model import TextModel


@dataclass(frozen=True, kw_only=True)
class TextCNNConfig(FirstVectorsConfig):
    """Settings of the text CNN; the defaults are those of the paper."""

    embedding: Annotated[Size, Doc("features of a word vector")] = 300
    kernels: Annotated[tuple[Size, ...], MinLen(1), Doc("kernel widths, in words")] = (3, 4, 5)
    maps: Annotated[Size, Doc("feature maps per kernel width")] = 100
    dropout: Annotated[Fraction, Doc("dropout before the output layer")] = 0.5
    max_norm: Annotated[Positive, Doc("largest L2 norm of the weights of one output")] = 3.0


class TextCNN(TextModel):
    """Each map looks for its few words at every place, and tells how well they matched at best."""

    settings: ClassVar[type[Config]] = TextCNNConfig
    card: ClassVar[Card] = Card(
        sentence="Slides kernels of several widths over the words of a text and keeps the largest"
        " response of each.",
        formula=r"c_t = \mathrm{relu}(w \cdot x_{t:t+k-1} + b), \quad \hat c = \max_t c_t, \quad"
        r" y = W (\hat c \odot m) + b",
        symbols={
            "x_t": "vector of word t, (D)",
            "w": "a kernel, (k, D)",
            r"\hat c": "largest responses of all maps, (H)",
            "m": "dropout's mask; rows of W have at most norm 3",
        },
        source="Kim (2014), EMNLP, 1746-1751",
    )

    def __init__(self, config: TextCNNConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.max_norm = config.max_norm
        # As many zeros on both sides as let a kernel see the first and the last word alone.
        self.convolutions = nn.ModuleList(
            nn.Conv1d(self.width, config.maps, width, padding=width - 1) for width in config.kernels
        )
        self.dropout = nn.Dropout(config.dropout)
        self.head = nn.Linear(config.maps * len(config.kernels), spec.num_outputs)

    def features(self, inputs: Tensor) -> Tensor:
        """(B, T) -> the largest response of each map (B, H)."""
        vectors, lengths = self.embed(inputs).transpose(1, 2), self.lengths(inputs)  # (B, D, T)
        largest = []
        for convolution in self.convolutions:
            responses = F.relu(convolution(vectors)).transpose(1, 2)  # (B, T + k - 1, M)
            reach = responses.shape[1] - inputs.shape[1]
            largest.append(pool_steps(responses, "max", lengths + reach))
        return torch.cat(largest, dim=1)

    code: ClassVar[Functions] = (features, pool_steps)

    def forward(self, inputs: Tensor) -> Tensor:
        """Words (B, T) -> (B, K)."""
        weight = torch.renorm(self.head.weight, 2, 0, self.max_norm)
        return F.linear(self.dropout(self.features(inputs)), weight, self.head.bias)
