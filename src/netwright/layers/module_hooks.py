"""Hooks of a module: who looks at what goes into it, or comes out of it."""

from torch import nn

AROUND_PARTS = "hooks_around_parts"  # how many hooks of a model run around its other methods, too


def has_hooks(module: nn.Module) -> bool:
    """Whether somebody looks at what goes into a module, or comes out of it, either way."""
    return count_hooks(module) > 0


def count_hooks(module: nn.Module) -> int:
    """How many look."""
    ahead = len(module._forward_hooks) + len(module._forward_pre_hooks)
    return ahead + len(module._backward_hooks) + len(module._backward_pre_hooks)


def is_watched(model: nn.Module) -> bool:
    """Whether somebody looks who only sees what passes through the model as a whole."""
    others: int = getattr(model, AROUND_PARTS, 0)
    return count_hooks(model) > others
