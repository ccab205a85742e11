"""A long text as one stream of words, which may lie in a file: read a stretch at a time.

Shapes: L words, N rows, T words of a row; L = N T.
"""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.data.dataset import Split
from netwright.data.text.tokenizer import EOS

Words = NDArray[np.int32]
PART = 2**20  # words that are looked through at a time


class WordStream(Split):
    """A split whose rows are stretches of one text, to learn words from; it has no targets.

    Args:
        words: all of them in their order (L,), by number; they may be mapped from a file.
        row: words of a row, T; L is a multiple of it.
    """

    words: Words

    def __init__(self, words: Words, row: int) -> None:
        rows = torch.from_numpy(words).view(-1, row)
        # What is to be predicted are the words themselves.
        for name, value in {
            "words": words,
            "inputs": rows,
            "targets": rows,
            "weights": None,
        }.items():
            object.__setattr__(self, name, value)  # a split is frozen

    def __repr__(self) -> str:
        return f"WordStream({len(self.words):,} words)"

    def texts(self) -> Iterator[Words]:
        """The texts one after the other, each up to its end (N,); they lie where the words do."""
        begin = 0
        for part in range(0, len(self.words), PART):
            for end in part + np.flatnonzero(self.words[part : part + PART] == EOS):
                yield self.words[begin:end]
                begin = int(end) + 1
        yield self.words[begin:]

    def read(self, rows: Tensor) -> Tensor:
        """Stretches of the text (n, T)."""
        inputs: Tensor = self.inputs
        return inputs[rows.cpu()].long().to(rows.device)

    def check_inputs(self, name: str) -> None:
        """Nothing to do: words are whole numbers."""

    def to(self, device: torch.device) -> "WordStream":
        """The same: it stays where it is, and is read from there."""
        return self
