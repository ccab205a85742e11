"""Batch norm with what is added and ReLU, as autograd knows it and as torch.compile knows it.

An operation of torch's library can be compiled around, and costs the host some hundred
microseconds at each call; a function of autograd costs a tenth of that. Both run the same kernels.

Shapes: images (B, C, I, J), moments (3, C).
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from netwright.layers.convolution.norm_passes import backward_pass, forward_pass


class Normalized(torch.autograd.Function):
    """Of x, weight, bias, added, eps, rectifies and running statistics, which move in place."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        """See `forward_pass`."""
        y, moments = forward_pass(*inputs)
        _keep(ctx, inputs[:6], (y, moments))
        return y

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Any, ...]:
        """See `backward_pass`."""
        if torch.is_grad_enabled():
            return (*_differentiable(ctx, dy), None)
        return (*_gradients(ctx, dy, backward_pass), None)


def normalize_now(*inputs: Any) -> Tensor:
    """The output of `forward_pass`, which autograd knows the way back from."""
    y: Tensor = Normalized.apply(*inputs)  # type: ignore[no-untyped-call]
    return y


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
    """See `backward_pass`."""
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


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    x, weight, bias, added, ctx.eps, ctx.rectifies = inputs
    ctx.adds = added is not None
    ctx.set_materialize_grads(False)  # the moments have none
    ctx.save_for_backward(x, weight, bias, output[1], *(output[:1] if ctx.adds else ()))


def _gradients(ctx: Any, dy: Tensor, slopes: Any) -> tuple[Any, ...]:
    """Of x, weight, bias and what was added; eps and rectifies have none."""
    x, weight, bias, moments, *y = ctx.saved_tensors
    dx, passed, both = slopes(
        dy, x, y[0] if ctx.adds else None, moments, weight, bias, ctx.rectifies
    )
    added = (passed if ctx.rectifies else dy) if ctx.adds else None
    return dx, both[1], both[0], added, None, None


def _differentiable(ctx: Any, dy: Tensor) -> tuple[Any, ...]:
    """The same by torch's operations, which can be differentiated once more."""
    x, weight, bias, _, *y = ctx.saved_tensors
    out = functional.batch_norm(x, None, None, weight, bias, training=True, eps=ctx.eps)
    slope = dy * ((y[0] if ctx.adds else out) > 0) if ctx.rectifies else dy
    wanted = [part for part in (x, weight, bias) if part.requires_grad]
    found = iter(torch.autograd.grad(out, wanted, slope, create_graph=True) if wanted else ())
    slopes = [next(found) if part.requires_grad else None for part in (x, weight, bias)]
    return (*slopes, slope if ctx.adds else None, None, None)


normalize.register_autograd(
    lambda ctx, dy, _: _gradients(ctx, dy, normalize_slopes), setup_context=_keep
)
