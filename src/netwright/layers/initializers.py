"""Initial weights by name; most are torch's own, biases start at zero.

"torch" leaves what torch's layers set up themselves (uniform within 1/sqrt(n), biases too).
Source: Glorot and Bengio (2010) for Xavier, He et al. (2015) for He, Saxe et al. (2014) orthogonal.
"""

from collections.abc import Callable

from torch import Tensor, nn

from netwright.core.catalog import Catalog

SMALL = 0.01

INITIALIZERS: Catalog[Callable[[Tensor], Tensor]] = Catalog(
    "initializer",
    {
        "torch": "netwright.layers.initializers:keep",
        "zeros": "torch.nn.init:zeros_",
        "normal": "netwright.layers.initializers:small_normal",
        "uniform": "netwright.layers.initializers:small_uniform",
        "xavier-normal": "torch.nn.init:xavier_normal_",
        "xavier-uniform": "torch.nn.init:xavier_uniform_",
        "he-normal": "torch.nn.init:kaiming_normal_",
        "he-uniform": "torch.nn.init:kaiming_uniform_",
        "orthogonal": "torch.nn.init:orthogonal_",
    },
)


def small_normal(weight: Tensor) -> Tensor:
    """N(0, 0.01^2): small enough that no unit saturates, different enough to break the symmetry."""
    return nn.init.normal_(weight, std=SMALL)


def small_uniform(weight: Tensor) -> Tensor:
    """U(-0.01, 0.01)."""
    return nn.init.uniform_(weight, -SMALL, SMALL)


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
