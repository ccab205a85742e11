"""Samples at the door: means by hand, what a weight means, and what is refused."""

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from netwright.core.errors import DataError, NetwrightError, ShapeError
from netwright.metrics.samples import (
    check_class_samples,
    check_classes,
    check_label_samples,
    check_mask_samples,
    check_not_empty,
    check_probabilities,
    check_rows_sum_to_one,
    check_weights,
    exact_dtype,
    weighted_mean,
)
from tests.repetition import for_each


def test_sums_are_float64_wherever_the_device_has_it() -> None:
    assert exact_dtype("cpu") == exact_dtype("cuda:1") == torch.float64
    assert exact_dtype(torch.device("mps")) == torch.float32


def test_weighted_mean_by_hand() -> None:
    # (1 * 2 + 3 * 6) / (1 + 3) = 5, and column by column (2 + 18) / 4 and (4 + 0) / 4.
    weights = torch.tensor([1.0, 3.0])
    assert weighted_mean(torch.tensor([2.0, 6.0]), weights).item() == 5.0
    columns = weighted_mean(torch.tensor([[2.0, 4.0], [6.0, 0.0]]), weights)
    assert columns.tolist() == [5.0, 1.0]


def test_no_weights_are_equal_weights() -> None:
    values = torch.tensor([[1.0, 2.0], [4.0, 8.0], [4.0, 2.0]])
    assert torch.equal(weighted_mean(values, None), weighted_mean(values, torch.full((3,), 0.5)))


def test_mean_of_many_small_numbers_does_not_drift() -> None:
    # In float32 the running sum of 0.1 leaves 0.1 by about 1e-4 of it or more.
    assert weighted_mean(torch.full((100_000,), 0.1), None).item() == pytest.approx(0.1, rel=1e-7)


def test_mean_keeps_no_graph() -> None:
    values, weights = (torch.ones(3, requires_grad=True) for _ in range(2))
    assert not weighted_mean(values, weights).requires_grad


def test_what_is_right_passes() -> None:
    scores = torch.tensor([[0.25, 0.75], [1.0, 0.0]], requires_grad=True)
    check_class_samples("scores", scores, torch.tensor([1, 0]), torch.tensor([0.0, 2.0]))
    check_probabilities(scores)
    check_rows_sum_to_one(scores)
    for dtype in (torch.uint8, torch.int64):
        masks = torch.tensor([[[0, 1]], [[1, 1]]], dtype=dtype)
        check_mask_samples("scores", torch.zeros(2, 2, 1, 2), masks, None)
    for dtype in (torch.bool, torch.int64, torch.float32):
        check_label_samples("scores", scores, torch.eye(2, dtype=dtype), None)


def test_a_softmax_in_half_precision_is_a_distribution() -> None:
    logits = torch.randn(50, 300, generator=torch.Generator().manual_seed(0))
    halves = logits.bfloat16().softmax(dim=1)
    check_probabilities(halves)
    check_rows_sum_to_one(halves)


NAN = float("nan")
SCORES, CLASSES = torch.tensor([[0.5, 0.5], [0.5, 0.5]]), torch.tensor([0, 1])
IMAGES = torch.zeros(1, 2, 4, 3)


@for_each(
    ("check", "error", "sentence"),
    [
        (
            lambda: check_not_empty("scores", torch.zeros(0, 3)),
            ShapeError,
            "scores must not be empty, got shape (0, 3)",
        ),
        (
            lambda: check_weights(torch.ones(2), 3),
            ShapeError,
            "weights must have shape (3), got (2,)",
        ),
        (
            lambda: check_weights(torch.tensor([1.0, NAN]), 2),
            DataError,
            "weights must be finite, got nan at [1] (1 in all)",
        ),
        (
            lambda: check_weights(torch.tensor([1.0, -0.5]), 2),
            DataError,
            "weights must not be negative, got -0.5",
        ),
        (lambda: check_weights(torch.zeros(2), 2), DataError, "weights must not all be zero"),
        (
            lambda: check_weights(torch.ones(2) * 1j, 2),
            DataError,
            "weights must be real numbers, got torch.complex64",
        ),
        (
            lambda: check_class_samples("scores", SCORES * 1j, CLASSES, None),
            DataError,
            "scores must be real numbers, got torch.complex64",
        ),
        (
            lambda: check_label_samples("scores", SCORES * 1j, torch.ones(2, 2), None),
            DataError,
            "scores must be real numbers, got torch.complex64",
        ),
        (
            lambda: check_classes("targets", torch.tensor([0.0, 1.0]), 2),
            DataError,
            "targets must be int64, got torch.float32",
        ),
        (
            lambda: check_classes("targets", torch.tensor([0, 2]), 2),
            DataError,
            "targets must lie in [0, 2), got 2",
        ),
        (
            lambda: check_classes("targets", torch.tensor([5, -1]), 2),
            DataError,
            "targets must lie in [0, 2), got -1",
        ),
        (
            lambda: check_class_samples("scores", torch.ones(2), CLASSES, None),
            ShapeError,
            "scores must have shape (N, C), got (2,)",
        ),
        (
            lambda: check_class_samples("scores", SCORES, CLASSES[:, None], None),
            ShapeError,
            "targets must have shape (2), got (2, 1)",
        ),
        (
            lambda: check_class_samples("scores", SCORES * NAN, CLASSES, None),
            DataError,
            "scores must be finite, got nan at [0, 0] (4 in all)",
        ),
        (
            lambda: check_label_samples("scores", SCORES, CLASSES, None),
            ShapeError,
            "targets must have shape (2, 2), got (2,)",
        ),
        (
            lambda: check_label_samples("scores", SCORES, torch.tensor([[0, 1], [2, 0]]), None),
            DataError,
            "targets must be 0 or 1, got 2",
        ),
        (
            lambda: check_label_samples("scores", SCORES, torch.full((2, 2), NAN), None),
            DataError,
            "targets must be 0 or 1, got nan",
        ),
        (
            lambda: check_mask_samples("scores", SCORES, CLASSES, None),
            ShapeError,
            "scores must have shape (N, C, I, J), got (2, 2)",
        ),
        (
            lambda: check_mask_samples("scores", IMAGES, torch.zeros(1, 3, 4), None),
            ShapeError,
            "targets must have shape (1, 4, 3), got (1, 3, 4)",
        ),
        (
            lambda: check_mask_samples("scores", IMAGES, torch.zeros(1, 4, 3), None),
            DataError,
            "targets must be int64, got torch.float32",
        ),
        (
            lambda: check_mask_samples("scores", IMAGES, torch.full((1, 4, 3), 2).byte(), None),
            DataError,
            "targets must lie in [0, 2), got 2",
        ),
        (
            lambda: check_mask_samples("scores", IMAGES * 1j, torch.zeros(1, 4, 3).long(), None),
            DataError,
            "scores must be real numbers, got torch.complex64",
        ),
        (
            lambda: check_mask_samples("scores", IMAGES * NAN, torch.zeros(1, 4, 3).long(), None),
            DataError,
            "scores must be finite, got nan at [0, 0, 0, 0] (24 in all)",
        ),
        (
            lambda: check_label_samples("scores", SCORES * NAN, torch.ones(2, 2), None),
            DataError,
            "scores must be finite, got nan at [0, 0] (4 in all)",
        ),
        (
            lambda: check_probabilities(torch.tensor([[0.5, 3.25]])),
            DataError,
            "probabilities must lie in [0, 1], got 3.25",
        ),
        (
            lambda: check_probabilities(torch.tensor([[-2.5, 3.25]])),
            DataError,
            "probabilities must lie in [0, 1], got -2.5",
        ),
        (
            lambda: check_rows_sum_to_one(torch.tensor([[0.5, 0.5], [0.75, 0.75]])),
            DataError,
            "a row of probabilities must sum to 1, got 1.5 in row 1",
        ),
    ],
)
def test_refuses_in_one_sentence(
    check: Callable[[], None], error: type[NetwrightError], sentence: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        check()


@pytest.mark.parametrize("bad", [torch.tensor([1.0, -1.0]), torch.tensor([NAN, 1.0])])
def test_samples_are_refused_for_their_weights(bad: Tensor) -> None:
    with pytest.raises(DataError, match=r"^weights must"):
        check_class_samples("scores", SCORES, CLASSES, bad)
    with pytest.raises(DataError, match=r"^weights must"):
        check_label_samples("scores", SCORES, torch.eye(2), bad)


def test_a_mask_has_one_weight() -> None:
    scores, masks = torch.rand(3, 2, 4, 5), torch.zeros(3, 4, 5, dtype=torch.int64)
    check_mask_samples("scores", scores, masks, torch.ones(3))
    with pytest.raises(NetwrightError, match=r"^weights must have shape \(3\), got \(2,\)$"):
        check_mask_samples("scores", scores, masks, torch.ones(2))
