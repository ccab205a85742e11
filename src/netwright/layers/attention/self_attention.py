r"""Self-attention: what its kinds share, the fused projection and the mix of the heads.

    Q, K, V = x W,    out = [head_1, ..., head_H] W_O

A kind says how a head reads: the softmax over all keys (`MultiHeadAttention`), over a window and
global tokens (`WindowAttention`), or sums of features (`LinearAttention`). All have the same
weights, by GPT-2's names: c_attn (the fused projection), c_proj (W_O).

Shapes: B batch, T positions, D width, H heads, G heads of keys and values, K = D / H.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.2; Ainslie et al., "GQA"
(2023), for the grouped heads.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from torch import Tensor, nn

from netwright.core.errors import ConfigError, ShapeError
from netwright.layers.attention.position_encoding import Rotary

Cache = TypeVar("Cache")  # what is kept of the positions so far


class SelfAttention(nn.Module, ABC, Generic[Cache]):
    """Every position reads from all others, or from those before it and itself.

    Args:
        width: D.
        heads: H; divides D.
        kv_heads: G; divides H. H where None.
        causal: nothing is read from later positions.
        dropout: share of the attention weights dropped while training.
        bias: whether the projections have biases.
        rotary: turns queries and keys by their positions; None: positions are told otherwise.
        scale: of the scores; 1 / sqrt(K) where None.
    """

    # Whether `score_bias` comes as one row of distances (H, 2 T - 1), or for each pair (H, T, T).
    bias_by_distance: ClassVar[bool] = False

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        kv_heads: int | None = None,
        causal: bool = False,
        dropout: float = 0.0,
        bias: bool = True,
        rotary: Rotary | None = None,
        scale: float | None = None,
    ) -> None:
        super().__init__()
        kv_heads = heads if kv_heads is None else kv_heads
        check_heads(width, heads, kv_heads)
        self.width, self.heads, self.kv_heads = width, heads, kv_heads
        self.head_size = width // heads
        self.causal, self.dropout, self.rotary = causal, dropout, rotary
        self.scale = self.head_size**-0.5 if scale is None else scale
        self.c_attn = nn.Linear(width, (heads + 2 * kv_heads) * self.head_size, bias=bias)
        self.c_proj = nn.Linear(width, width, bias=bias)

    @abstractmethod
    def forward(
        self, x: Tensor, mask: Tensor | None = None, score_bias: Tensor | None = None
    ) -> Tensor:
        """(B, T, D) -> (B, T, D).

        Args:
            x: the positions.
            mask: True where one may attend; causality comes on top of it. What is at a position to
                which none may attend is not read: it may be NaN.
            score_bias: what is added to the scores of query and key.
        """

    @abstractmethod
    def start(self, batch: int, size: int) -> Cache:
        """An empty cache for so many rows of at most `size` tokens."""

    @abstractmethod
    def extend(
        self, x: Tensor, cache: Cache, score_bias: Tensor | None = None
    ) -> tuple[Tensor, Cache]:
        """The next positions (B, T, D), which read from those in the cache too -> (B, T, D)."""

    @abstractmethod
    def attention_weights(
        self, x: Tensor, mask: Tensor | None = None, score_bias: Tensor | None = None
    ) -> Tensor:
        """The weights of every head by the plain formula, (B, T, D) -> (B, H, T, T)."""

    def _split(self, x: Tensor, start: int = 0) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (B, H, T, K), keys and values (B, G, T, K) of positions from `start` on."""
        heads = self.c_attn(x).unflatten(-1, (-1, self.head_size)).transpose(1, 2)
        counts = (self.heads, self.kv_heads, self.kv_heads)
        queries, keys, values = heads.split(counts, dim=1)
        if self.rotary is not None:
            queries, keys = self.rotary(queries, start), self.rotary(keys, start)
        return queries, keys, values

    def _for_all_heads(self, x: Tensor) -> Tensor:
        """Keys or values of each head of queries, (B, G, T, K) -> (B, H, T, K)."""
        shared = self.heads // self.kv_heads
        return x if shared == 1 else x.repeat_interleave(shared, dim=1)

    def _joined(self, heads: Tensor) -> Tensor:
        """The heads joined and mixed, (B, H, T, K) -> (B, T, D)."""
        joined: Tensor = self.c_proj(heads.transpose(1, 2).flatten(2))
        return joined


def counted_keys(mask: Tensor | None) -> Tensor | None:
    """Which keys any query may read (B, T), of a mask (B, 1, T) that is the same for all of them.

    Kinds that do not hold a weight for each pair of query and key take no other mask.
    """
    if mask is None:
        return None
    if mask.dim() != 3 or mask.shape[1] != 1:
        raise ShapeError(
            f"this attention takes a mask of keys alone, (B, 1, T), got {tuple(mask.shape)}"
        )
    return mask[:, 0]


def check_heads(width: int, heads: int, kv_heads: int) -> None:
    """Refuse heads that do not divide the width, and key/value heads that do not divide them."""
    if width % heads:
        raise ConfigError(f"heads must divide the width, got {heads} heads and a width of {width}")
    if heads % kv_heads:
        raise ConfigError(f"kv_heads must divide heads, got {kv_heads} of {heads}")
