"""Functions of torch in the steps of their formulas, for who looks inside.

    attention       softmax(Q K^T / sqrt(K)) V, which torch computes in one kernel
    recurrent cell  its gates, which torch computes in one kernel
    embedding       the row of padding is a constant, which torch says in the backward pass only

Shapes: B batch, T queries, S keys, D width, H heads, K = D / H, V rows of an embedding.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.errors import ConfigError
from netwright.layers.attention.attention import masked_softmax
from netwright.layers.recurrence.recurrent_cells import ELMAN, ELMAN_RELU, GRU, LSTM, States, Step


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """What torch's function of this name computes, without dropout: (..., T, K) -> (..., T, V)."""
    if enable_gqa:
        repeats = query.shape[-3] // key.shape[-3]
        key = key.repeat_interleave(repeats, dim=-3)
        value = value.repeat_interleave(repeats, dim=-3)
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril()
    if attn_mask is None:
        return scores.softmax(dim=-1) @ value
    # A query that may look at nothing reads 0, as torch's.
    if attn_mask.dtype == torch.bool:
        return masked_softmax(scores, attn_mask) @ value
    return masked_softmax(scores + attn_mask) @ value


def multi_head_attention_forward(  # noqa: PLR0913, PLR0917 - torch's own
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    **options: Any,
) -> tuple[Tensor, Tensor | None]:
    """What torch's function of this name computes, at rest: (T, B, D) -> (T, B, D), and weights.

    The weights are (B, T, S), or (B, H, T, S) where they are not averaged over the heads.
    """
    if bias_k is not None or add_zero_attn or options.get("use_separate_proj_weight"):
        raise ConfigError(
            "attention with added keys, or with keys and values of a width of their own, cannot be "
            "stepped through"
        )
    single = query.dim() == 2
    if single:
        query, key, value = (one.unsqueeze(1) for one in (query, key, value))
    weights = in_proj_weight.chunk(3) if in_proj_weight is not None else ()
    biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
    heads = [
        functional.linear(one, weight, bias)
        .reshape(*one.shape[:2], num_heads, -1)
        .permute(1, 2, 0, 3)
        for one, weight, bias in zip((query, key, value), weights, biases, strict=True)
    ]  # (B, H, T, K)
    mask = _joined_mask(options.get("attn_mask"), options.get("key_padding_mask"), num_heads)
    read, shown = _read_and_shown(heads[0], heads[1], heads[2], mask, options)
    joined = functional.linear(
        read.permute(2, 0, 1, 3).flatten(2), out_proj_weight, out_proj_bias
    )  # (T, B, D)
    if not single:
        return joined, shown
    return joined.squeeze(1), None if shown is None else shown.squeeze(0)


def _read_and_shown(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, options: Mapping[str, Any]
) -> tuple[Tensor, Tensor | None]:
    """What all heads (B, H, T, K) read; and the weights, where they are wanted.

    Torch then takes the plain softmax: the weights of a query that may look at nothing are NaN.
    """
    if not options.get("need_weights", True):
        return scaled_dot_product_attention(query, key, value, mask), None
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]))
    weights = (scores if mask is None else scores + mask).softmax(dim=-1)
    return weights @ value, weights.mean(1) if options.get(
        "average_attn_weights", True
    ) else weights


def embedding(
    tokens: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """What torch's function of this name computes: rows of `weight` (V, D); that of padding rests.

    Torch leaves the row of padding out of the gradient, although the result depends on it.
    """
    if max_norm is not None or scale_grad_by_freq:
        raise ConfigError(
            "an embedding with max_norm or scale_grad_by_freq cannot be stepped through"
        )
    if padding_idx is not None:
        rests = torch.arange(len(weight))[:, None] == padding_idx % len(weight)
        weight = torch.where(rests, weight.detach(), weight)
    return torch.embedding(weight, tokens)


def _cell(step: Step) -> Callable[..., Any]:
    """A cell of torch by its pure step; it takes a tuple of states where it has several."""

    def cell(x: Tensor, state: Tensor | States, *weights: Tensor | None) -> Tensor | States:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        given = {name: one for name, one in zip(names, weights, strict=False) if one is not None}
        found = step(x, (state,) if isinstance(state, Tensor) else tuple(state), given)
        return found[0] if isinstance(state, Tensor) else found

    return cell


def _joined_mask(forbidden: Tensor | None, padding: Tensor | None, heads: int) -> Tensor | None:
    """What is added to the scores; torch's masks of this kind are True where none may look.

    Args:
        forbidden: (T, S) or (B H, T, S), True or added to the scores.
        padding: (B, S), or (S) where there is no batch, likewise.
        heads: H.
    """
    parts = []
    if forbidden is not None:
        forbidden = _added(forbidden)
        batched = forbidden.dim() == 3
        parts.append(forbidden.reshape(-1, heads, *forbidden.shape[1:]) if batched else forbidden)
    if padding is not None:
        parts.append(_added(padding).reshape(-1, 1, 1, padding.shape[-1]))
    return sum(parts[1:], parts[0]) if parts else None


def _added(mask: Tensor) -> Tensor:
    """True as minus infinity."""
    if mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape).masked_fill(mask, -math.inf)


# Torch's function -> the same in steps.
READABLE: Mapping[Callable[..., Any], Callable[..., Any]] = {
    torch.rnn_tanh_cell: _cell(ELMAN.step),
    torch.rnn_relu_cell: _cell(ELMAN_RELU.step),
    torch.lstm_cell: _cell(LSTM.step),
    torch.gru_cell: _cell(GRU.step),
    functional.embedding: embedding,
    functional.scaled_dot_product_attention: scaled_dot_product_attention,
    functional.multi_head_attention_forward: multi_head_attention_forward,
}
