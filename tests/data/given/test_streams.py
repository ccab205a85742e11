"""Streams of Hugging Face: columns of numbers and tokens in batches, each epoch in its order."""

from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.batches.source import BatchSource
from netwright.data.given.given import Given
from netwright.data.given.loaders import LoaderConfig
from netwright.data.given.streams import STREAM, Collate


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
