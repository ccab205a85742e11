"""Pairs keep their texts through everything that is done with a split."""

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.loading.paired_texts import PairSplit

SPLIT = PairSplit(
    inputs=torch.arange(6).view(3, 2),
    targets=torch.arange(3)[:, None],
    sources=["a", "b", "c"],
    references=["x", "y", "z"],
)


def test_texts_stay_with_their_tokens() -> None:
    taken = SPLIT.take(torch.tensor([2, 0]))
    for split in (taken, taken.to(torch.device("cpu")), taken.with_targets(taken.targets, None)):
        assert (list(split.sources), list(split.references)) == (["c", "a"], ["z", "x"])
        assert split.inputs.tolist() == [[4, 5], [0, 1]]
        assert split.targets.tolist() == [[2], [0]]


def test_texts_of_other_pairs_are_refused() -> None:
    with pytest.raises(DataError, match="3 pairs have as many texts on each side, got 3 and 1"):
        PairSplit(
            inputs=SPLIT.inputs, targets=SPLIT.targets, sources=SPLIT.sources, references=["x"]
        )
