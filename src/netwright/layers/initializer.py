"""A named way to start the weights of a layer.

Shapes: a weight is (m, n) of a linear layer, (m, channels, *window) of a convolution, whose n is
channels times window: the numbers that one output is made of.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from netwright.core.card import Card


@dataclass(frozen=True, kw_only=True)
class Initializer:
    """A row's part in the catalog of initializers.

    Args:
        fill: overwrites a weight and gives it back.
        divides_branches: the weights of the branches of L residual layers are then divided by L.
        card: sentence, formula, symbols, source.
    """

    fill: Callable[[Tensor], Tensor]
    divides_branches: bool = False
    card: Card

    def __call__(self, weight: Tensor) -> Tensor:
        """Fill one weight in place."""
        return self.fill(weight)


def fan_in(weight: Tensor) -> int:
    """n, the numbers that one output is made of."""
    return weight[0].numel()
