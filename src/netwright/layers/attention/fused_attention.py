r"""torch's fused attention, without the kernel that loses gradients.

    softmax(scale Q K^T + mask) V

On a GPU torch chooses among several kernels. The backward pass of cuDNN's (of torch 2.11 to 2.13 at
least) fills the last tile of keys up with scores of 0: where all scores of a query are below -88,
exp(0 - logsumexp) is more than float32 holds, and gradients are NaN though the loss is finite. So
cuDNN is left out in training wherever queries or keys do not fill whole tiles.

Shapes: B batch, H heads, T queries, S keys, K features of a head.
Source: pytorch issue 196678, cudnn-frontend issue 1072.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

TILE = 128  # queries or keys that cuDNN works on at a time
SOUND = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
IS_ALLOWED: dict[SDPBackend, Callable[[], bool]] = {
    SDPBackend.FLASH_ATTENTION: torch.backends.cuda.flash_sdp_enabled,
    SDPBackend.EFFICIENT_ATTENTION: torch.backends.cuda.mem_efficient_sdp_enabled,
    SDPBackend.MATH: torch.backends.cuda.math_sdp_enabled,
}


def fused_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """What queries (B, H, T, K) read of the values (B, H, S, K), (B, H, T, K).

    Args:
        queries: what is looked for.
        keys: what is compared with it.
        values: what is read.
        attn_mask: True where a query may read, or what is added to its scores; (B, H, T, S) or
            what becomes that.
        dropout_p: share of the weights dropped.
        is_causal: a query reads the keys up to its own place.
        scale: of the scores; 1 / sqrt(K) where None.
        enable_gqa: several heads of queries share one of keys and values.
    """
    with _kernels(queries, keys):
        return functional.scaled_dot_product_attention(
            queries,
            keys,
            values,
            attn_mask=attn_mask,
            dropout_p=dropout_p,
            is_causal=is_causal,
            scale=scale,
            enable_gqa=enable_gqa,
        )


def _kernels(queries: Tensor, keys: Tensor) -> AbstractContextManager[None]:
    """Those that torch may choose from: all that are allowed already, or all but cuDNN's."""
    if not (queries.is_cuda and torch.is_grad_enabled()) or fills_tiles(queries, keys):
        return nullcontext()
    if torch.compiler.is_compiling():  # which cannot ask
        return sdpa_kernel(SOUND)
    allowed = [kernel for kernel in SOUND if IS_ALLOWED[kernel]()]
    return sdpa_kernel(allowed) if allowed else nullcontext()


def fills_tiles(queries: Tensor, keys: Tensor) -> bool:
    """Whether there are no tiles of cuDNN's that are filled up."""
    return queries.shape[-2] % TILE == 0 and keys.shape[-2] % TILE == 0
