r"""Boxes: how much two of them share, and which of one set belong to which of another.

    IoU = |A n B| / |A u B|,    GIoU = IoU - (|hull| - |A u B|) / |hull|

GIoU still falls with the distance where boxes have nothing in common, and so has a gradient there.
A matching gives each object a box of its own, such that the sum of the costs is least.

Shapes: B images, M objects, Q boxes that were said; a box is (centre x, centre y, width, height),
as shares of the image's width and height.
Source: Rezatofighi et al., "Generalized Intersection over Union" (2019); Kuhn, "The Hungarian
Method for the Assignment Problem" (1955).
"""

import torch
from torch import Tensor

LEAST_AREA = 1e-9  # below it two boxes would be divided by nothing
WORST_COST = 1e9  # in the place of infinity and NaN, which no matching takes


def to_corners(boxes: Tensor) -> Tensor:
    """Boxes (..., 4) -> left, top, right, bottom (..., 4)."""
    centre, size = boxes[..., :2], boxes[..., 2:]
    return torch.cat((centre - size / 2, centre + size / 2), dim=-1)


def iou(first: Tensor, second: Tensor) -> Tensor:
    """The IoU of each of the boxes (..., M, 4) with each of (..., Q, 4): (..., M, Q)."""
    shared, either = _areas(to_corners(first), to_corners(second))
    return shared / either


def generalized_iou(first: Tensor, second: Tensor) -> Tensor:
    """The same of GIoU, from -1 to 1: (..., M, Q)."""
    one, other = to_corners(first), to_corners(second)
    shared, either = _areas(one, other)
    low = torch.minimum(one[..., :, None, :2], other[..., None, :, :2])
    high = torch.maximum(one[..., :, None, 2:], other[..., None, :, 2:])
    hull = (high - low).prod(dim=-1).clamp_min(LEAST_AREA)
    return shared / either - (hull - either) / hull


def match(costs: Tensor, is_object: Tensor) -> Tensor:
    """The box of each object, such that their costs have the least sum.

    Args:
        costs: of each object and box (B, M, Q).
        is_object: False where there is no object (B, M).

    Returns:
        (B, M), from 0 to Q - 1; -1 where there is no object, or no box left for it.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - it costs half a second

    found = torch.full(is_object.shape, -1, dtype=torch.int64)
    plain = costs.detach().double().nan_to_num(WORST_COST, WORST_COST, -WORST_COST).cpu().numpy()
    are_objects = is_object.cpu().numpy()
    for image, (cost, is_one) in enumerate(zip(plain, are_objects, strict=True)):
        objects, boxes = linear_sum_assignment(cost[is_one])
        found[image, torch.from_numpy(is_one.nonzero()[0][objects])] = torch.from_numpy(boxes)
    return found.to(costs.device)


def _areas(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """What corners (..., M, 4) and (..., Q, 4) have in common, and what either has (..., M, Q)."""
    low = torch.maximum(one[..., :, None, :2], other[..., None, :, :2])
    high = torch.minimum(one[..., :, None, 2:], other[..., None, :, 2:])
    shared = (high - low).clamp_min(0).prod(dim=-1)
    sizes = [(box[..., 2:] - box[..., :2]).prod(dim=-1) for box in (one, other)]
    either = sizes[0][..., :, None] + sizes[1][..., None, :] - shared
    return shared, either.clamp_min(LEAST_AREA)
