"""Batch norm with what is added to it and ReLU: one operation where there is a kernel for it.

There is one for training on CUDA in half precision with the channels of a pixel side by side; see
`norm_kernels.py`. Elsewhere torch's operations run one after the other. Statistics are float32
either way; a sum of two is rounded once instead of twice.

Shapes: images (B, C, I, J).
"""

from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.kernel_start import can_run
from netwright.layers.convolution.folded_norm import FoldedConvolution
from netwright.layers.graph_constant import graph_constant
from netwright.layers.module_hooks import has_hooks

DEVICES = ("cuda",)
HALVES = (torch.bfloat16, torch.float16)
MOST = 2**31  # numbers that a kernel counts


def normalized(
    norm: nn.Module, x: Tensor, *, added: Tensor | None = None, rectifies: bool = True
) -> Tensor:
    """relu(norm(x) + added), (B, C, I, J).

    Args:
        norm: its running statistics move, where it is training; or what it was folded into.
        x: images.
        added: of the same shape, or None; what a norm was folded into may write the sum over it.
        rectifies: whether ReLU comes last.
    """
    out: Tensor
    if isinstance(norm, FoldedConvolution):
        out = norm(x, added=added, rectifies=rectifies)
        return out
    if not has_fused_norm(norm, x):
        out = norm(x)
        out = out if added is None else out + added
        return functional.relu(out) if rectifies else out
    return _fused(norm, x, added, rectifies)


def _fused(norm: Any, x: Tensor, added: Tensor | None, rectifies: bool) -> Tensor:
    mean, variance, seen = norm.running_mean, norm.running_var, norm.num_batches_tracked
    given = (x, norm.weight, norm.bias, added, norm.eps, rectifies)
    if not torch.compiler.is_compiling():
        from netwright.layers.convolution import norm_operation  # noqa: PLC0415 - needs Triton
        from netwright.layers.convolution.norm_passes import Running  # noqa: PLC0415 - likewise

        running = Running(mean, variance, seen, norm.momentum)
        return norm_operation.normalize_now(*given, running)
    from netwright.layers.convolution import library_operations  # noqa: PLC0415 - slow to load

    y: Tensor
    y, moments = library_operations.normalize(*given)
    with torch.no_grad():
        torch._foreach_lerp_([mean, variance], [moments[0], moments[2]], norm.momentum)
        seen.add_(1)
    return y


def has_fused_norm(norm: nn.Module, x: Tensor) -> bool:
    """Whether there is one operation for this norm of these images, with ReLU or without."""
    return (
        type(norm) is nn.BatchNorm2d
        and norm.training
        and norm.affine
        and norm.track_running_stats
        and norm.momentum is not None
        and norm.weight.dtype == torch.float32
        and x.numel() > x.shape[1]  # torch refuses the variance of a single number
        and suits_kernels(norm, x)
    )


def suits_kernels(module: nn.Module, x: Tensor) -> bool:
    """Whether images are such as kernels take, and nobody looks into this module."""
    is_suited = (
        type(x) is Tensor  # not one that only knows its shape
        and x.device.type in DEVICES
        and x.dtype in HALVES
        and x.ndim == 4
        and 0 < x.numel() < MOST
        and x.is_contiguous(memory_format=torch.channels_last)
        and not has_hooks(module)
        and torch.backends.cudnn.enabled  # off where second derivatives are wanted
    )
    if not is_suited:
        return False
    if torch.compiler.is_compiling():
        return _can_start(x.device)
    is_watched = torch._C._len_torch_function_stack() > 0
    is_transformed = torch._C._functorch.peek_interpreter_stack() is not None
    return not is_watched and not is_transformed and _can_start(x.device)


@graph_constant
def _can_start(device: torch.device) -> bool:
    """Whether kernels run on this device, and it is the current one; a compiler asks once."""
    is_here = device.type != "cuda" or device.index == torch.cuda.current_device()
    return is_here and _has_kernels(device)


@cache
def _has_kernels(device: torch.device) -> bool:
    return can_run(partial(_try, device), device)


def _try(device: torch.device) -> None:
    """Normalise two pixels."""
    from netwright.layers.convolution.norm_passes import forward_pass  # noqa: PLC0415 - see above

    x, ones = torch.ones(2, 1, 1, 1, device=device), torch.ones(1, device=device)
    forward_pass(x, ones, ones, None, 1.0, rectifies=True)
