"""A split of a loader is, to all who look at it, the rows that are in memory."""

import torch

from netwright.data.batches.source import BatchSource
from netwright.data.batches.split import SourceSplit
from netwright.data.dataset import Split
from netwright.data.loading.stored import sample_stored
from tests.data.batches.loaders import noisy_loader, rows
from tests.doors.two_inputs import two_inputs_data


def split(batches: int | None = 6) -> SourceSplit:
    inputs, targets = rows(8)
    return SourceSplit(
        inputs=inputs,
        targets=targets,
        weights=None,
        source=BatchSource(noisy_loader()),
        kind="class",
        outputs=2,
        batch_size=4,
        batches=batches,
        is_whole=False,
    )


def test_it_is_the_rows_in_memory() -> None:
    one = split()
    assert len(one) == 8
    assert type(one.in_memory()) is Split
    assert torch.equal(one.take(torch.tensor([3])).inputs, rows(8)[0][3:4])
    assert type(one.with_targets(torch.zeros(8).long(), None)) is Split
    assert repr(one) == "SourceSplit(6 batches of 4; 8 rows in memory)"
    assert "an unknown number of" in repr(split(None))


def test_it_moves_with_its_source() -> None:
    one = split()
    there = one.to(torch.device("meta"))
    assert there.targets.is_meta
    assert there.source is one.source
    assert one.changed(outputs=5).outputs == 5


def test_a_loader_that_may_never_end_is_measured_in_memory() -> None:
    one = split()
    assert one.to_measure() is one
    assert type(split(None).to_measure()) is Split


def test_what_is_shown_of_it_is_in_memory() -> None:
    data = two_inputs_data()
    shown = sample_stored(type(data)(**{**vars(data), "train": split()}), most=3).shown.train
    assert type(shown) is Split
    assert len(shown) == 3
