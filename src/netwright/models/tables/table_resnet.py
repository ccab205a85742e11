r"""A residual network for tables: blocks that add to a vector of constant width.

    x_0 = W_0 x,    x_{l+1} = x_l + W''_l ReLU(W'_l BN(x_l)),    f = W ReLU(BN(x_L))

Shapes: B batch, D features, C outputs.
Source: Gorishniy et al., "Revisiting Deep Learning Models for Tabular Data" (2021), section 3.2.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.features.category_embeddings import CategoryEmbeddings
from netwright.models.model import Model


@dataclass(frozen=True, kw_only=True)
class TableResNetConfig(Config):
    """Settings of the residual network for tables."""

    layers: Annotated[Size, Doc("residual blocks")] = 2
    width: Annotated[Size, Doc("features between the blocks")] = 192
    hidden: Annotated[Size, Doc("units inside a block")] = 384
    dropout: Annotated[Fraction, Doc("fraction of units dropped inside a block")] = 0.15


class TableResNet(Model):
    """One affine map, residual blocks with batch norm first, then the outputs."""

    settings: ClassVar[type[Config]] = TableResNetConfig
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    embeds: ClassVar[bool] = True
    card: ClassVar[Card] = Card(
        sentence="A residual network for tables: each block adds to a vector of constant width.",
        formula=r"x_0 = W_0 x, \quad x_{l+1} = x_l + W''_l\, \mathrm{ReLU}(W'_l\,"
        r" \mathrm{BN}(x_l)), \quad f = W\, \mathrm{ReLU}(\mathrm{BN}(x_L))",
        symbols={
            "x": "one encoded row, (D)",
            "x_l": "what comes into block l, (width)",
            "W'_l, W''_l": "weights of block l, (hidden, width) and (width, hidden); each has a "
            "bias",
            r"\mathrm{BN}": "batch normalisation",
            "f": "logits or reals, (C)",
        },
        source="Gorishniy, Rubachev, Khrulkov and Babenko (2021), arXiv 2106.11959",
    )

    def __init__(self, config: TableResNetConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        levels = spec.feature_levels
        self.embeddings = CategoryEmbeddings(levels) if levels else None
        width = spec.num_features if self.embeddings is None else self.embeddings.width
        self.first = nn.Linear(width, config.width)
        self.blocks = nn.ModuleList(_block(config) for _ in range(config.layers))
        self.norm = nn.BatchNorm1d(config.width)
        self.head = nn.Linear(config.width, spec.num_outputs)

    @classmethod
    def build(cls, config: TableResNetConfig, spec: DataSpec) -> Self:
        """The model for this many features and outputs."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, D) -> (B, C)."""
        if self.embeddings is not None:
            x = self.embeddings(x)
        x = self.first(x)
        for block in self.blocks:
            x = x + block(x)
        outputs: Tensor = self.head(self.norm(x).relu())
        return outputs


def _block(config: TableResNetConfig) -> nn.Sequential:
    return nn.Sequential(
        nn.BatchNorm1d(config.width),
        nn.Linear(config.width, config.hidden),
        nn.ReLU(),
        nn.Dropout(config.dropout),
        nn.Linear(config.hidden, config.width),
    )
