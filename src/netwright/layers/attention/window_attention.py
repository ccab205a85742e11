r"""Sliding-window attention with global tokens: work grows with the length, not with its square.

    query t reads key s   where |t - s| <= w,   or s is global,   or t is global

The first G places are global: they read all and are read by all. Queries are taken in blocks of w,
which need only the keys of three blocks and the global ones: no mask is larger than (T, G + 3 w).
`window_mask` is the same rule as one (T, T) mask, for the plain formula.

Shapes: B batch, H heads, T positions, K features of a head, N blocks of w queries, G global tokens.
Source: Beltagy, Peters and Cohan, "Longformer: The Long-Document Transformer" (2020), section 3.1.
"""

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.checks import check_shape
from netwright.core.errors import ConfigError


def window_mask(
    length: int,
    window: int,
    global_tokens: int = 0,
    *,
    is_causal: bool = False,
    device: torch.device | None = None,
) -> Tensor:
    """(T, T): True where a query may read a key."""
    places = torch.arange(length, device=device)
    return _allowed(places[:, None], places, window, global_tokens, is_causal=is_causal)


def window_pairs(length: int, window: int, global_tokens: int = 0) -> int:
    """How many pairs of query and key there are: T (2 w + 1) - w (w + 1), and the global ones."""
    near = min(window, length - 1)
    pairs = length * (2 * near + 1) - near * (near + 1)
    for place in range(min(global_tokens, length)):
        # Places beyond the window, there and back, but those of global tokens counted before.
        beyond = [other for other in range(place + 1, length) if other - place > window]
        pairs += 2 * len(beyond)
    return pairs


def window_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    window: int,
    *,
    global_tokens: int = 0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """What every query reads, (B, H, T, K) each -> (B, H, T, K).

    Args:
        queries: (B, H, T, K).
        keys: of the same shape.
        values: of the same shape.
        window: w, how far a query sees to either side.
        global_tokens: G, how many of the first places read all and are read by all.
        is_causal: nothing is read from later places, also not by or from global tokens.
        scale: of the scores; 1 / sqrt(K) where None.
    """
    check_shape("queries", queries, "B", "H", "T", "K")
    length = queries.shape[2]
    for name, value, least in (("window", window, 1), ("global_tokens", global_tokens, 0)):
        if value < least:
            raise ConfigError(f"{name} must be at least {least}, got {value}")
    count = min(global_tokens, length)
    near_keys, far_keys = _blocks_around(keys, window), keys[:, :, :count]
    near_values, far_values = _blocks_around(values, window), values[:, :, :count]
    blocks = near_keys.shape[2]
    filled = functional.pad(queries, (0, 0, 0, -length % window))
    asked = filled.view(*queries.shape[:2], blocks, window, -1)
    read = functional.scaled_dot_product_attention(
        asked,
        torch.cat((_repeated(far_keys, blocks), near_keys), dim=3),
        torch.cat((_repeated(far_values, blocks), near_values), dim=3),
        attn_mask=_block_mask(length, window, count, is_causal=is_causal, device=queries.device),
        scale=scale,
    )
    local = read.flatten(2, 3)[:, :, :length]
    if not count:
        return local
    first = functional.scaled_dot_product_attention(
        queries[:, :, :count],
        keys,
        values,
        attn_mask=window_rows(count, length, queries.device) if is_causal else None,
        scale=scale,
    )
    return torch.cat((first, local[:, :, count:]), dim=2)


def window_rows(count: int, length: int, device: torch.device | None = None) -> Tensor:
    """(G, T): the first queries see the keys up to their own place."""
    return torch.ones(count, length, dtype=torch.bool, device=device).tril()


def _allowed(
    queries: Tensor, keys: Tensor, window: int, global_tokens: int, *, is_causal: bool
) -> Tensor:
    """The rule for places of queries and keys, of shapes that expand to each other."""
    near = (queries - keys).abs() <= window
    either = near | (queries < global_tokens) | (keys < global_tokens)
    return either & (keys <= queries) if is_causal else either


def _blocks_around(x: Tensor, window: int) -> Tensor:
    """Of each block of w places itself and both neighbours, (B, H, T, K) -> (B, H, N, 3 w, K)."""
    length = x.shape[2]
    padded = functional.pad(x, (0, 0, window, window + -length % window))
    return padded.unfold(2, 3 * window, window).mT


def _repeated(x: Tensor, blocks: int) -> Tensor:
    """The global places for each block, (B, H, G, K) -> (B, H, N, G, K)."""
    return x.unsqueeze(2).expand(-1, -1, blocks, -1, -1)


def _block_mask(
    length: int, window: int, global_tokens: int, *, is_causal: bool, device: torch.device
) -> Tensor:
    """(N, w, G + 3 w): the rule, each key once; a global key counts as such, not as a near one."""
    blocks = -(-length // window)
    begins = window * torch.arange(blocks, device=device)[:, None]
    queries = (begins + torch.arange(window, device=device))[:, :, None]  # (N, w, 1)
    near = (begins - window + torch.arange(3 * window, device=device))[:, None]  # (N, 1, 3 w)
    far = torch.arange(global_tokens, device=device).expand(blocks, 1, -1)
    is_place = (near >= global_tokens) & (near < length)
    rule = [
        _allowed(queries, keys, window, global_tokens, is_causal=is_causal) for keys in (far, near)
    ]
    return torch.cat((rule[0], rule[1] & is_place), dim=2)
