"""The transformer block: positions read from each other, then each works by itself; both are added.

    pre-norm    x = x + attn(LN_1(x)),    x = x + mlp(LN_2(x))        GPT-2
    post-norm   x = LN_1(x + attn(x)),    x = LN_2(x + mlp(x))        2017, BERT

Parts have GPT-2's names.

Shapes: B batch, T positions, D width.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.1; Xiong et al., "On Layer
Normalization in the Transformer Architecture" (2020).
"""

from typing import Any

from torch import Tensor, nn

from netwright.layers.attention.add_and_norm import AddAndNorm, Norm
from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.attention.masks import zero_unread
from netwright.layers.attention.self_attention import Cache, SelfAttention


class TransformerBlock(AddAndNorm):
    """Attention and feed-forward network, each with its norm and its shortcut.

    Args:
        attn: reads from the other positions.
        mlp: works on each position.
        pre_norm: whether the norms come before their parts, or after the sums.
        dropout: share of what is added that is dropped while training.
        norm: makes the norms.
    """

    def __init__(
        self,
        attn: SelfAttention[Any],
        mlp: FeedForward,
        *,
        pre_norm: bool = True,
        dropout: float = 0.0,
        norm: Norm = nn.LayerNorm,
    ) -> None:
        super().__init__(pre_norm=pre_norm, dropout=dropout)
        self.ln_1 = norm(attn.width)
        self.attn = attn
        self.ln_2 = norm(attn.width)
        self.mlp = mlp

    def forward(
        self, x: Tensor, mask: Tensor | None = None, score_bias: Tensor | None = None
    ) -> Tensor:
        """(B, T, D) -> (B, T, D); `mask` and `score_bias` as the attention takes them."""
        x = zero_unread(x, mask)
        return self._add(x, self.attn(self.attended(x), mask, score_bias))

    def extend(
        self, x: Tensor, cache: Cache, score_bias: Tensor | None = None
    ) -> tuple[Tensor, Cache]:
        """The next positions (B, T, D), which read from those in the cache too."""
        read, cache = self.attn.extend(self.attended(x), cache, score_bias)
        return self._add(x, read), cache

    def attended(self, x: Tensor) -> Tensor:
        """What the attention of this block sees of x, (B, T, D)."""
        return self.seen(x, self.ln_1)

    def _add(self, x: Tensor, read: Tensor) -> Tensor:
        """Add what was read to x, and then what the feed-forward network makes of that."""
        x = self.added(x, read, self.ln_1)
        return self.added(x, self.mlp(self.seen(x, self.ln_2)), self.ln_2)
