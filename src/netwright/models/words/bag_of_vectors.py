r"""The bag of vectors: a text is the mean of its words, whatever their order.

Shapes: B batch, T words, D features of a word, K outputs.
Source: Joulin et al., "Bag of Tricks for Efficient Text Classification" (2016); Iyyer et al., "Deep
Unordered Composition Rivals Syntactic Methods" (2015) for layers on the mean.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.data.spec import DataSpec
from netwright.layers.recurrence.sequence_pooling import pool_steps
from netwright.models.first_vectors import FirstVectorsConfig
from netwright.models.model import Functions
from netwright.models.words.text_model import TextModel


@dataclass(frozen=True, kw_only=True)
class BagOfVectorsConfig(FirstVectorsConfig):
    """Settings of the bag of vectors."""

    embedding: Annotated[Size, Doc("features of a word vector")] = 100
    hidden: Annotated[tuple[Size, ...], Doc("hidden units per layer on the mean")] = ()
    dropout: Annotated[Fraction, Doc("dropout on the mean and on hidden layers")] = 0.3


class BagOfVectors(TextModel):
    """A linear classifier, or a small network, of the mean of word vectors."""

    settings: ClassVar[type[Config]] = BagOfVectorsConfig
    card: ClassVar[Card] = Card(
        sentence="Classifies a text by the mean of its words' vectors, whatever their order.",
        formula=r"y = W \, \frac{1}{T} \sum_{t=1}^{T} E_{w_t} + b",
        symbols={
            "E": "vectors of the words, (V, D)",
            "w_t": "word t of the text",
            "W, b": "output layer, (K, D) and (K)",
        },
        source="Joulin et al. (2016), arXiv:1607.01759",
    )

    def __init__(self, config: BagOfVectorsConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        widths = [self.width, *config.hidden]
        layers: list[nn.Module] = []
        for below, above in pairwise(widths):
            layers += [nn.Dropout(config.dropout), nn.Linear(below, above), nn.ReLU()]
        self.body = nn.Sequential(*layers, nn.Dropout(config.dropout))
        self.head = nn.Linear(widths[-1], spec.num_outputs)

    def features(self, inputs: Tensor) -> Tensor:
        """(B, T) -> the mean of the words' vectors (B, D)."""
        return pool_steps(self.embed(inputs), "mean", self.lengths(inputs))

    code: ClassVar[Functions] = (features, pool_steps)

    def forward(self, inputs: Tensor) -> Tensor:
        """Words (B, T) -> (B, K)."""
        answers: Tensor = self.head(self.body(self.features(inputs)))
        return answers
