"""Networks that are a stack: layers that are called one after the other, and nothing else."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from torch import nn


@runtime_checkable
class Stacked(Protocol):
    """A module that may be a stack."""

    def stack(self) -> Sequence[nn.Module] | None:
        """The layers that `forward` calls, in this order; None where it does more than that."""


def layers_in_order(network: nn.Module) -> list[nn.Module] | None:
    """The layers of a stack, those of `nn.Sequential` in it one by one; None: it is no stack.

    Whoever overrides `forward` and not `stack` means another network.
    """
    if type(network) is nn.Sequential:
        layers: Sequence[nn.Module] | None = [*network]
    elif isinstance(network, Stacked) and _owner(network, "stack") is _owner(network, "forward"):
        layers = network.stack()
    else:
        return None
    if layers is None or "forward" in vars(network):
        return None
    found = []
    for layer in layers:
        found += (layers_in_order(layer) or [layer]) if type(layer) is nn.Sequential else [layer]
    return found


def _owner(network: nn.Module, method: str) -> type:
    """The class that a method is taken from."""
    return next(kind for kind in type(network).__mro__ if method in vars(kind))
