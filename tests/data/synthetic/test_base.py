"""Made-up data: the same settings give the same bits, and nobody else's random numbers move."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.catalog import SOURCES
from netwright.data.dataset import Data
from netwright.data.synthetic.base import SyntheticConfig, as_data, stream
from tests.repetition import for_each

MADE = ["xor", "moons", "circles", "spirals", "blobs", "line", "polynomial", "teacher"]


def load(name: str, **settings: Any) -> Data:
    source = SOURCES.load(name)
    return source.load(source.config(**settings))


def same_bits(one: Data, other: Data) -> bool:
    return all(
        first.inputs.equal(second.inputs) and first.targets.equal(second.targets)
        for (_, first), (_, second) in zip(one.splits(), other.splits(), strict=True)
    )


@for_each("name", MADE)
def test_the_same_settings_give_the_same_bits(name: str) -> None:
    assert same_bits(load(name), load(name))
    assert not same_bits(load(name), load(name, seed=1))


@for_each("name", MADE)
def test_the_callers_random_numbers_are_left_alone(name: str) -> None:
    before = torch.get_rng_state(), str(np.random.get_state()), random.getstate()
    load(name)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (str(np.random.get_state()), random.getstate()) == before[1:]


@for_each("name", MADE)
def test_the_settings_say_how_many_and_how_they_are_divided(name: str) -> None:
    data = load(name, n=60, val_size=0.25, test_size=0.5)
    assert [len(split) for _, split in data.splits()] == [15, 15, 30]
    assert data.name == name
    other = load(name, n=60, val_size=0.25, test_size=0.5, split_seed=1)
    assert not same_bits(data, other)


@for_each("name", MADE)
def test_inputs_are_left_as_drawn(name: str) -> None:
    data = load(name)
    assert torch.equal(data.preprocessor.encode(data.train.inputs), data.train.inputs)


def test_data_sets_of_one_seed_draw_different_numbers() -> None:
    config = SyntheticConfig()
    first, second, other = (
        torch.rand(3, generator=stream(*given))
        for given in ((config, "a"), (config, "b"), (replace(config, seed=1), "a"))
    )
    assert not torch.equal(first, second)
    assert not torch.equal(first, other)


def test_classes_are_called_by_number_even_where_one_is_not_drawn() -> None:
    config = SyntheticConfig(val_size=0, test_size=0)
    data = as_data("toy", config, torch.zeros(2, 1), torch.tensor([2, 0]), kind="class", classes=3)
    assert data.spec.class_names == ("0", "1", "2")
    assert data.train.targets.tolist() == [2, 0]


@for_each(
    ("name", "settings"),
    [
        *((name, {"n": 10**12}) for name in MADE),
        ("blobs", {"features": 10**9}),
        ("adding", {"length": 10**9}),
        ("reverse", {"length": 10**9}),
    ],
)
def test_more_than_a_table_may_hold_is_refused_before_it_is_drawn(
    name: str, settings: dict[str, int]
) -> None:
    with pytest.raises(DataError, match=r"takes .* GB, at most 4 GB .*CONTENT_GB"):
        load(name, **settings)
