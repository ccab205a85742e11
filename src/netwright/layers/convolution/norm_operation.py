"""Batch norm with what is added and ReLU, as autograd knows it; `library_operations.py` beside it.

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
        keep(ctx, inputs[:6], (y, moments))
        return y

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Any, ...]:
        """See `backward_pass`."""
        if torch.is_grad_enabled():
            return (*_differentiable(ctx, dy), None)
        return (*gradients(ctx, dy, backward_pass), None)


def normalize_now(*inputs: Any) -> Tensor:
    """The output of `forward_pass`, which autograd knows the way back from."""
    y: Tensor = Normalized.apply(*inputs)  # type: ignore[no-untyped-call]
    return y


def keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    """What the way back needs."""
    x, weight, bias, added, ctx.eps, ctx.rectifies = inputs
    ctx.adds = added is not None
    ctx.set_materialize_grads(False)  # the moments have none
    ctx.save_for_backward(x, weight, bias, output[1], *(output[:1] if ctx.adds else ()))


def gradients(ctx: Any, dy: Tensor, slopes: Any) -> tuple[Any, ...]:
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
