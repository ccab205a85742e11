"""Networks that are a stack: layers that are called one after the other, and nothing else."""

from abc import abstractmethod
from collections.abc import Sequence

from torch import nn

# One for all stacks: it has nothing of its own, and to make one takes as long as a layer's step.
FLATTEN = nn.Flatten()


class Stacked(nn.Module):
    """A module that may be a stack, and says so by its kind: a name is anybody's."""

    @abstractmethod
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


def _owner(network: nn.Module, method: str) -> type | None:
    """The class that a method is taken from; None where it is not the class's."""
    return next((kind for kind in type(network).__mro__ if method in vars(kind)), None)
