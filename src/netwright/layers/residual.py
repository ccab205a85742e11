"""A residual layer: the input, plus a learned deviation that is zero when the weights are.

Shapes: B batch, D features in, E features out.
Source: He et al., "Deep Residual Learning for Image Recognition" (2015), section 3.2.
"""

import torch
from torch import Tensor, nn

from netwright.core.checks import check_fraction
from netwright.core.errors import ConfigError


class Residual(nn.Module):
    """x + (body(x) - rest), where `rest` is the value of the body at zero weights.

    For a body phi(W x + b) the rest is phi(0): subtracting it makes W = b = 0 the identity for the
    sigmoid too, whose phi(0) is 1/2. Where the width changes, x is projected by a matrix V: V x.

    Args:
        body: maps (B, D) to (B, E).
        in_dim: D.
        out_dim: E.
        rest: phi(0), a number.
        dropout: share of the deviation's features dropped while training.
    """

    def __init__(
        self,
        body: nn.Module,
        in_dim: int,
        out_dim: int,
        *,
        rest: float = 0.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        check_fraction("dropout", dropout)
        self.body, self.rest = body, rest
        self.dropout: nn.Module = nn.Dropout(dropout) if dropout else nn.Identity()
        self.skip: nn.Module = (
            nn.Identity() if in_dim == out_dim else nn.Linear(in_dim, out_dim, bias=False)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, D) -> (B, E)."""
        deviation: Tensor = self.body(x)
        if self.rest:
            deviation = deviation - self.rest  # before x is added: at rest exactly 0 is left
        out: Tensor = self.skip(x) + self.dropout(deviation)
        return out


def value_at_zero(activation: nn.Module) -> float:
    """phi(0), the output of an activation at rest."""
    with torch.no_grad():
        return float(activation(torch.zeros(1, dtype=torch.float64)))


@torch.no_grad()
def divide_branches(module: nn.Module) -> None:
    """Divide the weights of the bodies of L residual layers by L, so that they add up to little."""
    layers = [part for part in module.modules() if isinstance(part, Residual)]
    if not layers:
        raise ConfigError("near-identity needs residual layers (residual=true), the model has none")
    for layer in layers:
        for parameter in layer.body.parameters():
            parameter.div_(len(layers))
