r"""The FT-Transformer: the columns of a row are tokens, which read from each other.

    x = [c, t_1, ..., t_G],    x = block_l(x),    f = W \mathrm{ReLU}(\mathrm{LN}(x)_c)

A class token c is read out in the end. Columns have no order, so that there are no positions: each
has a token of its own.

Shapes: B batch, F features, G columns, T = G + 1 with the class token, D width, H heads, C outputs.
Source: Gorishniy et al., "Revisiting Deep Learning Models for Tabular Data" (2021), section 3.3;
there the feed-forward networks are gated (ReGLU), here they have a plain ReLU.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self, cast

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.self_attention import check_heads
from netwright.layers.attention.transformer_block import TransformerBlock
from netwright.layers.features.feature_tokens import FeatureTokens
from netwright.models.model import Functions, Model


@dataclass(frozen=True, kw_only=True)
class FTTransformerConfig(Config):
    """Settings of the FT-Transformer."""

    layers: Annotated[Size, Doc("transformer blocks")] = 3
    heads: Annotated[Size, Doc("attention heads; must divide the width")] = 8
    width: Annotated[Size, Doc("features per column")] = 192
    hidden: Annotated[Size, Doc("units of the feed-forward networks")] = 256
    dropout: Annotated[Fraction, Doc("dropout on attention and residual branches")] = 0.1

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        check_heads(self.width, self.heads, self.heads)


class FTTransformer(Model):
    """A token a column, transformer blocks, and the class token read out."""

    settings: ClassVar[type[Config]] = FTTransformerConfig
    code: ClassVar[Functions] = (FeatureTokens.forward, TransformerBlock.forward)
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    embeds: ClassVar[bool] = True
    card: ClassVar[Card] = Card(
        sentence="A transformer for tables: each column is a token, and reads from the others.",
        formula=r"t_g = b_g + \sum_{j \in g} x_j w_j, \quad x_0 = [c, t_1, \ldots, t_G], \quad"
        r" x_{l+1} = \mathrm{block}_l(x_l), \quad f = W\, \mathrm{ReLU}(\mathrm{LN}(x_L)_c)",
        symbols={
            "x_j": "feature j of an encoded row: a number, or 0 or 1 for a category",
            "g": "the features of one column: one for a number, else one for each category",
            "w_j, b_g": "vectors of features and columns, learned, (D)",
            "c": "the class token, learned, (D)",
            r"\mathrm{block}_l": "attention of all to all, then a feed-forward network; each is "
            "added",
            "f": "logits or reals, (C)",
        },
        source="Gorishniy, Rubachev, Khrulkov and Babenko (2021), arXiv 2106.11959",
    )

    def __init__(self, config: FTTransformerConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.tokens = FeatureTokens(spec.groups_of_features, config.width, spec.feature_levels)
        self.class_token = nn.Parameter(torch.empty(1, 1, config.width))
        nn.init.uniform_(self.class_token, -(config.width**-0.5), config.width**-0.5)
        self.h = nn.ModuleList(_block(config) for _ in range(config.layers))
        self.ln_f = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, spec.num_outputs)

    @classmethod
    def build(cls, config: FTTransformerConfig, spec: DataSpec) -> Self:
        """The model for these columns."""
        return cls(config, spec)

    @property
    def blocks(self) -> Iterable[TransformerBlock]:
        """The transformer blocks, in order."""
        return cast(Iterable[TransformerBlock], self.h)

    def forward(self, x: Tensor) -> Tensor:
        """(B, F) -> (B, C)."""
        tokens = self.tokens(x)
        tokens = torch.cat((self.class_token.expand(x.shape[0], -1, -1), tokens), dim=1)
        for block in self.blocks:
            tokens = block(tokens)
        outputs: Tensor = self.head(self.ln_f(tokens[:, 0]).relu())
        return outputs


def _block(config: FTTransformerConfig) -> TransformerBlock:
    return TransformerBlock(
        MultiHeadAttention(config.width, config.heads, dropout=config.dropout),
        FeedForward(config.width, config.hidden, nn.ReLU()),
        dropout=config.dropout,
    )
