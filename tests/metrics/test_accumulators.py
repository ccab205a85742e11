"""Meters: means by hand, the law of merging, no waiting for the device, and refusals."""

import copy
import math
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from netwright.core.errors import ConfigError, DataError, ShapeError
from netwright.metrics.accumulators import ConfusionMeter, MeanMeter
from netwright.metrics.classification import accuracy, confusion_matrix

PROPERTY = settings(derandomize=True, deadline=None, max_examples=40)
# Quarters are exact in binary, so that sums do not depend on their order.
quarters = st.integers(-40, 40).map(lambda number: number / 4)
added = st.lists(st.tuples(quarters, st.integers(1, 9)), max_size=12)


def mean_of(pairs: list[tuple[float, int]]) -> MeanMeter:
    meter = MeanMeter()
    for value, weight in pairs:
        meter.add(torch.tensor(value), weight)
    return meter


def test_mean_by_hand() -> None:
    # Batches of 3 and 1 with means 2 and 6: (3 * 2 + 1 * 6) / 4.
    meter = MeanMeter()
    meter.add(torch.tensor(2.0), 3)
    meter.add(torch.tensor(6.0))
    assert meter.value() == 3.0


def test_single_values_by_hand() -> None:
    meter = MeanMeter()
    meter.add(torch.tensor([1.0, 5.0]), torch.tensor([3.0, 1.0]))  # 8 of weight 4
    meter.add(torch.tensor([[4.0, 4.0], [0.0, 0.0]]))  # 8 of weight 4
    meter.add(torch.tensor([1.0, 2.0]), 2.0)  # 6 of weight 4
    meter.add(torch.tensor(5.0), torch.tensor(4))  # 20 of weight 4
    assert meter.value() == 42 / 16
    assert meter.sums.tolist() == [42.0, 16.0]


def test_right_answers_can_be_added_as_they_are() -> None:
    meter = MeanMeter()
    meter.add(torch.tensor([True, False, True, True]))
    meter.add(torch.tensor(False))
    meter.add(torch.tensor([1, 0]), torch.tensor([4, 1]))
    assert meter.value() == (3 + 0 + 4) / (4 + 1 + 5)


def test_nothing_has_no_mean() -> None:
    assert math.isnan(MeanMeter().value())


def test_reading_changes_nothing_and_adding_goes_on() -> None:
    meter = mean_of([(2.0, 1)])
    assert meter.value() == meter.value() == 2.0
    meter.add(torch.tensor(8.0), 2)
    assert meter.value() == 6.0


def test_a_long_run_of_small_numbers_does_not_drift() -> None:
    # A float32 sum stops at 2^24: from there on adding 1 changes nothing.
    meter = MeanMeter()
    meter.add(torch.tensor(1.0), 2**24)
    for _ in range(8):
        meter.add(torch.tensor(1.0))
    assert meter.sums.tolist() == [2**24 + 8, 2**24 + 8]
    assert meter.value() == 1.0


@PROPERTY
@given(added, added)
def test_merged_means_are_the_mean_of_all(
    first: list[tuple[float, int]], second: list[tuple[float, int]]
) -> None:
    merged = mean_of(first)
    merged.merge(mean_of(second))
    together = mean_of(first + second)
    assert merged.sums.tolist() == together.sums.tolist()
    if first or second:
        assert merged.value() == together.value()


@PROPERTY
@given(st.lists(added, min_size=1, max_size=4))
def test_ranks_merge_by_the_sum_of_their_sums(parts: list[list[tuple[float, int]]]) -> None:
    meters = [mean_of(part) for part in parts]
    total = torch.stack([meter.sums for meter in meters]).sum(dim=0)
    for meter in meters:
        meter.sums.copy_(total)  # what all_reduce does
        meter.add(torch.tensor(1.5), 2)
    together = mean_of([pair for part in parts for pair in part] + [(1.5, 2)])
    assert {meter.value() for meter in meters} == {together.value()}


def test_merging_leaves_the_other_as_it_was() -> None:
    meter, other = mean_of([(1.0, 1)]), mean_of([(3.0, 1)])
    meter.merge(other)
    assert (meter.value(), other.value()) == (2.0, 3.0)


def test_a_copy_goes_its_own_way() -> None:
    meter = mean_of([(1.0, 1)])
    other = copy.deepcopy(meter)
    other.add(torch.tensor(3.0))
    assert (meter.value(), other.value()) == (1.0, 2.0)


def test_no_graph_is_kept() -> None:
    meter, loss = MeanMeter(), torch.ones((), requires_grad=True)
    meter.add(loss * 2)
    meter.add(torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True))
    assert not meter.sums.requires_grad


def test_adding_never_waits_for_the_device() -> None:
    # A meta tensor has no numbers: whatever reads one, and so would wait on a GPU, raises.
    meter = MeanMeter("meta")
    number, numbers = torch.empty((), device="meta"), torch.empty(4, device="meta")
    meter.add(number, 4)
    meter.add(numbers)
    meter.add(numbers, numbers)
    meter.merge(meter)
    with pytest.raises(RuntimeError, match="meta"):
        meter.value()
    confusion = ConfusionMeter(3, "meta")
    classes = torch.empty(4, dtype=torch.int64, device="meta")
    confusion.add(classes, classes)
    confusion.add(classes, classes, numbers)
    confusion.merge(confusion)
    with pytest.raises(RuntimeError, match="meta"):
        confusion.value()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
def test_adding_never_waits_for_a_real_device() -> None:
    meter, confusion = MeanMeter("cuda"), ConfusionMeter(3, "cuda")
    values, classes = torch.ones(4, device="cuda"), torch.arange(4, device="cuda") % 3
    try:
        torch.cuda.set_sync_debug_mode("error")
        meter.add(values.mean(), 4)
        meter.add(values)
        meter.add(values, values)
        confusion.add(classes, classes)
        confusion.add(classes, classes, values)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert meter.value() == 1.0
    assert confusion.value().diagonal().tolist() == [4.0, 2.0, 2.0]


def test_weights_of_another_shape_are_refused() -> None:
    sentence = "weights must have the shape of values, got (2, 1) and (2,)"
    with pytest.raises(ShapeError, match=re.escape(sentence)):
        MeanMeter().add(torch.ones(2), torch.ones(2, 1))


@st.composite
def batches(draw: st.DrawFn) -> list[tuple[Tensor, Tensor, Tensor]]:
    sizes = draw(st.lists(st.integers(0, 6), min_size=2, max_size=5))
    seed = torch.Generator().manual_seed(draw(st.integers(0, 2**20)))
    return [
        (
            torch.randint(0, 4, (size,), generator=seed),
            torch.randint(0, 4, (size,), generator=seed),
            torch.randint(1, 8, (size,), generator=seed) / 4,
        )
        for size in (*sizes, 3)
    ]


@PROPERTY
@given(batches(), st.booleans())
def test_merged_counts_are_the_counts_of_all(
    parts: list[tuple[Tensor, Tensor, Tensor]], weighted: bool
) -> None:
    meters = [ConfusionMeter(4), ConfusionMeter(4)]
    for number, (targets, predicted, weights) in enumerate(parts):
        meters[number % 2].add(targets, predicted, weights if weighted else None)
    meters[0].merge(meters[1])
    targets, predicted, weights = (torch.cat(column) for column in zip(*parts, strict=True))
    whole = confusion_matrix(targets, predicted, 4, weights if weighted else None)
    assert torch.equal(meters[0].value(), whole.double())
    assert accuracy(meters[0].value()) == accuracy(whole)


def test_a_matrix_that_was_read_stays_as_it_was() -> None:
    meter = ConfusionMeter(2)
    before = meter.value()
    meter.add(torch.tensor([0]), torch.tensor([1]))
    assert before.sum() == 0
    assert meter.value().tolist() == [[0.0, 1.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("targets", "predicted", "bad"),
    [([0, 3], [0, 0], 1), ([0, 1], [-1, 7], 2), ([-1, 2], [2, 1], 1)],
)
def test_classes_outside_are_refused_when_the_meter_is_read(
    targets: list[int], predicted: list[int], bad: int
) -> None:
    meter = ConfusionMeter(3)
    meter.add(torch.tensor(targets), torch.tensor(predicted))
    sentence = f"classes must lie in [0, 3), got others in {bad} samples"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        meter.value()


def test_confusion_meter_refuses_in_one_sentence() -> None:
    classes = torch.tensor([0, 1])
    with pytest.raises(ConfigError, match=r"^num_classes must be positive, got 0$"):
        ConfusionMeter(0)
    with pytest.raises(ShapeError, match=re.escape("predicted must have shape (2), got (1,)")):
        ConfusionMeter(2).add(classes, classes[:1])
    with pytest.raises(ShapeError, match=re.escape("weights must have shape (2), got (2, 1)")):
        ConfusionMeter(2).add(classes, classes, torch.ones(2, 1))
    sentence = "meters that merge must have the same number of classes, got 2 and 3"
    with pytest.raises(ShapeError, match=f"^{sentence}$"):
        ConfusionMeter(2).merge(ConfusionMeter(3))
