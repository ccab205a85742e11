r"""Scores of attention: how well a key answers a query, before the softmax.

    dot          q . k                              cosine      q . k / (|q| |k|)
    scaled dot   q . k / sqrt(D)                    bilinear    q^T M k
    additive     w^T tanh(W_q q + W_k k)            kernel      log a(|q - k| / width)

The functions have nothing to learn; the modules are found by name in `SCORES`.

Shapes: T queries of Q features, S keys of K features, D where both have as many, H hidden; any
batch before them.
Source: Vaswani et al. (2017), section 3.2.1; Bahdanau, Cho and Bengio (2014), appendix A.1.2;
Luong, Pham and Manning (2015), section 3.1; Graves, Wayne and Danihelka (2014), section 3.3.1.
"""

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.card import Card
from netwright.core.catalog import Catalog
from netwright.core.errors import ConfigError
from netwright.layers.attention.kernels import KERNELS


def dot_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """The dot product of each pair, (..., T, S): one product of matrices for each of the batch."""
    return queries @ keys.mT


def scaled_dot_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """The dot product over sqrt(D): of variance 1 where the features of q and k have that."""
    return dot_scores(queries, keys) / math.sqrt(queries.shape[-1])


def cosine_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """The cosine of the angle between q and k; 0 where one of them is 0."""
    return dot_scores(functional.normalize(queries, dim=-1), functional.normalize(keys, dim=-1))


def kernel_scores(
    queries: Tensor, keys: Tensor, kernel: str = "gaussian", width: float = 1.0
) -> Tensor:
    """The logarithm of a kernel of `KERNELS`: its softmax is the weights of kernel regression."""
    distances = torch.cdist(queries, keys, compute_mode="donot_use_mm_for_euclid_dist")
    return KERNELS.load(kernel).log_weight(distances / width)


class Score(nn.Module, ABC):
    """The abstract kind: queries (..., T, Q) and keys (..., S, K) -> scores (..., T, S)."""

    card: ClassVar[Card]

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__()
        self.query_size, self.key_size = query_size, key_size

    @abstractmethod
    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """One score a pair."""


_PAIR = {"q": "a query, (Q)", "k": "a key, (K)"}


class DotScore(Score):
    """Of queries and keys of one size; nothing is learned."""

    card: ClassVar[Card] = Card(
        sentence="The score of a key is its dot product with the query.",
        formula=r"a(q, k) = q^\top k",
        symbols=_PAIR,
        source="Luong, Pham and Manning (2015), arXiv 1508.04025",
        misprint="Without the scale the softmax saturates: unscaled scores are too large, not too"
        " small.",
    )

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__(query_size, key_size)
        if query_size != key_size:
            raise ConfigError(
                "a score by the dot product needs queries and keys of one size, "
                f"got {query_size} and {key_size}"
            )

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(..., T, D) and (..., S, D) -> (..., T, S)."""
        return dot_scores(queries, keys)


class ScaledDotScore(DotScore):
    """The score of the transformer."""

    card: ClassVar[Card] = Card(
        sentence="The dot product over the root of its length, so that its spread does not grow.",
        formula=r"a(q, k) = \frac{q^\top k}{\sqrt{D}}",
        symbols={**_PAIR, "D": "features of both"},
        source="Vaswani et al. (2017), arXiv 1706.03762",
    )

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(..., T, D) and (..., S, D) -> (..., T, S)."""
        return scaled_dot_scores(queries, keys)


class CosineScore(DotScore):
    """The score of content-based addressing."""

    card: ClassVar[Card] = Card(
        sentence="The cosine of the angle between query and key: lengths do not count.",
        formula=r"a(q, k) = \frac{q^\top k}{\lVert q \rVert \lVert k \rVert}",
        symbols=_PAIR,
        source="Graves, Wayne and Danihelka (2014), arXiv 1410.5401",
    )

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(..., T, D) and (..., S, D) -> (..., T, S)."""
        return cosine_scores(queries, keys)


class AdditiveScore(Score):
    """One hidden layer on query and key, without biases.

    Args:
        query_size: Q.
        key_size: K.
        hidden: H; K where None.
    """

    card: ClassVar[Card] = Card(
        sentence="A network with one hidden layer scores query and key, which may differ in size.",
        formula=r"a(q, k) = w^\top \tanh(W_q q + W_k k)",
        symbols={**_PAIR, "W_q, W_k": "(H, Q) and (H, K)", "w": "(H)"},
        source="Bahdanau, Cho and Bengio (2014), arXiv 1409.0473",
    )

    def __init__(self, query_size: int, key_size: int, hidden: int | None = None) -> None:
        super().__init__(query_size, key_size)
        hidden = key_size if hidden is None else hidden
        self.query = nn.Linear(query_size, hidden, bias=False)
        self.key = nn.Linear(key_size, hidden, bias=False)
        self.out = nn.Linear(hidden, 1, bias=False)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(..., T, Q) and (..., S, K) -> (..., T, S)."""
        hidden = self.query(queries).unsqueeze(-2) + self.key(keys).unsqueeze(-3)  # (..., T, S, H)
        scores: Tensor = self.out(hidden.tanh()).squeeze(-1)
        return scores


class BilinearScore(Score):
    """A matrix between query and key."""

    card: ClassVar[Card] = Card(
        sentence="A learned matrix brings the key to the query's size, then the dot product.",
        formula=r"a(q, k) = q^\top M k",
        symbols={**_PAIR, "M": "(Q, K)"},
        source="Luong, Pham and Manning (2015), arXiv 1508.04025",
    )

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__(query_size, key_size)
        self.key = nn.Linear(key_size, query_size, bias=False)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(..., T, Q) and (..., S, K) -> (..., T, S)."""
        return dot_scores(queries, self.key(keys))


SCORES: Catalog[type[Score]] = Catalog(
    "score",
    {
        "dot": "netwright.layers.attention.attention_scores:DotScore",
        "scaled-dot": "netwright.layers.attention.attention_scores:ScaledDotScore",
        "cosine": "netwright.layers.attention.attention_scores:CosineScore",
        "additive": "netwright.layers.attention.attention_scores:AdditiveScore",
        "bilinear": "netwright.layers.attention.attention_scores:BilinearScore",
    },
)
