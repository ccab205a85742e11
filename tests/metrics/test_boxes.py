"""Measures of boxes, by hand."""

import pytest
import torch
from torch import Tensor

from netwright.metrics.boxes import box_f1, box_iou, score_boxes

NOTHING = -1
TRUE = torch.tensor(
    [
        [[0, 0.3, 0.3, 0.2, 0.2], [1, 0.7, 0.7, 0.2, 0.2]],
        [[1, 0.5, 0.5, 0.4, 0.4], [NOTHING, 0, 0, 0, 0]],
    ]
)


def said(*queries: tuple[int, float, float, float, float]) -> Tensor:
    """What is said of an image by each query: a class of two, 2: nothing, and a box (Q, 7)."""
    shares = torch.eye(3)[[int(query[0]) for query in queries]]
    return torch.cat((shares, torch.tensor([query[1:] for query in queries])), dim=1)


SAID = torch.stack(
    [
        # The first object exactly, the second one by a box of half its width, and one invented.
        said((1, 0.7, 0.7, 0.1, 0.2), (0, 0.3, 0.3, 0.2, 0.2), (0, 0.1, 0.9, 0.1, 0.1)),
        # At the right place, of another class; the query that is nothing does not count.
        said((0, 0.5, 0.5, 0.4, 0.4), (2, 0.5, 0.5, 0.4, 0.4), (2, 0.1, 0.1, 0.1, 0.1)),
    ]
)


def test_overlaps_hits_and_counts_by_hand() -> None:
    wanted = torch.tensor([[1.5, 2, 3, 2], [0.0, 0, 1, 1]], dtype=torch.float64)
    torch.testing.assert_close(score_boxes(SAID, TRUE), wanted, atol=1e-5, rtol=0)
    assert box_iou(SAID, TRUE) == pytest.approx(1.5 / 3)
    assert box_f1(SAID, TRUE) == pytest.approx(2 * 2 / (4 + 3))


def test_weights_count_images() -> None:
    weights = torch.tensor([1.0, 0.0])
    assert box_iou(SAID, TRUE, weights) == pytest.approx(0.75)
    assert box_f1(SAID, TRUE, weights) == pytest.approx(4 / 5)


def test_a_box_is_used_for_one_object_only() -> None:
    twice = TRUE[:1, [0, 0]]
    one = said((0, 0.3, 0.3, 0.2, 0.2), (2, 0, 0, 0, 0))[None]
    assert score_boxes(one, twice)[0].tolist() == pytest.approx([1, 1, 1, 2])
