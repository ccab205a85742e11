"""Pairs of texts that are kept as they were written, beside their tokens.

Tokens are not enough to compare texts by: words that no vocabulary knows are one token, and long
texts lose their end. BLEU is of the texts themselves.

Shapes: N pairs, S source tokens, T target tokens with the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.trees import move, take_rows
from netwright.data.dataset import Split


@dataclass(frozen=True, kw_only=True, repr=False)
class PairSplit(Split):
    """A split of encoded pairs, inputs (N, S + T) and targets (N, T), with their texts.

    Args:
        sources: what is read (N,).
        references: what is to be said of it (N,).
    """

    sources: Sequence[str]
    references: Sequence[str]

    def __post_init__(self) -> None:
        """Refuse texts of other pairs."""
        if not len(self.sources) == len(self.references) == len(self):
            raise DataError(
                f"{len(self)} pairs have as many texts on each side, got {len(self.sources)} and "
                f"{len(self.references)}"
            )

    def take(self, indices: Tensor) -> "PairSplit":
        """The pairs at these places, in this order."""
        places = indices.tolist()
        return PairSplit(
            inputs=take_rows(self.inputs, indices),
            targets=self.targets[indices],
            weights=None if self.weights is None else self.weights[indices],
            sources=[self.sources[place] for place in places],
            references=[self.references[place] for place in places],
        )

    def with_targets(self, targets: Tensor, weights: Tensor | None) -> "PairSplit":
        """The same pairs with other targets and weights."""
        return PairSplit(
            inputs=self.inputs,
            targets=targets,
            weights=weights,
            sources=self.sources,
            references=self.references,
        )

    def to(self, device: torch.device) -> "PairSplit":
        """The same pairs with their tokens on another device."""
        return PairSplit(
            inputs=move(self.inputs, device),
            targets=self.targets.to(device),
            weights=None if self.weights is None else self.weights.to(device),
            sources=self.sources,
            references=self.references,
        )
