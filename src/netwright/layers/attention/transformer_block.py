"""The transformer block: positions read from each other, then each works by itself; both are added.

    pre-norm    x = x + attn(LN_1(x)),    x = x + mlp(LN_2(x))        GPT-2
    post-norm   x = LN_1(x + attn(x)),    x = LN_2(x + mlp(x))        2017, BERT

Pre-norm leaves a path from the last block to the first on which nothing is normalised: deep stacks
train without warm-up. Parts have GPT-2's names.

Shapes: B batch, T positions, D width.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.1; Xiong et al., "On Layer
Normalization in the Transformer Architecture" (2020).
"""

from torch import Tensor, nn

from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.attention.key_value_cache import KeyValueCache
from netwright.layers.attention.masks import zero_unread
from netwright.layers.attention.multihead_attention import MultiHeadAttention


class TransformerBlock(nn.Module):
    """Attention and feed-forward network, each with its norm and its shortcut.

    Args:
        attn: reads from the other positions.
        mlp: works on each position.
        pre_norm: whether the norms come before their parts, or after the sums.
        dropout: share of what is added that is dropped while training.
        bias: whether the norms have biases.
    """

    def __init__(
        self,
        attn: MultiHeadAttention,
        mlp: FeedForward,
        *,
        pre_norm: bool = True,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.pre_norm = pre_norm
        self.ln_1 = nn.LayerNorm(attn.width, bias=bias)
        self.attn = attn
        self.ln_2 = nn.LayerNorm(attn.width, bias=bias)
        self.mlp = mlp
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D); `mask` as the attention takes it."""
        x = zero_unread(x, mask)
        return self._add(x, self.attn(self.attended(x), mask))

    def extend(self, x: Tensor, cache: KeyValueCache) -> tuple[Tensor, KeyValueCache]:
        """The next positions (B, T, D), which read from those in the cache too."""
        read, cache = self.attn.extend(self.attended(x), cache)
        return self._add(x, read), cache

    def attended(self, x: Tensor) -> Tensor:
        """What the attention of this block sees of x, (B, T, D)."""
        return self.ln_1(x) if self.pre_norm else x

    def _add(self, x: Tensor, read: Tensor) -> Tensor:
        """Add what was read to x, and then what the feed-forward network makes of that."""
        if self.pre_norm:
            x = x + self.drop(read)
            out: Tensor = x + self.drop(self.mlp(self.ln_2(x)))
        else:
            x = self.ln_1(x + self.drop(read))
            out = self.ln_2(x + self.drop(self.mlp(x)))
        return out
