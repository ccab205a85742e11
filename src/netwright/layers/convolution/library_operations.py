"""Norm, first convolution and pooling as operations of torch's library: torch.compile knows these.

They run the kernels that the functions of autograd in `norm_operation.py`, `stem_operation.py` and
`pool_operation.py` run. To register them takes a quarter of a second, and each call costs the host
some hundred microseconds: only what is compiled imports this module.

Shapes: images (B, C, I, J), moments (3, C); windows of k x k.
"""

import torch
from torch import Tensor

from netwright.layers.convolution import norm_operation, pool_operation, stem_operation
from netwright.layers.convolution.norm_passes import backward_pass, forward_pass


@torch.library.custom_op("netwright::normalize", mutates_args=())
def normalize(
    x: Tensor, weight: Tensor, bias: Tensor, added: Tensor | None, eps: float, rectifies: bool
) -> tuple[Tensor, Tensor]:
    """The output and the moments; running statistics are the caller's to move."""
    return forward_pass(x, weight, bias, added, eps, rectifies)


@torch.library.custom_op("netwright::normalize_slopes", mutates_args=())
def normalize_slopes(
    dy: Tensor,
    x: Tensor,
    y: Tensor | None,
    moments: Tensor,
    weight: Tensor,
    bias: Tensor,
    rectifies: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """See `norm_passes.backward_pass`."""
    return backward_pass(dy, x, y, moments, weight, bias, rectifies)


@normalize.register_fake
def _(
    x: Tensor, weight: Tensor, bias: Tensor, added: Tensor | None, eps: float, rectifies: bool
) -> tuple[Tensor, Tensor]:
    return torch.empty_like(x), weight.new_empty(3, len(weight))


@normalize_slopes.register_fake
def _(
    dy: Tensor,
    x: Tensor,
    y: Tensor | None,
    moments: Tensor,
    weight: Tensor,
    bias: Tensor,
    rectifies: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    passed = torch.empty_like(x) if y is not None and rectifies else x.new_empty(0)
    return torch.empty_like(x), passed, weight.new_empty(2, len(weight))


normalize.register_autograd(
    lambda ctx, dy, _: norm_operation.gradients(ctx, dy, normalize_slopes),
    setup_context=norm_operation.keep,
)


@torch.library.custom_op("netwright::convolve_stem", mutates_args=())
def convolve_stem(x: Tensor, weight: Tensor, stride: int, padding: int) -> Tensor:
    """See `stem_operation.forward_pass`."""
    return stem_operation.forward_pass(x, weight, stride, padding)


@torch.library.custom_op("netwright::stem_slopes", mutates_args=())
def stem_slopes(
    dy: Tensor, x: Tensor, outputs: int, size: int, stride: int, padding: int
) -> Tensor:
    """See `stem_operation.backward_pass`."""
    return stem_operation.backward_pass(dy, x, outputs, size, stride, padding)


@convolve_stem.register_fake
def _(x: Tensor, weight: Tensor, stride: int, padding: int) -> Tensor:
    return stem_operation.room(x, weight, stride, padding)


@stem_slopes.register_fake
def _(dy: Tensor, x: Tensor, outputs: int, size: int, stride: int, padding: int) -> Tensor:
    return dy.new_empty(outputs, size, size, x.shape[1]).permute(0, 3, 1, 2)


convolve_stem.register_autograd(
    lambda ctx, dy: stem_operation.gradients(ctx, dy, stem_slopes),
    setup_context=stem_operation.keep,
)


@torch.library.custom_op("netwright::max_pool", mutates_args=())
def max_pool(x: Tensor, size: int, stride: int, padding: int) -> tuple[Tensor, Tensor]:
    """See `pool_operation.forward_pass`."""
    return pool_operation.forward_pass(x, size, stride, padding)


@torch.library.custom_op("netwright::max_pool_slopes", mutates_args=())
def max_pool_slopes(
    dy: Tensor, chosen: Tensor, tall: int, wide: int, size: int, stride: int, padding: int
) -> Tensor:
    """See `pool_operation.backward_pass`."""
    return pool_operation.backward_pass(dy, chosen, tall, wide, size, stride, padding)


@max_pool.register_fake
def _(x: Tensor, size: int, stride: int, padding: int) -> tuple[Tensor, Tensor]:
    return pool_operation.rooms(x, size, stride, padding)


@max_pool_slopes.register_fake
def _(
    dy: Tensor, chosen: Tensor, tall: int, wide: int, size: int, stride: int, padding: int
) -> Tensor:
    return pool_operation.images_like(dy, tall, wide)


max_pool.register_autograd(
    lambda ctx, dy, _: pool_operation.gradients(ctx, dy, max_pool_slopes),
    setup_context=pool_operation.keep,
)
