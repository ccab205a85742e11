"""Toy pairs: what they ask for, exactly so many, each once, and the same for the same seed."""

from collections import Counter

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.data.spec import IGNORED
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.tokenizer import EOS

SMALL = {"n": 300, "length": 5, "symbols": 6}


def strings(data: Data) -> dict[str, list[tuple[str, str]]]:
    """Source and target of every pair, by split."""
    encoder = data.preprocessor
    assert isinstance(encoder, PairEncoder)
    return {
        name: [(row["source"], row["target"]) for row in encoder.decode(split.inputs)]
        for name, split in data.splits()
    }


@pytest.mark.parametrize("name", ["reverse", "copy"])
def test_targets_are_the_sources_backwards_or_as_they_are(name: str) -> None:
    data = load(name, **SMALL)
    pairs = [pair for part in strings(data).values() for pair in part]
    assert all(
        target == (source[::-1] if name == "reverse" else source) for source, target in pairs
    )
    assert isinstance(data.preprocessor, PairEncoder)
    said = data.preprocessor.write(data.train.targets)
    assert said == [target for _, target in strings(data)["train"]]


def test_a_prefix_says_which_of_two_tasks_a_string_has() -> None:
    found = [pair for part in strings(load("prefixed", **SMALL)).values() for pair in part]
    tasks = Counter(source.partition(": ")[0] for source, _ in found)
    assert tasks == {"copy": 150, "reverse": 150}
    for source, target in found:
        task, _, string = source.partition(": ")
        assert target == (string if task == "copy" else string[::-1])


def test_no_string_occurs_twice_in_whatever_split() -> None:
    found = strings(load("reverse", **SMALL))
    assert {name: len(pairs) for name, pairs in found.items()} == {
        "train": 210,
        "val": 30,
        "test": 60,
    }
    assert len({source for pairs in found.values() for source, _ in pairs}) == 300


def test_every_length_is_as_likely_and_every_letter_too() -> None:
    data = load("copy", n=6000, length=8, min_length=5, val_size=0, test_size=0)
    sources = [source for source, _ in strings(data)["train"]]
    lengths = Counter(map(len, sources))
    assert sorted(lengths) == [5, 6, 7, 8]
    assert all(abs(count - 1500) < 4 * (6000 * 0.25 * 0.75) ** 0.5 for count in lengths.values())
    letters = Counter("".join(sources))
    assert len(letters) == 26
    assert max(letters.values()) < 1.2 * min(letters.values())


def test_the_end_counts_and_what_comes_after_it_does_not() -> None:
    data = load("reverse", **SMALL)
    lengths = (data.train.inputs[:, :5] > 0).sum(dim=1)
    assert torch.equal((data.train.targets != IGNORED).sum(dim=1), lengths + 1)
    assert bool((data.train.targets.gather(1, lengths[:, None]) == EOS).all())


def test_the_seed_draws_the_strings_and_the_split_seed_divides_them() -> None:
    first, same = load("reverse", **SMALL), load("reverse", **SMALL)
    assert torch.equal(first.train.inputs, same.train.inputs)
    other, divided = load("reverse", **SMALL, seed=1), load("reverse", **SMALL, split_seed=1)
    assert not torch.equal(first.train.inputs, other.train.inputs)

    def all_sources(data: Data) -> set[str]:
        return {source for part in strings(data).values() for source, _ in part}

    assert strings(first)["test"] != strings(divided)["test"]
    assert all_sources(first) == all_sources(divided) != all_sources(other)


def test_parts_without_a_row_are_none() -> None:
    whole = load("copy", **SMALL, val_size=0, test_size=0)
    assert (whole.val, whole.test) == (None, None)


def test_strings_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"^data\.min_length must be at most length, got 7 and 6$"
    ):
        load("reverse", length=6, min_length=7)
    with pytest.raises(
        ConfigError, match=r"^data\.n must be at most half of the 84 different strings, got 43$"
    ):
        load("reverse", n=43, length=3, symbols=4)
    assert len(load("reverse", n=42, length=3, symbols=4, test_size=0, val_size=0).train) == 42
