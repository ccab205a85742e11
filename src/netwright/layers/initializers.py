"""Initial weights by name; all are torch's own, biases start at zero.

"torch" leaves what torch's layers set up themselves (uniform within 1/sqrt(n), biases too).
Source: Glorot and Bengio (2010) for Xavier, He et al. (2015) for He, Saxe et al. (2014) orthogonal.
"""

from collections.abc import Callable

from torch import Tensor, nn

from netwright.core.catalog import Catalog

INITIALIZERS: Catalog[Callable[[Tensor], Tensor]] = Catalog(
    "initializer",
    {
        "torch": "netwright.layers.initializers:keep",
        "zeros": "torch.nn.init:zeros_",
        "normal": "torch.nn.init:normal_",
        "uniform": "torch.nn.init:uniform_",
        "xavier-normal": "torch.nn.init:xavier_normal_",
        "xavier-uniform": "torch.nn.init:xavier_uniform_",
        "he-normal": "torch.nn.init:kaiming_normal_",
        "he-uniform": "torch.nn.init:kaiming_uniform_",
        "orthogonal": "torch.nn.init:orthogonal_",
    },
)


def keep(weight: Tensor) -> Tensor:
    """The weight as torch made it."""
    return weight


def initialize(module: nn.Module, name: str) -> None:
    """Set the weights of every linear layer in a module; "torch" changes nothing."""
    fill = INITIALIZERS.load(name)
    if fill is keep:
        return
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            fill(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
