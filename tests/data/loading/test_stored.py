"""Stored splits: rows are places until they are read, and nothing large is read by accident."""

import re

import pytest
import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data, Split, check_data
from netwright.data.loading.loader import BatchLoader
from netwright.data.loading.stored import StoredSplit, evenly_spaced, sample_stored
from netwright.data.loading.windows import WindowSplit
from netwright.data.pixels import ChannelScaling, PixelSplit
from netwright.data.spec import DataSpec
from tests.data.stored_inputs import Numbered, split_of
from tests.repetition import for_each


class Watched(Numbered):
    """Keeps which rows were read together."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.seen: list[list[int]] = []

    def read(self, rows: Tensor) -> Tensor:
        self.seen.append(rows.tolist())
        return super().read(rows)


class Wide(Numbered):
    """Rows of a million numbers."""

    @property
    def shape(self) -> tuple[int, ...]:
        return (2**20,)


def data(train: Split, test: Split | None = None) -> Data:
    return Data(
        name="toy",
        spec=DataSpec(inputs="features", input_shape=(2,), target="real", num_outputs=1),
        train=train,
        test=test,
        preprocessor=ArrayEncoder(input_shape=(2,), target="real", num_outputs=1),
    )


def test_taking_rows_reads_nothing_and_keeps_targets_and_weights_beside_them() -> None:
    stored = Watched(9)
    split = split_of(stored, weights=torch.arange(1.0, 10.0))
    taken = split.take(torch.tensor([7, 2, 4])).take(torch.tensor([2, 0]))
    moved = taken.to(torch.device("cpu"))
    assert stored.seen == []
    assert len(moved) == 2
    assert moved.inputs.tolist() == [[4, -4], [7, -7]]
    assert moved.targets.tolist() == [40, 70]
    assert moved.weights is not None
    assert moved.weights.tolist() == [5, 8]


def test_an_epoch_reads_no_more_than_a_batch_at_a_time() -> None:
    stored = Watched(7)
    batches = list(BatchLoader(split_of(stored), 3, shuffle=False).epoch(0))
    assert stored.seen == [[0, 1, 2], [3, 4, 5], [6]]
    assert [batch.inputs[:, 0].tolist() for batch in batches] == stored.seen


def test_checking_data_does_not_read_what_is_stored() -> None:
    stored = Watched(6)
    check_data(data(split_of(stored)))
    assert stored.seen == []
    with pytest.raises(DataError, match=r"^toy has 6 train inputs but 5 targets$"):
        check_data(data(StoredSplit(stored=stored, targets=torch.arange(5))))
    assert stored.seen == []


def test_reading_all_of_a_large_split_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.data.loading.stored.MOST_BYTES", 2**30)
    large = split_of(Wide(512))
    sentence = (
        "all 512 stored inputs together take 2.0 GiB, at most 1 GiB are read at once: use fewer "
        "rows, or a model that trains in batches"
    )
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        _ = large.inputs


def test_showing_a_split_does_not_read_it() -> None:
    stored = Watched(6)
    assert repr(split_of(stored)).startswith("StoredSplit(6 rows of ")
    assert stored.seen == []


def test_a_sample_is_in_memory_spread_evenly_and_says_so() -> None:
    small = Split(inputs=torch.zeros(3, 2), targets=torch.zeros(3))
    whole = data(split_of(Numbered(101)), small)
    sample = sample_stored(whole, most=11)
    shown = sample.shown.train
    assert type(shown) is Split
    assert shown.inputs[:, 0].tolist() == list(range(0, 101, 10))
    assert shown.targets.tolist() == list(range(0, 1010, 100))
    assert sample.shown.test is small
    assert sample.whole is whole
    assert sample.described("train") == "11 of the 101 train rows, evenly spaced"
    assert sample.described("test") == ""
    held_out = sample_stored(data(small, split_of(Numbered(101))), most=11).shown.split("test")
    assert held_out.inputs[:, 0].tolist() == list(range(0, 101, 10))


@for_each("most", [1, 7, 100, 101])
def test_a_sample_knows_the_rows_of_the_split_that_it_shows(most: int) -> None:
    sample = sample_stored(data(split_of(Numbered(101))), most)
    rows = sample.rows("train")
    if most == 101:
        assert rows is None
    else:
        assert rows is not None
        assert torch.equal(sample.shown.train.targets, sample.whole.train.targets[rows])


def test_a_small_stored_split_is_shown_as_a_whole() -> None:
    sample = sample_stored(data(split_of(Numbered(5), weights=torch.ones(5))))
    assert len(sample.shown.train) == 5
    assert sample.shown.train.weights is not None
    assert sample.rows("train") is None


def images(count: int) -> PixelSplit:
    """Images of 1 x 1 x 2 pixels that are their place."""
    places = torch.arange(count, dtype=torch.uint8).reshape(-1, 1, 1, 1).expand(count, 1, 1, 2)
    scaling = ChannelScaling(mean=(0.5,), scale=(0.5,))
    return PixelSplit(pixels=places, scaling=scaling, targets=10 * torch.arange(count))


def test_a_sample_of_images_is_spread_evenly_and_stays_bytes() -> None:
    few = images(3)
    sample = sample_stored(data(images(101), few), most=11)
    shown = sample.shown.train
    assert isinstance(shown, PixelSplit)
    assert shown.pixels[:, 0, 0, 0].tolist() == list(range(0, 101, 10))
    assert shown.targets.tolist() == list(range(0, 1010, 100))
    assert sample.shown.test is few


def test_a_sample_of_windows_copies_few_of_them() -> None:
    stream = torch.arange(104)
    few = WindowSplit(stream=stream[:5], window=2, stride=1)
    sample = sample_stored(data(WindowSplit(stream=stream, window=3, stride=1), few), most=11)
    shown = sample.shown.train
    assert type(shown) is Split
    assert shown.inputs[:, 0].tolist() == list(range(0, 101, 10))
    assert torch.equal(shown.targets, shown.inputs + 1)
    assert sample.shown.test is few


@pytest.mark.parametrize("split", [images(101), split_of(Numbered(101))], ids=["bytes", "stored"])
def test_fewer_large_rows_are_shown(monkeypatch: pytest.MonkeyPatch, split: Split) -> None:
    room = 5 * 2 * torch.float32.itemsize  # five rows of two floats
    monkeypatch.setattr("netwright.data.loading.stored.MOST_SHOWN_BYTES", room)
    sample = sample_stored(data(split))
    assert sample.shown.train.targets.tolist() == [0, 250, 500, 750, 1000]
    monkeypatch.setattr("netwright.data.loading.stored.MOST_SHOWN_BYTES", 1)
    assert len(sample_stored(data(split)).shown.train) == 1


@for_each(("total", "most"), [(1, 1), (5, 9), (5, 5), (100, 7), (10_001, 10_000)])
def test_places_are_distinct_in_order_and_as_many_as_asked_for(total: int, most: int) -> None:
    places = evenly_spaced(total, most).tolist()
    assert len(set(places)) == len(places) == min(total, most)
    assert places == sorted(places)
    if most > 1:
        assert (places[0], places[-1]) == (0, total - 1)


def test_other_targets_and_weights_read_nothing() -> None:
    stored = Watched(9)
    before = split_of(stored).take(torch.tensor([7, 2]))
    after = before.with_targets(torch.tensor([1, 2]), torch.ones(2))
    assert isinstance(after, StoredSplit)
    assert stored.seen == []
    assert (after.rows.tolist(), after.targets.tolist()) == ([7, 2], [1, 2])
