r"""Multi-head cross-attention: positions of one sequence read from those of another, the memory.

    head_i = softmax(Q_i K_i^T / sqrt(K)) V_i,    Q from x,  K and V from the memory

Keys and values of the memory do not depend on x: `project` makes them once, and however many
tokens a decoder says, they stay. Torch's fused attention reads; `attention_weights` computes the
weights by the plain formula. Parts have GPT-2's names: q_attn, c_attn (keys and values), c_proj.

Shapes: B batch, T positions, S places of the memory, D width, H heads, K = D / H.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.3.
"""

from typing import NamedTuple

from torch import Tensor, nn

from netwright.layers.attention.attention import masked_softmax
from netwright.layers.attention.attention_scores import dot_scores
from netwright.layers.attention.fused_attention import fused_attention
from netwright.layers.attention.masks import zero_unread
from netwright.layers.attention.self_attention import check_heads


class Projected(NamedTuple):
    """A memory as the heads of one layer see it.

    Args:
        keys: (B, H, S, K).
        values: (B, H, S, K).
        mask: True where one may attend, (B, 1, S); None: everywhere.
    """

    keys: Tensor
    values: Tensor
    mask: Tensor | None


class CrossAttention(nn.Module):
    """Every position reads from all places of the memory.

    Args:
        width: D, of the positions and of the memory.
        heads: H; divides D.
        scale: of the scores; 1 / sqrt(K) where None.
        dropout: share of the attention weights dropped while training.
        bias: whether the projections have biases.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        scale: float | None = None,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_heads(width, heads, heads)
        self.width, self.head_size, self.dropout = width, width // heads, dropout
        self.scale = self.head_size**-0.5 if scale is None else scale
        self.q_attn = nn.Linear(width, width, bias=bias)
        self.c_attn = nn.Linear(width, 2 * width, bias=bias)
        self.c_proj = nn.Linear(width, width, bias=bias)

    def forward(self, x: Tensor, memory: Projected) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        heads = fused_attention(
            self._heads(self.q_attn(x)),
            memory.keys,
            memory.values,
            attn_mask=None if memory.mask is None else memory.mask[:, None],
            dropout_p=self.dropout if self.training else 0.0,
            scale=self.scale,
        )
        joined: Tensor = self.c_proj(heads.transpose(1, 2).flatten(2))
        return joined

    def project(self, memory: Tensor, mask: Tensor | None = None) -> Projected:
        """Keys and values of the memory (B, S, D); what the mask (B, 1, S) rules out is not read.

        There may be anything at such a place, NaN too.
        """
        keys, values = self._heads(self.c_attn(zero_unread(memory, mask))).chunk(2, dim=1)
        return Projected(keys, values, mask)

    def attention_weights(self, x: Tensor, memory: Projected) -> Tensor:
        """The weights of every head by the plain formula, (B, T, D) -> (B, H, T, S)."""
        scores = self.scale * dot_scores(self._heads(self.q_attn(x)), memory.keys)
        return masked_softmax(scores, None if memory.mask is None else memory.mask[:, None])

    def _heads(self, x: Tensor) -> Tensor:
        """Features (B, T, heads K) as heads (B, heads, T, K)."""
        return x.view(*x.shape[:-1], -1, self.head_size).transpose(1, 2)
