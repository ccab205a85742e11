"""A stream of words as a split: rows are views of it, and it stays where it is."""

import numpy as np
import torch

from netwright.data.words.word_stream import WordStream


def test_rows_are_stretches_of_the_text() -> None:
    stream = WordStream(np.arange(12, dtype=np.int32), 4)
    assert len(stream) == 3
    assert stream.read(torch.tensor([2, 0])).tolist() == [[8, 9, 10, 11], [0, 1, 2, 3]]
    assert stream.read(torch.tensor([1])).dtype == torch.int64
    assert stream.to(torch.device("cpu")) is stream
    assert repr(stream) == "WordStream(12 words)"


def test_nothing_is_copied() -> None:
    words = np.zeros(6, dtype=np.int32)
    stream = WordStream(words, 3)
    words[4] = 7
    assert stream.inputs[1].tolist() == [0, 7, 0]
