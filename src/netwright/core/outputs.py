"""What a model returns where one tensor is not enough."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Output:
    """Logits, and what training or a viewer may want beside them.

    Args:
        logits: the main output, (B, C) or (B, ...).
        aux: logits of auxiliary heads, nearest the input first.
        whole: all that a module of the user's own returned, where its loss wants that; else None.
    """

    logits: Tensor
    aux: tuple[Tensor, ...] = ()
    whole: Any = None


def logits_of(output: Tensor | Output) -> Tensor:
    """The main output, whichever way the model returns it."""
    return output.logits if isinstance(output, Output) else output
