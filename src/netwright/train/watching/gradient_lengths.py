"""The length of each gradient of an update, which several look at and one computes.

Gradients of a small network on a CPU are read as fast as a row of the history is made; who guards
the weights has read them all, and its numbers serve who writes rows and who watches the layers.
"""

from collections.abc import Sequence
from operator import is_

import torch
from torch import Tensor

from netwright.train.watching.lengths import lengths_of


class GradientLengths:
    """Keeps the lengths of the last gradients on a CPU as long as they hold the same numbers."""

    def __init__(self) -> None:
        self._gradients: list[Tensor] = []
        self._versions: list[int] = []
        self._lengths = torch.zeros(0)

    def of(self, gradients: Sequence[Tensor]) -> Tensor:
        """Of each one number in float32 (n,), on their device; nothing waits for it."""
        if not all(gradient.is_cpu for gradient in gradients):
            return lengths_of(gradients)  # what is queued in a graph is not of one update
        versions = [gradient._version for gradient in gradients]  # moved by writing into it
        if versions != self._versions or not all(map(is_, gradients, self._gradients)):
            self._lengths = lengths_of(gradients)
            self._gradients, self._versions = list(gradients), versions
        return self._lengths

    def forget(self) -> None:
        """The gradients are gone: their memory is not held."""
        self._gradients, self._versions = [], []
