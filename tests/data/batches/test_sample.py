"""The first batches are kept: all of few, some of many, of one shape where shapes differ."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

from netwright.core.errors import DataError
from netwright.core.trees import tensors_of
from netwright.data.batches import sample
from netwright.data.batches.reading import RawBatch
from netwright.data.batches.sample import sample_batches
from netwright.data.batches.source import BatchSource
from tests.data.batches.loaders import ROWS, Stream, noisy_loader


def batch(length: int, rows: int = 2) -> Any:
    return torch.zeros(rows, length), torch.arange(rows)


def test_a_small_loader_is_kept_whole() -> None:
    kept = sample_batches(BatchSource(noisy_loader()))
    assert kept.is_all
    assert (kept.batches, kept.batch_size) == (6, 4)
    assert kept.inputs.shape == (ROWS, 3)
    assert kept.shapes == ((3,),)
    ended = sample_batches(BatchSource(DataLoader(Stream(), batch_size=4)))
    assert ended.is_all


@pytest.mark.parametrize(
    ("limit", "most", "batches"),
    [("MOST_BATCHES", 2, 2), ("MOST_ROWS", 5, 2), ("MOST_BYTES", 1, 1)],
)
def test_of_a_large_one_the_first_batches_are_kept(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, batches: int
) -> None:
    monkeypatch.setattr(sample, limit, most)
    for loader in (noisy_loader(), DataLoader(Stream(endless=True), batch_size=4)):
        kept = sample_batches(BatchSource(loader))
        assert kept.batches == batches
        assert len(kept.inputs) == 4 * batches
        assert not kept.is_all


def test_no_batch_is_held_in_the_memory_of_its_loader() -> None:
    memory: Any = torch.zeros(2, 1).share_memory_()  # type: ignore[no-untyped-call]

    def batches() -> Iterator[Any]:
        for number in range(3):
            yield memory.fill_(number), torch.arange(2)

    class Reuses:
        def __iter__(self) -> Iterator[Any]:
            return batches()

    kept = sample_batches(BatchSource(Reuses()))
    assert kept.inputs.flatten().tolist() == [0, 0, 1, 1, 2, 2]
    copied: list[Any] = tensors_of(sample._copied(RawBatch(memory, {"a": memory}, memory)))
    assert not any(part.is_shared() for part in copied)


def test_where_shapes_differ_the_commonest_is_kept() -> None:
    kept = sample_batches(BatchSource([batch(5), batch(7), batch(7), batch(3)]))
    assert kept.inputs.shape == (4, 7)
    assert kept.rows == 8
    assert kept.shapes == ((-1,),)


def test_targets_of_each_token_are_filled_up_and_others_are_none() -> None:
    rows = [torch.ones(2, 3).long(), torch.ones(2, 5).long()]
    kept = sample_batches(BatchSource([(tokens, tokens) for tokens in rows]))
    assert kept.all_targets is not None
    assert kept.all_targets[0].tolist() == [1, 1, 1, -100, -100]
    assert kept.targets is not None
    assert kept.targets.shape == (2, 3)
    assert sample_batches(BatchSource([(rows[0],)])).all_targets is None
    several = sample_batches(BatchSource([(rows[0], {"a": rows[0], "b": torch.ones(2)})]))
    assert several.targets is None
    assert several.shapes == ((3,),)


def test_weights_are_kept_where_all_batches_have_them() -> None:
    weighed = (torch.zeros(2, 1), torch.arange(2), torch.ones(2))
    kept = sample_batches(BatchSource([weighed, weighed]))
    assert kept.weights is not None
    assert len(kept.weights) == 4


def test_batches_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(DataError, match="the loader gives no batch"):
        sample_batches(BatchSource([]))
    with pytest.raises(DataError, match="the same parts, each with as many dimensions"):
        sample_batches(BatchSource([batch(5), (torch.zeros(2, 3, 3), torch.arange(2))]))
    columns = (torch.zeros(2, 3), torch.zeros(2, 2)), (torch.zeros(2, 3), torch.zeros(2, 4))
    with pytest.raises(DataError, match=r"one shape in all batches, got \(2,\) and \(4,\)"):
        sample_batches(BatchSource(list(columns)))
