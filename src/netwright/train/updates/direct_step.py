"""A step of torch's fused Adam and AdamW by its kernel alone.

`Optimizer.step` opens a record for the profiler, looks for hooks, checks and sorts the tensors
anew and only then calls the kernel; for a small network that takes longer than the kernel. Here
the kernel is called on the same tensors, so that weights and moments have the same bits.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim import optimizer as hooks

from netwright.optimizers.eager import torch_kind

KINDS = (torch.optim.Adam, torch.optim.AdamW)
ODD = ("amsgrad", "capturable", "differentiable")  # settings that are left to `Optimizer.step`


class _Call(NamedTuple):
    """A kernel with what it takes; the last of the tensors count the steps."""

    kernel: Callable[..., Any]
    tensors: tuple[list[Tensor], ...]
    settings: dict[str, Any]


def step_directly(optimizer: torch.optim.Optimizer) -> bool:
    """Move the weights that have gradients, where all of them have been moved before.

    False: nothing was done, and `Optimizer.step` is to be called: it begins moments, calls hooks,
    and knows the other kinds and devices.
    """
    if torch_kind(optimizer) not in KINDS or _is_hooked(optimizer):
        return False
    calls = []
    for group in optimizer.param_groups:
        if (call := _call(optimizer, group)) is None:
            return False
        calls.append(call)
    had_slopes = torch.is_grad_enabled()
    torch._C._set_grad_enabled(False)  # `no_grad` makes three objects for it each time
    try:
        for kernel, tensors, settings in calls:
            if tensors[0]:
                for step in tensors[-1]:
                    step.fill_(step.item() + 1)  # quicker than a sum of all tensors
                kernel(*tensors, **settings)
    finally:
        torch._C._set_grad_enabled(had_slopes)
    optimizer._opt_called = True  # type: ignore[attr-defined]  # torch's schedules ask for it
    return True


def _is_hooked(optimizer: torch.optim.Optimizer) -> bool:
    """Whether somebody else has a part in the step: hooks, or a number that leaves steps out."""
    return hasattr(optimizer, "found_inf") or bool(
        optimizer._optimizer_step_pre_hooks
        or optimizer._optimizer_step_post_hooks
        or hooks._global_optimizer_pre_hooks
        or hooks._global_optimizer_post_hooks
    )


def _call(optimizer: torch.optim.Optimizer, group: dict[str, Any]) -> _Call | None:
    """The step of a group; None where `Optimizer.step` has to look at it."""
    if not group["fused"] or any(map(group.get, ODD)) or not isinstance(group["lr"], float):
        return None
    tensors: tuple[list[Tensor], ...] = ([], [], [], [], [], [])
    learned, gradients, means, squares, _, steps = tensors
    for weight in group["params"]:
        gradient = weight.grad
        if gradient is None:
            continue
        moments = optimizer.state.get(weight)
        is_usual = weight.dtype is torch.float32 and weight.is_cpu
        if not moments or not is_usual or gradient.layout is not torch.strided:
            return None
        learned.append(weight)
        gradients.append(gradient)
        means.append(moments["exp_avg"])
        squares.append(moments["exp_avg_sq"])
        steps.append(moments["step"])
    beta1, beta2 = group["betas"]
    settings = {
        "lr": group["lr"],
        "beta1": beta1,
        "beta2": beta2,
        "weight_decay": group["weight_decay"],
        "eps": group["eps"],
        "amsgrad": False,
        "maximize": group["maximize"],
        "grad_scale": None,
        "found_inf": None,
    }
    kernel = torch._fused_adamw_ if group["decoupled_weight_decay"] else torch._fused_adam_
    return _Call(kernel, tensors, settings)
