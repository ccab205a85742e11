"""The decoder block: positions read from those before them, then from a source, then work alone.

    pre-norm    x = x + attn(LN_1(x)),  x = x + cross(LN_c(x), source),  x = x + mlp(LN_2(x))
    post-norm   x = LN_1(x + attn(x)),  x = LN_c(x + cross(x, source)),  x = LN_2(x + mlp(x))

Parts have GPT-2's names.

Shapes: B batch, T positions, D width.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.1.
"""

from torch import Tensor, nn

from netwright.layers.attention.add_and_norm import AddAndNorm, Norm
from netwright.layers.attention.cross_attention import CrossAttention, Projected
from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.attention.key_value_cache import KeyValueCache
from netwright.layers.attention.multihead_attention import MultiHeadAttention


class DecoderBlock(AddAndNorm):
    """Causal attention, cross-attention and feed-forward network, each with norm and shortcut.

    Args:
        attn: reads from the positions before; causal.
        cross: reads from the source.
        mlp: works on each position.
        pre_norm: whether the norms come before their parts, or after the sums.
        dropout: share of what is added that is dropped while training.
        norm: makes the norms.
    """

    def __init__(
        self,
        attn: MultiHeadAttention,
        cross: CrossAttention,
        mlp: FeedForward,
        *,
        pre_norm: bool = True,
        dropout: float = 0.0,
        norm: Norm = nn.LayerNorm,
    ) -> None:
        super().__init__(pre_norm=pre_norm, dropout=dropout)
        self.ln_1 = norm(attn.width)
        self.attn = attn
        self.ln_cross = norm(attn.width)
        self.cross = cross
        self.ln_2 = norm(attn.width)
        self.mlp = mlp

    def forward(self, x: Tensor, source: Projected, score_bias: Tensor | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D); `score_bias` as the causal attention takes it."""
        return self._add(self._read(x, score_bias), source)

    def extend(
        self,
        x: Tensor,
        cache: KeyValueCache,
        source: Projected,
        score_bias: Tensor | None = None,
    ) -> tuple[Tensor, KeyValueCache]:
        """The next positions (B, T, D), which read from those in the cache too."""
        read, cache = self.attn.extend(self.seen(x, self.ln_1), cache, score_bias)
        return self._add(self.added(x, read, self.ln_1), source), cache

    def cross_weights(
        self, x: Tensor, source: Projected, score_bias: Tensor | None = None
    ) -> Tensor:
        """Where each head looks in the source, (B, T, D) -> (B, H, T, S)."""
        asking = self.seen(self._read(x, score_bias), self.ln_cross)
        return self.cross.attention_weights(asking, source)

    def _read(self, x: Tensor, score_bias: Tensor | None) -> Tensor:
        """X and what was read from the positions before."""
        return self.added(x, self.attn(self.seen(x, self.ln_1), None, score_bias), self.ln_1)

    def _add(self, x: Tensor, source: Projected) -> Tensor:
        """Add what is read from the source, and then what the feed-forward network makes of it."""
        x = self.added(x, self.cross(self.seen(x, self.ln_cross), source), self.ln_cross)
        return self.added(x, self.mlp(self.seen(x, self.ln_2)), self.ln_2)
