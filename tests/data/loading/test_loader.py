"""Batches: the order follows from (seed, epoch) alone, and every row comes once an epoch."""

import re
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch, BatchLoader
from netwright.data.loading.windows import WindowSplit
from netwright.data.spec import DataSpec
from netwright.models.mlp import MLP, MLPConfig
from tests.repetition import for_each

PROPERTY = settings(derandomize=True, deadline=None, max_examples=40)
ROWS = st.integers(1, 40)
SEEDS = st.integers(0, 2**62)


def numbered(rows: int, weights: Tensor | None = None) -> Split:
    """Row i is (i, -i) with target 10 i, so that a batch shows where it comes from."""
    numbers = torch.arange(rows)
    inputs = torch.stack((numbers, -numbers), dim=1).float()
    return Split(inputs=inputs, targets=10 * numbers, weights=weights)


def rows_of(batches: list[Batch]) -> list[int]:
    return [row for batch in batches for row in batch.rows.tolist()]


@pytest.mark.covers("minibatch-sampler")
@PROPERTY
@given(ROWS, st.integers(1, 40), SEEDS, st.integers(0, 5))
def test_every_row_comes_once_an_epoch_and_the_seed_gives_the_order_again(
    rows: int, size: int, seed: int, epoch: int
) -> None:
    size = min(size, rows)
    first, again = (BatchLoader(numbered(rows), size, seed=seed) for _ in range(2))
    order = rows_of(list(first.epoch(epoch)))
    assert sorted(order) == list(range(rows))
    torch.rand(3)  # what others draw changes nothing
    assert rows_of(list(first.epoch(epoch))) == rows_of(list(again.epoch(epoch))) == order
    assert first.order(epoch).tolist() == order


def test_without_a_seed_the_order_is_that_of_seed_0() -> None:
    usual, zero = BatchLoader(numbered(50), 10), BatchLoader(numbered(50), 10, seed=0)
    assert torch.equal(usual.order(1), zero.order(1))


def test_order_changes_with_the_seed_and_with_the_epoch() -> None:
    orders = [
        tuple(BatchLoader(numbered(50), 10, seed=seed).order(epoch).tolist())
        for seed in range(4)
        for epoch in range(4)
    ]
    assert len(set(orders)) == 16
    assert tuple(range(50)) not in orders


def test_drawing_an_order_leaves_the_callers_generator_alone() -> None:
    before = torch.get_rng_state()
    list(BatchLoader(numbered(20), 3, seed=7).epoch(2))
    assert torch.equal(torch.get_rng_state(), before)


@PROPERTY
@given(ROWS, st.integers(1, 9), st.integers(1, 3), SEEDS, st.booleans())
def test_the_batches_of_all_ranks_are_together_the_batches_of_one(
    rows: int, size: int, world: int, seed: int, shuffle: bool
) -> None:
    size = min(size, rows)
    world = min(world, size)
    split = numbered(rows)
    alone = BatchLoader(split, size, seed=seed, shuffle=shuffle)
    parts = [
        BatchLoader(split, size, seed=seed, shuffle=shuffle, rank=rank, world=world)
        for rank in range(world)
    ]
    epochs = [list(part.epoch(2)) for part in parts]
    assert {len(part) for part in parts} == {len(epoch) for epoch in epochs} == {len(alone)}
    for number, batch in enumerate(alone.epoch(2)):
        whole = batch.rows.tolist()
        counted = []
        for rank, part in enumerate(parts):
            own, of = part.sizes(number)
            assert of == len(whole)
            assert epochs[rank][number].rows.tolist() == (whole[rank::world] or whole[:1])
            counted += epochs[rank][number].rows.tolist()[:own]
        assert sorted(counted) == sorted(whole)


def test_a_rank_without_a_row_of_the_last_batch_is_given_one_that_does_not_count() -> None:
    loaders = [BatchLoader(numbered(7), 3, shuffle=False, rank=r, world=3) for r in range(3)]
    assert [loader.sizes(0) for loader in loaders] == [(1, 3), (1, 3), (1, 3)]
    assert [loader.sizes(2) for loader in loaders] == [(1, 1), (0, 1), (0, 1)]
    assert [list(loader.epoch(0))[2].rows.tolist() for loader in loaders] == [[6], [6], [6]]


@PROPERTY
@given(ROWS, st.integers(1, 9), st.integers(1, 3), st.data())
def test_starting_at_a_batch_gives_the_tail_of_the_epoch(
    rows: int, size: int, world: int, data: st.DataObject
) -> None:
    size = min(size, rows)
    loader = BatchLoader(numbered(rows), size, seed=3, world=min(world, size))
    start = data.draw(st.integers(0, len(loader)))
    tail, whole = list(loader.epoch(5, start)), list(loader.epoch(5))
    assert [batch.rows.tolist() for batch in tail] == [b.rows.tolist() for b in whole[start:]]


def test_nothing_is_left_after_the_last_batch() -> None:
    # torch.split cuts no rows into one batch of no rows, whose mean loss is NaN.
    loader = BatchLoader(numbered(7), 3)
    assert list(loader.epoch(0, start=3)) == []
    assert len(list(loader.epoch(0, start=2))) == 1


@PROPERTY
@given(ROWS, st.integers(1, 40))
def test_length_is_the_number_of_batches_and_only_the_last_is_smaller(rows: int, size: int) -> None:
    size = min(size, rows)
    loader = BatchLoader(numbered(rows), size)
    sizes = [len(batch.rows) for batch in loader.epoch(0)]
    assert len(loader) == len(sizes)
    assert sizes[:-1] == [size] * (len(sizes) - 1)
    assert sizes[-1] == (rows % size or size)


@pytest.mark.covers("mnist-mlp")
def test_mnist_by_128_is_469_batches_with_96_in_the_last() -> None:
    spec = DataSpec(inputs="image", input_shape=(1, 28, 28), target="class", num_outputs=10)
    model = MLP.build(MLPConfig(hidden=(256, 128)), spec)
    assert sum(parameter.numel() for parameter in model.parameters()) == 235_146
    loader = BatchLoader(numbered(60_000), 128)
    sizes = [len(batch.rows) for batch in loader.epoch(0)]
    assert len(loader) == len(sizes) == 469
    assert sizes[-1] == 96
    assert len(BatchLoader(numbered(48_000), 128)) == 375  # a fifth held out


def test_without_shuffling_rows_come_as_they_stand_every_epoch() -> None:
    loader = BatchLoader(numbered(7), 3, shuffle=False)
    assert [b.rows.tolist() for b in loader.epoch(0)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert rows_of(list(loader.epoch(9))) == list(range(7))
    second = BatchLoader(numbered(7), 3, shuffle=False, rank=1, world=2)
    assert [b.rows.tolist() for b in second.epoch(0)] == [[1], [4], [6]]
    assert second.order(0).tolist() == list(range(7))  # that of all ranks together


def test_inputs_targets_and_weights_travel_with_their_row() -> None:
    weights = torch.arange(1.0, 9.0)  # mean 4.5
    for batch in BatchLoader(numbered(8, weights), 3, seed=1).epoch(4):
        assert batch.inputs[:, 0].tolist() == batch.rows.tolist()
        assert batch.inputs[:, 1].tolist() == (-batch.rows).tolist()
        assert batch.targets.tolist() == (10 * batch.rows).tolist()
        assert batch.weights is not None
        torch.testing.assert_close(batch.weights, (batch.rows + 1) / 4.5)


@PROPERTY
@given(st.lists(st.floats(0.0, 1e3, width=32), min_size=1, max_size=9).filter(any))
def test_weights_have_a_mean_of_one_over_the_split(weights: list[float]) -> None:
    split = numbered(len(weights), torch.tensor(weights))
    parts = [batch.weights for batch in BatchLoader(split, 1).epoch(0)]
    total = sum(float(part) for part in parts if part is not None)
    assert total == pytest.approx(len(weights), rel=1e-5)


def test_no_weights_stay_no_weights() -> None:
    assert all(batch.weights is None for batch in BatchLoader(numbered(5), 2).epoch(0))


def test_a_loader_can_be_used_after_it_was_closed() -> None:
    loader = BatchLoader(numbered(5), 2)
    loader.close()
    assert len(list(loader.epoch(0))) == len(loader) == 3
    assert loader.rows == 5


def test_split_is_left_as_it_was() -> None:
    split = numbered(6, torch.arange(1.0, 7.0))
    for batch in BatchLoader(split, 6, shuffle=False).epoch(0):
        batch.inputs.zero_()
        assert batch.weights is not None
        batch.weights.zero_()
    assert split.inputs[:, 0].tolist() == list(range(6))
    assert split.weights is not None
    assert split.weights.tolist() == [1, 2, 3, 4, 5, 6]


@for_each(
    ("batch_size", "settings", "sentence"),
    [
        (0, {}, "batch_size must lie between 1 and the 5 rows, got 0"),
        (-1, {}, "batch_size must lie between 1 and the 5 rows, got -1"),
        (6, {}, "batch_size must lie between 1 and the 5 rows, got 6"),
        (1, {"rank": 2, "world": 2}, "rank must lie between 0 and 1, got 2"),
        (1, {"rank": -1, "world": 2}, "rank must lie between 0 and 1, got -1"),
        (2, {"world": 3}, "batch_size must be at least 3, a row for each rank, got 2"),
    ],
)
def test_refuses_in_one_sentence(batch_size: int, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        BatchLoader(numbered(5), batch_size, **settings)


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0, -1.0], [1.0, torch.nan]])
def test_refuses_weights_that_have_no_mean_to_divide_by(weights: list[float]) -> None:
    with pytest.raises(DataError, match=r"^weights must not be negative and not all zero, their"):
        BatchLoader(numbered(2, torch.tensor(weights)), 1)


@pytest.mark.parametrize("start", [-1, 4])
def test_refuses_to_start_where_there_is_no_batch(start: int) -> None:
    sentence = f"start must lie between 0 and the 3 batches, got {start}"
    with pytest.raises(ConfigError, match=f"^{sentence}$"):
        list(BatchLoader(numbered(5), 2).epoch(0, start))


@PROPERTY
@given(ROWS, st.integers(1, 40), st.integers(1, 4))
def test_in_lanes_each_row_goes_on_where_the_batch_before_ended(
    rows: int, size: int, window: int
) -> None:
    size = min(size, rows)
    text = WindowSplit(stream=torch.arange(rows * window + 1), window=window, stride=window)
    loader = BatchLoader(text, size, lanes=True)
    batches = list(loader.epoch(0))
    assert sorted(rows_of(batches)) == list(range(rows))
    whole = [batch for batch in batches if len(batch.rows) == size]
    assert len(whole) == rows // size
    for batch, following in pairwise(whole):
        assert torch.equal(batch.targets[:, -1], following.inputs[:, 0])
    assert whole[0].inputs[:, 0].tolist() == [lane * len(whole) * window for lane in range(size)]
    assert rows_of(list(loader.epoch(3))) == rows_of(batches)  # no epoch has another order
    assert rows_of(list(loader.epoch(0, 1))) == rows_of(batches[1:])


@pytest.mark.parametrize(
    ("split", "world", "sentence"),
    [
        (numbered(4), 1, "carry_state is for windows of one long text, these rows are independent"),
        (
            WindowSplit(stream=torch.arange(20), window=4, stride=2),
            1,
            "carry_state needs windows that follow each other, one every 4 tokens, got one every 2",
        ),
        (
            WindowSplit(stream=torch.arange(20), window=4, stride=4),
            2,
            "carry_state trains in one process, got 2",
        ),
    ],
    ids=["no windows", "overlap", "two processes"],
)
def test_rows_that_do_not_go_on_have_no_lanes(split: Split, world: int, sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        BatchLoader(split, 2, world=world, lanes=True)
