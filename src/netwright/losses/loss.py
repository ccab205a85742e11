"""A named loss: a function of outputs and targets for each kind of target, and its card.

Shapes: B batch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol

from torch import Tensor

from netwright.core.card import Card
from netwright.core.checks import is_finite_number, nearest
from netwright.core.errors import ConfigError

Reduction = Literal["none", "mean", "sum"]
TargetKind = Literal["class", "labels", "real", "mask", "boxes", "tokens", "tags"]


class LossFunction(Protocol):
    """Outputs (B, ...) and targets of B examples -> one loss each (B,), their mean or their sum."""

    def __call__(self, outputs: Tensor, targets: Tensor, reduction: Reduction = "none") -> Tensor:
        """The losses, their mean or their sum."""


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A row's part in the catalog of losses.

    Args:
        of: target kind -> the loss for such targets.
        card: sentence, formula, symbols, source.
        options: a number that the functions take -> what checks it: delta, gamma.
    """

    of: Mapping[TargetKind, LossFunction]
    card: Card
    options: Mapping[str, Callable[[str, float], None]] = field(default_factory=dict)

    def function(
        self, name: str, kind: TargetKind, options: Mapping[str, Any] | None = None
    ) -> LossFunction:
        """The loss for such targets; where there is none, it is refused by this name."""
        if kind not in self.of:
            kinds = " or ".join(repr(known) for known in self.of)
            raise ConfigError(f"the loss {name!r} is for targets of kind {kinds}, not {kind!r}")
        if not options:
            return self.of[kind]
        for option, value in options.items():
            self._check_option(name, option, value)
        return partial(self.of[kind], **options)

    def _check_option(self, name: str, option: str, value: Any) -> None:
        if option not in self.options:
            known = ", ".join(self.options) or "none"
            hint = nearest(option, self.options) or f"; there are {known}"
            raise ConfigError(f"unknown option {option!r} of the loss {name!r}{hint}")
        if not is_finite_number(value):
            raise ConfigError(f"{option} of the loss {name!r} must be a number, got {value!r:.60}")
        self.options[option](f"{option} of the loss {name!r}", value)


def reduce(losses: Tensor, reduction: Reduction) -> Tensor:
    """Losses (B,) as they are, their mean or their sum."""
    match reduction:
        case "none":
            return losses
        case "mean":
            return losses.mean()
        case "sum":
            return losses.sum()
        case _:
            raise ConfigError(f"reduction must be 'none', 'mean' or 'sum', got {reduction!r}")
