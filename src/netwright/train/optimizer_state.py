"""What an optimizer remembers (moments, buffers): whether it is whole, and how it is put back."""

import inspect
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from netwright.train.memory_format import laid_out_like
from netwright.train.own.optimizer_group import OptimizerGroup
from netwright.train.own.schedule import OwnSchedule


def unmoved_weights(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[str]:
    """The names of the weights of which the optimizer remembers nothing: they had no gradient."""
    names = {id(weight): name for name, weight in model.named_parameters()}
    return [names[id(weight)] for weight in _weights(optimizer) if not optimizer.state.get(weight)]


def find_missing_memory(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    saved: dict[str, Any],
    *,
    unmoved: Sequence[str],
) -> str:
    """The first piece that a saved state lacks of what such an optimizer keeps; empty if none.

    Args:
        model: whose weights it moves.
        optimizer: freshly built, of the same kind.
        saved: its `state_dict` after at least one step.
        unmoved: the weights that it had nothing to remember of.
    """
    names = {id(weight): name for name, weight in model.named_parameters()}
    weights = _weights(optimizer)
    if len(unmoved) == len(weights) and any(_kept_after_a_step(optimizer, weights[0])):
        return "optimizer/state"
    for index, weight in enumerate(weights):
        if names[id(weight)] in unmoved:
            continue
        kept = saved["state"].get(index, {})
        for key in _kept_after_a_step(optimizer, weight):
            if key not in kept:
                return f"optimizer/state/{index}/{key}"
    return ""


def restore_optimizer(
    optimizer: torch.optim.Optimizer, saved: dict[str, Any], *, with_settings: bool
) -> None:
    """Put a saved state back; without its settings, those that the optimizer has stay."""
    if not with_settings:
        groups = optimizer.state_dict()["param_groups"]
        saved = {**saved, "param_groups": groups}
    optimizer.load_state_dict(saved)
    for weight, kept in optimizer.state.items():
        for name, value in kept.items():
            if isinstance(value, Tensor):
                kept[name] = laid_out_like(weight, value)


def follow_new_batches(optimizer: torch.optim.Optimizer, fresh: dict[str, Any]) -> None:
    """An epoch may have other batches now: SVRG renews its snapshot as often as a fresh one."""
    for group, new in zip(optimizer.param_groups, fresh["param_groups"], strict=True):
        if "period" in new:
            group["period"] = new["period"]


def advance_schedule(schedule: LRScheduler | OwnSchedule, steps: int) -> None:
    """Bring a fresh schedule to where it would be after so many steps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch: the optimizer should step first
        for _ in range(steps):
            schedule.step()


def _weights(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    return [weight for group in optimizer.param_groups for weight in group["params"]]


def _kept_after_a_step(optimizer: torch.optim.Optimizer, weight: Tensor) -> list[str]:
    """The keys such an optimizer keeps of such a weight: a twin takes a step on a single number."""
    if isinstance(optimizer, OptimizerGroup):
        optimizer = optimizer.owner(weight)
    number = nn.Parameter(torch.zeros([1] * weight.ndim, dtype=weight.dtype, device=weight.device))
    kind, settings = type(optimizer), optimizer.defaults
    taken = inspect.signature(kind).parameters  # AdamW keeps a default that it does not take
    try:
        twin = kind([number], **{name: settings[name] for name in settings if name in taken})
    except Exception:  # a caller's class may want anything: then nothing is known of it
        return []

    def closure() -> Any:
        number.grad = torch.ones_like(number)
        return (number.sum(), (number,)) if getattr(kind, "needs_graph", False) else 1.0

    closure()
    twin.step(closure)
    return list(twin.state.get(number, {}))
