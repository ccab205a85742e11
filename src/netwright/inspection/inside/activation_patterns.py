"""Activation patterns: which units of a network are on, and which entry each pooling window takes.

Two inputs with one pattern lie in one linear region. A pattern of many thousand units is kept as a
digest of 16 bytes.

Shapes: B inputs, U units.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.evaluation import evaluating
from netwright.inspection.inside.torch_calls import WatchedCalls

RELU = frozenset({"relu", "relu_", "leaky_relu", "leaky_relu_"})
HARD_TANH = frozenset({"hardtanh", "hardtanh_"})
POOLING = {
    "max_pool1d": functional.max_pool1d,
    "max_pool2d": functional.max_pool2d,
    "max_pool3d": functional.max_pool3d,
}
CURVED = frozenset(
    "sigmoid tanh gelu silu elu elu_ softplus softmax log_softmax exp log sqrt square pow cdist "
    "layer_norm group_norm instance_norm normalize scaled_dot_product_attention lstm gru rnn_tanh "
    "multi_head_attention_forward".split()
)


@dataclass(frozen=True, kw_only=True)
class Patterns:
    """What a network does with a batch.

    Args:
        output: what it gives.
        digests: one an input, equal where the same units are on.
        num_units: U, ReLU units and pooling windows.
        curved: functions on the way that no piece of which is straight, by name.
    """

    output: Any
    digests: tuple[bytes, ...]
    num_units: int
    curved: tuple[str, ...]


def activation_patterns(model: nn.Module, inputs: Tensor) -> Patterns:
    """Run a batch (B, ...) through a model, in evaluation mode, and see which units are on."""
    digests = [hashlib.blake2b(digest_size=16) for _ in range(len(inputs))]
    curved: list[str] = []
    num_units = 0

    def note(
        func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any
    ) -> Any:
        nonlocal num_units
        name = getattr(func, "__name__", "")
        choices = _choices(name, args, kwargs, result)
        if choices is not None:
            num_units += choices[0].numel()
            for digest, row in zip(digests, _packed(choices), strict=True):
                digest.update(row.tobytes())
        elif name in CURVED:
            curved.append(name)
        return result

    with evaluating(model), WatchedCalls(note):
        output = model(inputs)
    return Patterns(
        output=output,
        digests=tuple(digest.digest() for digest in digests),
        num_units=num_units,
        curved=tuple(dict.fromkeys(curved)),
    )


def _choices(
    name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any
) -> Tensor | None:
    """What each unit does, (B, ...): on or off, or which entry it takes; None of other functions.

    It is read off the result, as the input of a unit may have been overwritten by it.
    """
    if name in RELU:
        return cast(Tensor, result > 0)
    if name in HARD_TANH:
        low, high = (*args[1:], *kwargs.values(), -1.0, 1.0)[:2]
        return cast(Tensor, (result > low).byte() + (result >= high).byte())
    if name in POOLING:
        _, taken = POOLING[name](*args, **{**kwargs, "return_indices": True})
        return cast(Tensor, taken.int())
    return None


def _packed(choices: Tensor) -> np.ndarray[Any, Any]:
    """(B, bytes)."""
    rows = choices.flatten(1).cpu().numpy()
    return np.packbits(rows, axis=1) if rows.dtype == bool else rows
