"""Hooks of a module: who looks at what goes into it, or comes out of it."""

from torch import nn


def has_hooks(module: nn.Module) -> bool:
    """Whether somebody looks at what goes into a module, or comes out of it, either way."""
    ahead = module._forward_hooks or module._forward_pre_hooks
    return bool(ahead or module._backward_hooks or module._backward_pre_hooks)
