"""What a model returns where one tensor is not enough."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor
from torch.nn import functional

NEVER = -1e4  # logit of what cannot be, finite also in half precision


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


class UnscoredTokens(NamedTuple):
    """What the logits of tokens are made of: vectors W^T + b.

    Args:
        vectors: of all places (B, T, D).
        weight: W of the head (V, D).
        bias: b of the head (V,); None: it has none.
        first: logits of the first place, where something else than a token is said, one of the
            first few of V numbers (B, n); None: a token is said there, too.
    """

    vectors: Tensor
    weight: Tensor
    bias: Tensor | None = None
    first: Tensor | None = None

    @property
    def logits(self) -> Tensor:
        """All of them at once (B, T, V)."""
        logits = functional.linear(self.vectors, self.weight, self.bias)
        if self.first is None:
            return logits
        first = functional.pad(self.first, (0, len(self.weight) - self.first.shape[1]), value=NEVER)
        return torch.cat((first[:, None].to(logits), logits[:, 1:]), dim=1)


@runtime_checkable
class TokenScorer(Protocol):
    """A language model that can stop short of its logits, so that a loss may make them in parts."""

    def unscored(self, inputs: Any, /) -> UnscoredTokens:
        """What `forward` would make its logits of."""


def logits_of(output: Tensor | Output) -> Tensor:
    """The main output, whichever way the model returns it."""
    return output.logits if isinstance(output, Output) else output
