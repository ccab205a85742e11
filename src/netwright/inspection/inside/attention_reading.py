r"""Attention of any model, read while it runs once: ours, torch's, Hugging Face's, timm's.

    weights = softmax(Q K^T / sqrt(D) + mask),    (B, H, Q, K)

Fast attention never holds its weights: `scaled_dot_product_attention` is seen when it is called,
and its weights are worked out beside it from its queries and keys, while the model goes on as it
would. `nn.MultiheadAttention` is asked a second time, for its weights. Attention that is written
out is seen at its softmax. Kernels from outside torch are not seen: a model that has them (Hugging
Face's "flash_attention_2") is loaded with attention "sdpa" or "eager".

Shapes: B batch, H heads, Q queries, K keys, D features of a head.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.adapted_module import module_name
from netwright.core.checks import nearest
from netwright.core.errors import ConfigError, DataError, UnknownNameError
from netwright.core.evaluation import evaluating
from netwright.inspection.inside.attention_maps import AttentionMaps, measure_attention_maps
from netwright.inspection.inside.torch_calls import WatchedCalls, running_modules
from netwright.layers.attention.attention import masked_softmax
from netwright.layers.attention.attention_scores import dot_scores

ATTENTION = ("attention", "attn")  # in the name of a module, or of its class


def read_attention(
    model: nn.Module, *args: Any, layers: Collection[str] | None = None, **kwargs: Any
) -> dict[str, Tensor]:
    """The weights (B, H, Q, K) of each attention, by the path of its module, in the order of calls.

    A module that is called again has its later calls under "path, call 2". The model is run once,
    in evaluation mode and without gradients, and is not changed.

    Args:
        model: any module.
        args: what it is called with.
        layers: paths of the modules whose weights are wanted; by default of all.
        kwargs: what it is called with, by name.
    """
    found: dict[str, Tensor] = {}
    seen: list[str] = []
    with evaluating(model), running_modules(model) as running:

        def note(
            func: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any], result: Any
        ) -> Any:
            weights_of = _reader(func, result, model, running)
            if weights_of is not None:
                path = running[-1] if running else ""
                seen.append(path)
                if layers is None or path in layers:
                    calls = seen.count(path)
                    name = path if calls == 1 else f"{path}, call {calls}"
                    found[name] = _four_dimensional(weights_of(*given, **named)).detach()
            return result

        with WatchedCalls(note):
            model(*args, **kwargs)
    for path in layers or ():
        if path not in seen:
            hint = nearest(path, seen) or f"; there are {', '.join(dict.fromkeys(seen)) or 'none'}"
            raise UnknownNameError(f"no attention was computed in a module {path!r}{hint}")
    return found


def show_attention(
    model: nn.Module,
    *args: Any,
    tokens: Sequence[str] | None = None,
    layers: Collection[str] | None = None,
    **kwargs: Any,
) -> AttentionMaps:
    """Maps of the heads of a model for the first example that it is called with.

    Args:
        model: any module; see `read_attention`.
        args: what it is called with.
        tokens: the names of the keys, and of the queries where these are as many; by default their
            places.
        layers: paths of the modules to look at; needed where they look at different things.
        kwargs: what it is called with, by name.
    """
    found = read_attention(model, *args, layers=layers, **kwargs)
    if not found:
        raise DataError(f"{module_name(model)} computed no attention that could be shown")
    shapes = {path: tuple(weights.shape[2:]) for path, weights in found.items()}
    if len(set(shapes.values())) > 1:
        sizes = ", ".join(f"{path} {queries} x {keys}" for path, (queries, keys) in shapes.items())
        raise ConfigError(f"layers must name attentions of one size, got {sizes}")
    queries, keys = next(iter(shapes.values()))
    heads = {
        f"{path}, head {head}".removeprefix(", "): weights[0, head].cpu()
        for path, weights in found.items()
        for head in range(weights.shape[1])
    }
    names = [str(place) for place in range(keys)] if tokens is None else list(tokens)
    asking = names if queries == keys else [str(place) for place in range(queries)]
    return measure_attention_maps(heads, asking, names)


def fused_weights(
    query: Tensor,
    key: Tensor,
    value: Tensor | None = None,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """The weights (..., Q, K) that `scaled_dot_product_attention` of these arguments reads with."""
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], dim=-3)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    exact = torch.promote_types(query.dtype, torch.float32)  # half formats are too coarse
    scores = dot_scores(query.to(exact), key.to(exact)) * scale
    if is_causal:
        attn_mask = torch.ones_like(scores, dtype=torch.bool).tril()
    if attn_mask is None or attn_mask.dtype == torch.bool:
        return masked_softmax(scores, attn_mask)
    return masked_softmax(scores + attn_mask)


def _reader(
    func: Callable[..., Any], result: Any, model: nn.Module, running: Sequence[str]
) -> Callable[..., Tensor] | None:
    """How the weights are had from a call's arguments; None where it is no attention."""
    if func is functional.scaled_dot_product_attention:
        return fused_weights
    if func is functional.multi_head_attention_forward:
        return _asked_again
    is_softmax = getattr(func, "__name__", "") == "softmax"  # of torch, a tensor or `functional`
    if is_softmax and result.ndim >= 4 and _adds_up(result) and _is_attention(model, running):
        return lambda *_, **__: cast(Tensor, result)
    return None


def _asked_again(*args: Any, **kwargs: Any) -> Tensor:
    asked = {**kwargs, "need_weights": True, "average_attn_weights": False}
    _, weights = functional.multi_head_attention_forward(*args, **asked)
    return cast(Tensor, weights)


def _adds_up(weights: Tensor) -> bool:
    """Whether the softmax went along the last axis."""
    sums = weights.float().sum(dim=-1)
    return bool(((sums - 1).abs() < 1e-2).all())


def _is_attention(model: nn.Module, running: Sequence[str]) -> bool:
    """Whether one of the running modules is called so."""
    names = [*running, *(type(model.get_submodule(path)).__name__ for path in running)]
    return any(word in name.lower() for name in names for word in ATTENTION)


def _four_dimensional(weights: Tensor) -> Tensor:
    """(Q, K) and (H, Q, K) as a batch of one; more axes before the heads, windows say, as one."""
    return weights[(None,) * (4 - weights.ndim)].flatten(0, -4)
