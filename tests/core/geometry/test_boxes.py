"""Boxes: IoU by hand and by counting pixels, and a matching against all that there are."""

from itertools import permutations

import pytest
import torch
from torch import Tensor

from netwright.core.geometry.boxes import generalized_iou, iou, match, to_corners


def boxes(*shape: int, seed: int = 0) -> Tensor:
    """Boxes (..., 4) with centres within the image."""
    random = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, 4, generator=random, dtype=torch.float64) * 0.6 + 0.2


def test_iou_and_giou_by_hand() -> None:
    one = torch.tensor([[0.5, 0.5, 0.4, 0.4]])
    others = torch.tensor(
        [[0.5, 0.5, 0.4, 0.4], [0.7, 0.5, 0.4, 0.4], [0.5, 0.5, 0.2, 0.2], [0.9, 0.5, 0.2, 0.4]]
    )
    assert iou(one, others)[0].tolist() == pytest.approx([1, 0.08 / 0.24, 0.25, 0])
    # The last: 0.16 and 0.08 in a hull of 0.7 by 0.4.
    wanted = [1, 0.08 / 0.24, 0.25, -(0.28 - 0.24) / 0.28]
    assert generalized_iou(one, others)[0].tolist() == pytest.approx(wanted, abs=1e-6)
    assert to_corners(one).tolist()[0] == pytest.approx([0.3, 0.3, 0.7, 0.7])


def test_iou_is_the_share_of_common_pixels() -> None:
    first, second = boxes(5), boxes(6, seed=1)
    grid = (torch.arange(400, dtype=torch.float64) + 0.5) / 200 - 0.5

    def inside(box: Tensor) -> Tensor:
        left, top, right, bottom = to_corners(box).tolist()
        across, down = (grid > left) & (grid < right), (grid > top) & (grid < bottom)
        return torch.logical_and(across, down[:, None])

    counted = [
        [
            float((inside(one) & inside(other)).sum() / (inside(one) | inside(other)).sum())
            for other in second
        ]
        for one in first
    ]
    torch.testing.assert_close(iou(first, second).float(), torch.tensor(counted), atol=0.02, rtol=0)


@pytest.mark.covers("detr")
def test_a_matching_has_the_least_cost_of_all_that_there_are() -> None:
    random = torch.Generator().manual_seed(0)
    for objects, queries in ((1, 1), (2, 5), (4, 6), (6, 6)):
        costs = torch.randn(3, objects, queries, generator=random, dtype=torch.float64)
        found = match(costs, torch.ones(3, objects, dtype=torch.bool))
        for cost, chosen in zip(costs, found, strict=True):
            assert len(set(chosen.tolist())) == objects
            least = min(
                float(cost[range(objects), places].sum())
                for places in permutations(range(queries), objects)
            )
            assert float(cost[range(objects), chosen].sum()) == pytest.approx(least)


def test_places_without_an_object_and_objects_without_a_box_have_no_match() -> None:
    costs = torch.tensor([[[5.0, 0.0], [0.0, 9.0], [1.0, 1.0]]])
    assert match(costs, torch.tensor([[True, False, True]])).tolist() == [[1, -1, 0]]
    assert match(costs, torch.tensor([[False, False, False]])).tolist() == [[-1, -1, -1]]
    assert sorted(match(costs, torch.ones(1, 3, dtype=torch.bool))[0].tolist()) == [-1, 0, 1]
    costs[0, 0] = torch.tensor([torch.nan, torch.inf])  # of weights that have diverged
    assert match(costs, torch.tensor([[True, True, False]])).tolist() == [[1, 0, -1]]
