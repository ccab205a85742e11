r"""An MLP on waves of its numbers: each number becomes a vector before the hidden layers.

Categories go into the hidden layers as they are: a first layer on 0-or-1 features is an embedding.
Where a category is one feature, its place, its vector goes there.

Shapes: B batch, F features, D width of a number's vector, C outputs.
Source: Gorishniy, Rubachev and Babenko, "On Embeddings for Numerical Features in Tabular Deep
Learning" (2022), section 3.3: periodic activations, a linear layer and ReLU (PLR).
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Self

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.features.category_embeddings import CategoryEmbeddings, split_features
from netwright.layers.features.periodic_embedding import PeriodicEmbedding
from netwright.models.mlp import MLP, MLPConfig
from netwright.models.model import Functions, Model


@dataclass(frozen=True, kw_only=True)
class MLPPLRConfig(Config):
    """Settings of the MLP with numeric embeddings."""

    hidden: Annotated[tuple[Size, ...], Doc("widths of the hidden layers")] = (256, 128)
    dropout: Annotated[Fraction, Doc("fraction of hidden units dropped in training")] = 0.2
    frequencies: Annotated[Size, Doc("sines and cosines per number")] = 16
    width: Annotated[Size, Doc("features of a number's vector")] = 8
    spread: Annotated[
        float,
        Interval(gt=0, le=1000),
        Doc("standard deviation of the frequencies at the start; more is finer"),
    ] = 0.1


class MLPPLR(Model):
    """Numbers as learned waves, categories as they are, then an MLP."""

    settings: ClassVar[type[Config]] = MLPPLRConfig
    code: ClassVar[Functions] = (PeriodicEmbedding.forward,)
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    embeds: ClassVar[bool] = True
    card: ClassVar[Card] = Card(
        sentence="An MLP in which each number is first a vector of learned waves.",
        formula=r"v_j = [\sin(2\pi c_j x_j), \cos(2\pi c_j x_j)], \quad"
        r" e_j = \mathrm{ReLU}(W_j v_j + b_j), \quad f = \mathrm{MLP}([e_1, \ldots, e_F])",
        symbols={
            "x_j": "number j of an encoded row",
            "c_j": "its frequencies, learned, (K)",
            "W_j, b_j": "its own small layer, (D, 2 K) and (D)",
            "e_j": "its vector, (D)",
            "f": "logits or reals, (C)",
        },
        source="Gorishniy, Rubachev and Babenko (2022), arXiv 2203.05556",
    )
    numbers: Tensor
    others: Tensor

    def __init__(self, config: MLPPLRConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        levels = spec.feature_levels
        self.categories = CategoryEmbeddings(levels) if levels else None
        width = spec.num_features if self.categories is None else self.categories.width
        groups = list(spec.groups_of_features)
        if levels:
            groups = [groups[feature] for feature in split_features(levels)[0]]
        sizes = Counter(groups)
        is_number = [sizes[group] == 1 for group in groups] + [False] * (width - len(groups))
        numbers = [place for place in range(width) if is_number[place]]
        others = [place for place in range(width) if not is_number[place]]
        self.register_buffer("numbers", torch.tensor(numbers, dtype=torch.int64), persistent=False)
        self.register_buffer("others", torch.tensor(others, dtype=torch.int64), persistent=False)
        self.embedding = (
            PeriodicEmbedding(len(numbers), config.frequencies, config.width, spread=config.spread)
            if numbers
            else None
        )
        width = len(numbers) * config.width + len(others)
        settings = MLPConfig(hidden=config.hidden, dropout=config.dropout)
        self.mlp = MLP(
            settings, replace(spec, input_shape=(width,), feature_groups=(), feature_levels=())
        )

    @classmethod
    def build(cls, config: MLPPLRConfig, spec: DataSpec) -> Self:
        """The model for these columns."""
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        """(B, F) -> (B, C)."""
        if self.categories is not None:
            x = self.categories(x)
        parts = [x.index_select(1, self.others)]
        if self.embedding is not None:
            parts.append(self.embedding(x.index_select(1, self.numbers)).flatten(1))
        outputs: Tensor = self.mlp(torch.cat(parts, dim=1))
        return outputs
