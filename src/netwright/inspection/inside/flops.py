"""Floating-point operations of what runs inside a block: a multiplication and an addition are two.

Counted are matrix products, convolutions, attention and recurrent layers, by torch's own counter;
sums, activations and normalisations are left out, as everywhere. torch's counter misses
kernels that do several products at once; they are counted here or kept from running. Torch keeps
its counter out of compiled graphs by a wrapper that imports the compiler at the first operation,
which takes seconds; nothing is compiled here, so that this counter goes without.
"""

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, Self

import torch
from torch.utils.flop_counter import (
    FlopCounterMode,
    _FlopCounterMode,
    sdpa_backward_flop_count,
    sdpa_flop_count,
)

Shape = Sequence[int]


def _attention(query: Shape, key: Shape, value: Shape, *_: Any, **__: Any) -> int:
    return int(sdpa_flop_count(query, key, value))  # type: ignore[no-untyped-call]


def _recurrent_layer(
    inputs: Shape, from_inputs: Shape, from_state: Shape, *_: Any, **__: Any
) -> int:
    """Both matrices are used once a time step: inputs (T, B, D) have T * B of them."""
    return 2 * prod(inputs[:-1]) * (prod(from_inputs) + prod(from_state))


def _recurrent_layers(inputs: Shape, weights: Sequence[Shape], *_: Any, **__: Any) -> int:
    """The same for all layers and directions at once; biases are no products."""
    return 2 * prod(inputs[:-1]) * sum(prod(shape) for shape in weights if len(shape) == 2)


def _attention_backward(
    gradient: Shape, query: Shape, key: Shape, value: Shape, *_: Any, **__: Any
) -> int:
    return int(sdpa_backward_flop_count(gradient, query, key, value))  # type: ignore[no-untyped-call]


def _recurrent_layer_backward(*shapes: Any, **__: Any) -> int:
    """A product for the inputs and one for the weights, where forward has one."""
    return 2 * _recurrent_layer(*shapes)


def _recurrent_layers_backward(*shapes: Any, **__: Any) -> int:
    return 2 * _recurrent_layers(*shapes)


_FORMULAS = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: _attention_backward,
    torch.ops.aten.mkldnn_rnn_layer: _recurrent_layer,
    torch.ops.aten.mkldnn_rnn_layer_backward: _recurrent_layer_backward,
    torch.ops.aten._cudnn_rnn: _recurrent_layers,
    torch.ops.aten._cudnn_rnn_backward: _recurrent_layers_backward,
}


class _EagerMode(_FlopCounterMode):  # type: ignore[no-untyped-call]
    """What torch's counter does at an operation, without its wrapper."""

    __torch_dispatch__ = inspect.unwrap(_FlopCounterMode.__torch_dispatch__)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class _EagerCounter(FlopCounterMode):
    def __enter__(self) -> Self:
        self.flop_counts.clear()
        self.mod_tracker.__enter__()  # type: ignore[no-untyped-call]
        self.mode = _EagerMode(self).__enter__()  # type: ignore[no-untyped-call]
        return self


@contextmanager
def counting_flops() -> Iterator[FlopCounterMode]:
    """Within it the counter's `get_total_flops()` grows with every operation."""
    had_fast_path = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # a whole transformer block in one kernel
    try:
        with _EagerCounter(display=False, custom_mapping=_FORMULAS) as counter:
            yield counter
    finally:
        torch.backends.mha.set_fastpath_enabled(had_fast_path)
