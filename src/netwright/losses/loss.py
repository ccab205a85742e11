"""A named loss: a function of outputs and targets for each kind of target, and its card.

Shapes: B batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from torch import Tensor

from netwright.core.card import Card
from netwright.core.errors import ConfigError

Reduction = Literal["none", "mean"]
TargetKind = Literal["class", "labels", "real", "mask", "tokens", "tags"]


class LossFunction(Protocol):
    """Outputs (B, ...) and targets of B examples -> one loss each (B,), or their mean."""

    def __call__(self, outputs: Tensor, targets: Tensor, reduction: Reduction = "none") -> Tensor:
        """The losses, or their mean."""


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A row's part in the catalog of losses.

    Args:
        of: target kind -> the loss for such targets.
        card: sentence, formula, symbols, source.
    """

    of: Mapping[TargetKind, LossFunction]
    card: Card

    def function(self, name: str, kind: TargetKind) -> LossFunction:
        """The loss for such targets; where there is none, it is refused by this name."""
        if kind not in self.of:
            kinds = " or ".join(repr(known) for known in self.of)
            raise ConfigError(f"the loss {name!r} is for targets of kind {kinds}, not {kind!r}")
        return self.of[kind]


def reduce(losses: Tensor, reduction: Reduction) -> Tensor:
    """Losses (B,) as they are, or their mean."""
    return losses if reduction == "none" else losses.mean()
