"""How quickly a GPU attends: far below its rate of products, as softmax lies between two of them.

    FLOP/s = 6 D T n / t     of n tokens in texts of T, each attending to those before it, with D
                             features in heads of 64, forward and back

Of several times the quickest counts.

Shapes: queries, keys and values (B, H, T, 64), D = 64 H, n = B T.
Source: Dao, "FlashAttention-2" (2023), section 4.1, which counts the scores of the backward pass,
computed again there, too: 7 D T.
"""

import torch
import torch.nn.functional as F

from netwright.recipes.plan.host_rates import quickest

HEAD = 64  # features of a head, as GPT-2 has
TEXTS, HEADS, TOKENS = 32, 16, 1024


def attention_rate(
    device: torch.device,
    dtype: torch.dtype = torch.bfloat16,
    *,
    texts: int = TEXTS,
    heads: int = HEADS,
    tokens: int = TOKENS,
) -> float:
    """FLOP/s of causal attention, forward and back, by the kernel that torch chooses.

    Args:
        device: that computes.
        dtype: of queries, keys and values.
        texts: B.
        heads: H.
        tokens: T.
    """
    draws = torch.Generator(device).manual_seed(0)
    shape = (texts, heads, tokens, HEAD)
    queries, keys, values, given = (
        torch.randn(shape, device=device, generator=draws).to(dtype) for _ in range(4)
    )
    leaves = [tensor.requires_grad_() for tensor in (queries, keys, values)]

    def attend() -> None:
        attended = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        torch.autograd.grad(attended, leaves, given)
        if device.type != "cpu":
            torch.accelerator.synchronize(device)

    attend()  # chooses and loads the kernel
    return 6 * heads * HEAD * tokens * texts * tokens / quickest(attend)
