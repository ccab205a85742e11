"""What may be captured as a CUDA graph: updates in which Python only starts kernels.

A graph replays kernels and nothing else. What Python does between them, or would do otherwise the
next time, is lost without a sign; so all that is a caller's own runs kernel by kernel.
"""

from collections.abc import Sequence

from torch import nn
from torch.optim import Optimizer

from netwright.core.adapted_module import AdaptedModule
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Split
from netwright.layers.module_hooks import has_hooks
from netwright.train.callback import Callback, FunctionCallback, overrides
from netwright.train.own.loss import OwnLoss

OF_EACH_BATCH = ("on_batch_start", "on_before_update", "on_step_end", "on_batch_end")
KNOWN = ("torch.nn", "netwright.", "builtins", "abc", "typing")  # whose classes are no caller's


def reason_against(
    model: nn.Module,
    optimizer: Optimizer,
    callbacks: Sequence[Callback],
    loss: OwnLoss | None = None,
    *,
    trusts_callbacks: bool = False,
) -> str:
    """Why updates cannot be captured, in a few words; empty where they can.

    Args:
        model: what learns.
        optimizer: what moves it.
        callbacks: all that are called beside the updates.
        loss: the caller's own, where it is one.
        trusts_callbacks: those of the caller's own are said to change nothing that a graph holds:
            which weights learn, a rate of dropout, the tensors of weights and moments.
    """
    for callback in callbacks:
        name = type(callback).__name__
        if isinstance(callback, FunctionCallback):
            name = f"the function at {callback.event}"
            if callback.event in {"on_batch_start", "on_before_update"}:
                return f"{name} has a part in each update"
        elif overrides(callback, "on_batch_start") and not callback.only_changes_batch:
            return f"{name} has a part in each batch"
        if _is_own(callback) and not trusts_callbacks:
            return f"{name} is a callback of your own, which may change what a graph holds"
    if _is_looked_at(optimizer):
        return "the optimizer has hooks"
    names = _own_parts(model, loss)
    return f"{names[0]} may do more in Python than start kernels" if names else ""


def may_repeat(
    train: Split,
    model: nn.Module,
    optimizer: Optimizer,
    callbacks: Sequence[Callback],
    loss: OwnLoss | None = None,
) -> bool:
    """Whether a run may take a few batches again, and only what is ours would know.

    Args:
        train: what is learned from.
        model: what learns; one of the caller's own may count its passes.
        optimizer: what moves it.
        callbacks: all that are called beside the updates.
        loss: the caller's own, where it is one.
    """
    if isinstance(train, SourceSplit) or _is_looked_at(optimizer) or _own_parts(model, loss):
        return False
    return not any(
        _is_own(callback) and any(overrides(callback, event) for event in OF_EACH_BATCH)
        for callback in callbacks
    )


def _own_parts(model: nn.Module, loss: OwnLoss | None) -> list[str]:
    """The names of modules, and of the loss, in which code of the caller's may run."""
    parts = [*([model.own] if isinstance(model, AdaptedModule) else []), *model.modules()]
    names = [type(part).__name__ for part in parts if not _only_starts_kernels(part)]
    if loss is not None:
        function = loss.function
        if not isinstance(function, nn.Module) or not _only_starts_kernels(function):
            names.append(f"the loss {loss.name}")
    return names


def _is_looked_at(optimizer: Optimizer) -> bool:
    return bool(optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks)


def _only_starts_kernels(module: nn.Module) -> bool:
    """Whether a pass through this module does the same each time, and nothing of a caller's."""
    hooks: list[object] = [has_hooks(module)]
    for weight in module.parameters(recurse=False):
        hooks += [weight._backward_hooks, getattr(weight, "_post_accumulate_grad_hooks", None)]
    # A parametrized module has a class of torch's own, whose base is the module's.
    is_known = all(map(_is_known_class, type(module).__mro__))
    return is_known and "forward" not in vars(module) and not any(hooks)


def _is_own(callback: Callback) -> bool:
    return isinstance(callback, FunctionCallback) or not _is_known_class(type(callback))


def _is_known_class(kind: type) -> bool:
    return kind.__module__.startswith(KNOWN)
