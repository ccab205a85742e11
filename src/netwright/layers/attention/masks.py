"""Masks: which key a query may attend to; True = it may, as torch's fused attention has it.

Two masks are combined by `&`:

    causal_mask(T) & length_mask(lengths, T)      (B, T, T)

Shapes: B batch, T queries, S keys.
"""

import torch
from torch import Tensor

from netwright.core.checks import check_shape


def causal_mask(
    queries: int, keys: int | None = None, device: torch.device | None = None
) -> Tensor:
    """(T, S): a query sees the keys up to its own place; the last query sees all of them.

    Args:
        queries: T.
        keys: S, those of earlier places included; T where None.
        device: where the mask is made.
    """
    keys = queries if keys is None else keys
    ones = torch.ones(queries, keys, dtype=torch.bool, device=device)
    return ones.tril(keys - queries)


def length_mask(lengths: Tensor, size: int) -> Tensor:
    """(B, 1, S): every query of a row sees its first `lengths` (B,) keys of S = `size`."""
    check_shape("lengths", lengths, "B")
    return (torch.arange(size, device=lengths.device) < lengths[:, None])[:, None]


def padding_mask(counted: Tensor, queries: int | None = None) -> Tensor:
    """(B, T, S): every query sees the places that count, and its own.

    So a place of padding sees itself, and no row of the softmax is empty.

    Args:
        counted: True where there is a token, False at padding (B, S).
        queries: T, the last of the S places; S where None.
    """
    check_shape("counted", counted, "B", "S")
    places = torch.arange(counted.shape[1], device=counted.device)
    asking = places if queries is None else places[len(places) - queries :]
    return counted[:, None] | (asking[:, None] == places)


def zero_unread(x: Tensor, mask: Tensor | None) -> Tensor:
    """The positions (B, T, D), with zeros where the mask (B, T or 1, T) lets no query look.

    What stands there may be anything: NaN would come back in the gradients of all that reads x.
    """
    return x if mask is None else x.masked_fill(~mask.any(dim=1)[:, :, None], 0)
