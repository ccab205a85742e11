"""Streams of Hugging Face: columns of numbers and tokens in batches, each epoch in its order."""

import json
from collections import Counter
from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError, DataError, RunError
from netwright.data.batches.source import BatchSource, Place
from netwright.data.batches.split import SourceSplit
from netwright.data.given.given import Given
from netwright.data.given.loaders import LoaderConfig
from netwright.data.given.streams import STREAM, Collate, can_be_entered
from netwright.data.loading.worker_loader import build_loader
from netwright.train.callbacks.keep_batches import KeepBatches


def test_columns_of_tokens_are_filled_up_and_texts_left_out() -> None:
    rows = [
        {"text": "a", "input_ids": [1], "labels": [2]},
        {"text": "b", "input_ids": [3, 4], "labels": [0, 1]},
    ]
    batch = Collate("")(rows)
    assert list(batch) == ["input_ids", "attention_mask", "labels"]
    assert batch["labels"].tolist() == [[2, -100], [0, 1]]
    assert Collate("")([{"size": 1.5, "label": 1}])["label"].tolist() == [1]
    named = Collate("tags")(
        [{"input_ids": [1], "tags": [2]}, {"input_ids": [3, 4], "tags": [0, 1]}]
    )
    assert named["tags"].tolist() == [[2, -100], [0, 1]]


def test_tokens_alone_are_their_own_targets() -> None:
    batch = Collate("")([{"input_ids": [1]}, {"input_ids": [3, 4]}])
    assert batch["labels"].tolist() == [[1, -100], [3, 4]]


def test_rows_without_numbers_are_refused_with_the_way_that_works() -> None:
    with pytest.raises(DataError, match=r"got text: give stream\.map\(\.\.\.\) with a tokenizer"):
        Collate("")([{"text": "a"}])


def test_vectors_are_read_where_there_are_no_tokens() -> None:
    rows = [
        {"x": [1.0, 2.5], "uneven": [0.5], "label": 0},
        {"x": [3.0, 4.0], "uneven": [], "label": 1},
    ]
    batch = Collate("")(rows)
    assert list(batch) == ["x", "label"]
    assert batch["x"].tolist() == [[1.0, 2.5], [3.0, 4.0]]
    beside = Collate("")([{"input_ids": [1], "x": [0.5], "label": 0}])
    assert list(beside) == ["input_ids", "label"]


def test_the_first_batch_tells_which_columns_are_vectors() -> None:
    collate = Collate("")
    collate([{"x": [1.0], "uneven": [0.5], "label": 0}, {"x": [2.0], "uneven": [], "label": 1}])
    assert list(collate([{"x": [3.0], "uneven": [0.5], "label": 1}])) == ["x", "label"]
    sentence = "column 'x' of a stream must have vectors of one length, as in its first 32 rows"
    for rows in (
        [{"x": [1.0], "label": 0}, {"x": [2.0, 3.0], "label": 1}],
        [{"x": None, "label": 0}],
        [{"label": 0}],
    ):
        with pytest.raises(DataError, match=sentence):
            collate(rows)


def test_a_target_of_texts_is_refused_by_its_name() -> None:
    sentence = r"column 'kind' of a stream must have numbers or tokens, got 'cat': give stream\.map"
    with pytest.raises(DataError, match=sentence):
        Collate("kind")([{"size": 1.5, "kind": "cat"}])


def stream(rows: int = 12) -> Any:
    datasets = pytest.importorskip("datasets")
    columns = {
        "size": [float(row) for row in range(rows)],
        "label": [row % 2 for row in range(rows)],
    }
    return datasets.Dataset.from_dict(columns).to_iterable_dataset()


def test_a_stream_and_its_dict_are_recognised() -> None:
    datasets = pytest.importorskip("datasets")
    assert STREAM.recognises(stream())
    splits = datasets.IterableDatasetDict({"train": stream(), "test": stream(4)})
    assert STREAM.recognises(splits)
    data = STREAM.load(STREAM.unpack(Given(data=splits)), LoaderConfig())
    assert len(data.train) == 12
    assert len(data.split("test")) == 4
    with pytest.raises(ConfigError, match="validation must be an IterableDataset as the data is"):
        STREAM.load(Given(data=stream(), validation=[1]), LoaderConfig())


def test_a_shuffled_stream_has_another_order_each_epoch_and_repeats() -> None:
    shuffled = stream().shuffle(seed=0, buffer_size=12)
    source = BatchSource(torch.utils.data.DataLoader(shuffled, 12, collate_fn=Collate("")))

    def order(epoch: int) -> Any:
        (batch,) = source.read(0, epoch, 1)
        return batch.inputs.tolist()

    assert order(0) == order(0)
    assert order(0) != order(1)


ROWS = 150


def counted_stream(mapped: list[int], *, shuffled: bool = False, begin: int = 0) -> Any:
    """Rows with their number, of 4 shards; those that are read are noted."""
    datasets = pytest.importorskip("datasets")
    columns = {"size": [float(begin + row) for row in range(ROWS)], "label": [0, 1] * (ROWS // 2)}
    rows = datasets.Dataset.from_dict(columns).to_iterable_dataset(num_shards=4)

    def note(row: dict[str, Any]) -> dict[str, Any]:
        mapped.append(int(row["size"]))
        return row

    noted = rows.map(note)
    return noted.shuffle(seed=0, buffer_size=20) if shuffled else noted


def train_of(stream: Any, batches: int = -(-ROWS // 32)) -> SourceSplit:
    train = STREAM.load(Given(data=stream), LoaderConfig()).train
    assert isinstance(train, SourceSplit)
    return train.changed(batches=batches)


def sizes(batches: Any) -> list[int]:
    return [int(size) for batch in batches for size in batch.inputs.flatten().tolist()]


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("world", [1, 2, 3])
def test_every_row_comes_once_an_epoch_on_any_number_of_ranks(world: int, shuffled: bool) -> None:
    read = []
    for rank in range(world):
        train = train_of(counted_stream([], shuffled=shuffled))
        loader = build_loader(train, 32, rank=rank, world=world)
        counted = 0
        for number, batch in enumerate(loader.epoch(0)):
            ours, whole = loader.sizes(number)
            counted += whole
            read += sizes([batch])[:ours]
        assert counted == ROWS
    assert Counter(read) == Counter(range(ROWS))


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_stream_is_entered_where_a_run_stopped(shuffled: bool) -> None:
    first = train_of(counted_stream([], shuffled=shuffled))
    batches = build_loader(first, 32).epoch(1)
    before = sizes([next(batches), next(batches)])
    kept = KeepBatches(first.source, may_differ=False, quiet=True).state_dict()
    assert bool(kept["stream"]) == (not shuffled)
    mapped: list[int] = []
    again = train_of(counted_stream(mapped, shuffled=shuffled))
    KeepBatches(again.source, may_differ=False, quiet=True).load_state_dict(
        json.loads(json.dumps(kept))
    )
    mapped.clear()
    after = sizes(build_loader(again, 32).epoch(1, start=2))
    assert Counter(before + after) == Counter(range(ROWS))
    assert after == sizes(batches)
    if not shuffled:  # what was read is not read again, but for the first batch
        assert sorted(mapped) == sorted(before[:32] + after)


@pytest.mark.parametrize("epoch", [0, 1])
@pytest.mark.parametrize("stop", [2, 5])
def test_an_epoch_longer_than_its_stream_goes_on_with_all_its_rows(stop: int, epoch: int) -> None:
    first = train_of(counted_stream([]), batches=13)  # of which 5 are a turn
    batches = build_loader(first, 32).epoch(epoch)
    for _ in range(stop):
        next(batches)
    kept = KeepBatches(first.source, may_differ=False, quiet=True).state_dict()
    assert kept["stream"]
    again = train_of(counted_stream([]), batches=13)
    KeepBatches(again.source, may_differ=False, quiet=True).load_state_dict(kept)
    assert sizes(build_loader(again, 32).epoch(epoch, start=stop)) == sizes(batches)


def test_streams_made_of_shuffled_ones_are_read_again() -> None:
    datasets = pytest.importorskip("datasets")
    plain, shuffled = counted_stream([]), counted_stream([], shuffled=True)
    assert can_be_entered(plain.skip(3).take(50).filter(bool))
    assert can_be_entered(datasets.concatenate_datasets([plain, plain]))
    assert can_be_entered(datasets.interleave_datasets([plain, plain]))
    assert not can_be_entered(shuffled.map(dict))
    assert not can_be_entered(datasets.concatenate_datasets([plain, shuffled]))
    assert not can_be_entered(datasets.interleave_datasets([shuffled, plain]).map(dict))


def test_the_place_of_another_stream_is_told_in_a_sentence() -> None:
    train = train_of(counted_stream([]))
    next(build_loader(train, 32).epoch(0))
    first = train.source.kept_place().first
    train.source.place = Place(0, 2, 0, '{"examples_iterable": 7}', first)
    with pytest.raises(RunError, match="the loader failed on batch 0 of epoch 1: KeyError"):
        next(iter(build_loader(train, 32).epoch(0, start=2)))


def test_a_stream_of_other_rows_is_not_entered() -> None:
    first = train_of(counted_stream([]))
    batches = build_loader(first, 32).epoch(1)
    assert len([next(batches), next(batches)]) == 2
    kept = KeepBatches(first.source, may_differ=False, quiet=True).state_dict()
    other = train_of(counted_stream([], begin=500))
    KeepBatches(other.source, may_differ=False, quiet=True).load_state_dict(kept)
    with pytest.raises(DataError, match="the 2 of epoch 2 are not those that this run has used"):
        next(build_loader(other, 32).epoch(1, start=2))
    KeepBatches(other.source, may_differ=True, quiet=True).load_state_dict(kept)
    assert sizes(build_loader(other, 32).epoch(1, start=2)) == [500 + one for one in sizes(batches)]
    assert other.source.differs
