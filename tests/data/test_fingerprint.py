"""Fingerprints tell rows and their order apart, see every bit, and read nothing that is stored."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from netwright.core.seeding import random_state
from netwright.data import fingerprint as module
from netwright.data.dataset import Split
from netwright.data.fingerprint import fingerprint
from netwright.data.loading.stored import StoredSplit
from netwright.data.loading.windows import WindowSplit
from netwright.data.pixels import ChannelScaling, PixelSplit
from tests.data.stored_inputs import Noisy, Numbered, split_of
from tests.repetition import for_each
from tests.train.toy_runs import assert_same


def table(rows: int = 10, features: int = 3, **kinds: torch.dtype) -> Split:
    random = torch.Generator().manual_seed(0)
    inputs = torch.randint(0, 200, (rows, features), generator=random)
    targets = torch.randint(0, 3, (rows,), generator=random)
    return Split(inputs=inputs.to(kinds.get("inputs", torch.float32)), targets=targets)


def changed(split: Split, name: str, place: tuple[int, ...], by: float) -> Split:
    values = getattr(split, name).clone()
    values[place] += by
    return replace(split, **{name: values})


def test_equal_rows_give_equal_texts() -> None:
    assert fingerprint(table()) == fingerprint(table())
    assert fingerprint(table())["count"] == 10


def test_the_texts_of_runs_that_are_stored_stay_true() -> None:
    # A run is taken up again only where its rows have the fingerprint that its folder holds.
    inputs = torch.tensor([[1.5, -2.0, 100.0], [0.25, 3.0, -7.0], [4.0, 1e-3, 0.0]])
    split = Split(
        inputs=inputs, targets=torch.tensor([2, 0, 1]), weights=torch.tensor([1.0, 2.0, 0.5])
    )
    assert fingerprint(split) == {
        "count": 3,
        "rows": "48d6bedc89aefb30",
        "order": "14240bb343383b1a",
    }


def test_another_order_changes_the_order_and_not_the_rows() -> None:
    split = table()
    turned = fingerprint(split.take(torch.arange(10).flip(0)))
    straight = fingerprint(split)
    assert turned["rows"] == straight["rows"]
    assert turned["order"] != straight["order"]


@pytest.mark.parametrize(
    ("name", "place", "by"),
    [("inputs", (0, 0), 1e-5), ("inputs", (9, 2), -1.0), ("targets", (4,), 1)],
)
def test_one_number_changes_both(name: str, place: tuple[int, ...], by: float) -> None:
    split = table()
    before, after = fingerprint(split), fingerprint(changed(split, name, place, by))
    assert before["rows"] != after["rows"]
    assert before["order"] != after["order"]


def test_weights_count() -> None:
    split = table()
    ones = replace(split, weights=torch.ones(10))
    texts = [fingerprint(part)["rows"] for part in (split, ones, changed(ones, "weights", (3,), 1))]
    assert len(set(texts)) == 3


def test_two_rows_that_exchange_a_value_are_other_rows() -> None:
    split = table()
    inputs = split.inputs.clone()
    inputs[2, 1], inputs[7, 1] = split.inputs[7, 1], split.inputs[2, 1]
    assert fingerprint(replace(split, inputs=inputs))["rows"] != fingerprint(split)["rows"]


def test_two_columns_that_change_places_are_other_rows() -> None:
    split = table()
    turned = replace(split, inputs=split.inputs.flip(1))
    assert fingerprint(turned)["rows"] != fingerprint(split)["rows"]


def test_how_often_a_row_is_there_counts() -> None:
    split = table()
    often, rarely = split.take(torch.tensor([0, 0, 1])), split.take(torch.tensor([0, 1, 1]))
    assert fingerprint(often)["rows"] != fingerprint(rarely)["rows"]


@for_each("kind", [torch.uint8, torch.float16, torch.float32, torch.float64])
def test_every_width_of_number_will_do(kind: torch.dtype) -> None:
    split = table(inputs=kind)
    assert fingerprint(split) == fingerprint(table(inputs=kind))
    assert fingerprint(split) != fingerprint(changed(split, "inputs", (5, 1), 1))


def test_inverted_bits_are_other_rows() -> None:
    split = table(features=8, inputs=torch.uint8)
    inverted = replace(split, inputs=255 - split.inputs)
    assert fingerprint(inverted)["rows"] != fingerprint(split)["rows"]


def test_no_flipped_bit_goes_unseen() -> None:
    split = table()
    whole, words = fingerprint(split), split.inputs.view(torch.int32)
    for place in range(words.numel()):
        for bit in range(32):
            flipped = words.flatten().clone()
            flipped[place] ^= -(2**31) if bit == 31 else 1 << bit
            inputs = flipped.view(torch.float32).reshape(split.inputs.shape)
            other = fingerprint(replace(split, inputs=inputs))
            assert other["rows"] != whole["rows"]
            assert other["order"] != whole["order"]


@pytest.mark.parametrize("chunk", [1, 3, 10, 11])
def test_how_many_rows_are_taken_at_a_time_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    whole = fingerprint(table())
    monkeypatch.setattr(module, "CHUNK", chunk)
    assert fingerprint(table()) == whole


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_how_many_threads_share_the_rows_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    whole = fingerprint(table())
    assert len(module._parts(table().inputs)) == 1  # few bytes: no thread is worth its start
    monkeypatch.setattr(module, "LARGE", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    assert len(module._parts(table().inputs)) == min(threads, 10)  # rows
    assert fingerprint(table()) == whole


def test_memory_layout_does_not_matter() -> None:
    split = table()
    strided = replace(split, inputs=split.inputs.t().contiguous().t())
    assert not strided.inputs.is_contiguous()
    assert fingerprint(strided) == fingerprint(split)


class Unread(Numbered):
    def read(self, rows: Tensor) -> Tensor:
        raise AssertionError("stored inputs may be larger than memory")


def test_stored_inputs_are_not_read() -> None:
    assert fingerprint(split_of(Unread(10)))["count"] == 10


def test_stored_inputs_that_are_read_at_random_have_one_fingerprint_and_draw_nothing() -> None:
    before = random_state()
    assert fingerprint(split_of(Noisy(10))) == fingerprint(split_of(Noisy(10)))
    assert_same(random_state(), before)


def test_other_stored_inputs_are_other_rows() -> None:
    class Renamed(Numbered):
        def fingerprint(self) -> str:
            return "other"

    assert fingerprint(split_of(Renamed(10)))["rows"] != fingerprint(split_of(Numbered(10)))["rows"]


def test_places_targets_and_order_of_stored_rows_count() -> None:
    split = split_of(Numbered(10))
    whole = fingerprint(split)
    part = fingerprint(split.take(torch.arange(9)))
    assert (part["count"], part["rows"] == whole["rows"]) == (9, False)
    turned = fingerprint(split.take(torch.arange(10).flip(0)))
    assert turned["rows"] == whole["rows"]
    assert turned["order"] != whole["order"]
    other = fingerprint(StoredSplit(stored=split.stored, targets=split.targets + 1))
    assert other["rows"] != whole["rows"]


class Unscaled(PixelSplit):
    @property
    def inputs(self) -> Tensor:
        raise AssertionError("no floats are made for a fingerprint")


def images(pixels: Tensor, mean: float = 0.5, scale: float = 0.25) -> PixelSplit:
    scaling = ChannelScaling(mean=(mean,), scale=(scale,))
    return Unscaled(pixels=pixels, scaling=scaling, targets=torch.arange(len(pixels)))


def test_images_are_told_apart_by_their_bytes_and_by_their_scaling() -> None:
    pixels = torch.arange(90, dtype=torch.uint8).reshape(10, 1, 3, 3)
    whole = fingerprint(images(pixels))
    assert fingerprint(images(pixels.clone())) == whole
    other = pixels.clone()
    other[9, 0, 2, 2] += 1
    changes = [images(other), images(pixels, mean=0.4), images(pixels, scale=0.5)]
    assert len({whole["rows"], *(fingerprint(change)["rows"] for change in changes)}) == 4
    turned = fingerprint(images(pixels).take(torch.arange(10).flip(0)))
    assert turned["rows"] == whole["rows"]
    assert turned["order"] != whole["order"]


def test_windows_are_told_apart_by_their_stream_and_by_how_it_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def windows(stream: Tensor, window: int = 50, stride: int = 1) -> dict[str, str | int]:
        return fingerprint(WindowSplit(stream=stream, window=window, stride=stride))

    read, numbers = [], module._row_numbers

    def remembered(values: Tensor, part: int) -> Tensor:
        read.append(values)
        return numbers(values, part)

    monkeypatch.setattr(module, "_row_numbers", remembered)
    stream = torch.arange(100) % 7
    whole = windows(stream)
    assert [values.shape for values in read] == [(100, 1)]  # each token once
    assert windows(stream.clone()) == whole and whole["count"] == 50
    other = stream.clone()
    other[99] += 1
    changes = [windows(other), windows(stream, window=49), windows(stream, stride=2)]
    assert len({whole["rows"], *(change["rows"] for change in changes)}) == 4
    assert windows(stream.flip(0))["order"] != whole["order"]


def test_the_number_of_a_row_is_that_of_the_formula_in_exact_whole_numbers() -> None:
    random = torch.Generator().manual_seed(0)
    words = torch.randint(-(2**62), 2**62, (5, 3), generator=random) * 2  # also with upper bits
    factors = torch.randint(-(2**62), 2**62, (3,), generator=random) | 1
    whole = 2**64

    def folded(word: int) -> int:
        return word % whole ^ word % whole >> 32

    wanted = [
        sum(folded(word) * by for word, by in zip(row, factors.tolist(), strict=True)) % whole
        for row in words.tolist()
    ]
    chunks = [part.numpy().view(np.uint64) for part in torch.split(words, 2)]
    sums = np.empty(5, np.uint64)
    module._weigh(iter(chunks), factors.numpy().view(np.uint64), sums)
    assert sums.tolist() == wanted
