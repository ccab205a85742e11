"""How far points lie from a hyperplane, and on which side.

    w^T x + b = 0,    or in Hesse's normal form    n^T x = d,  n = w / |w|,  d = -b / |w|

Shapes: N points, D features.
Source: Novikoff, "On convergence proofs on perceptrons" (1962), for the margin.
"""

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.errors import DataError
from netwright.metrics.samples import check_not_empty


def hesse_normal_form(weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """The unit normal n (D,) and the signed distance d () of the plane from the origin along it."""
    check_shape("weight", weight, "D")
    check_shape("bias", bias)
    length = weight.norm()
    if not length > 0:
        raise DataError("weight must not be zero: it is normal to no hyperplane")
    return weight / length, -bias / length


def signed_distance(inputs: Tensor, signs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Y (w^T x + b) / |w|, (N,): above zero where a point lies on the side of its class.

    Args:
        inputs: points, (N, D).
        signs: +1 or -1, the classes, (N,).
        weight: w, (D,).
        bias: b, ().
    """
    check_shape("inputs", inputs, "N", len(weight))
    check_shape("signs", signs, len(inputs))
    normal, offset = hesse_normal_form(weight, bias)
    return signs * (inputs @ normal - offset)


def margin(inputs: Tensor, signs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The smallest signed distance of all points: above zero where the plane separates them."""
    check_not_empty("inputs", inputs)
    return torch.min(signed_distance(inputs, signs, weight, bias))
