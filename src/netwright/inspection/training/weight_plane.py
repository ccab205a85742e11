r"""A plane through the weights of a network, on which its loss can be looked at.

    w(a, b) = w* + a d_1 + b d_2

Along the path of training, d_1 and d_2 are the principal directions of its snapshots, as seen from
w*. Without a path they are random, and each filter of them is as long as that of the weights: a
network of ReLU units whose layers are scaled by c and 1 / c is the same function, and so its plane
is the same too.

Shapes: P weights, S snapshots, F filters (rows of a matrix, output channels of a kernel).
Source: Li, Xu, Taylor, Studer and Goldstein, "Visualizing the Loss Landscape of Neural Nets"
(2018), sections 4 and 7.2.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.core.seeding import generator

LEAST_WIDTH = 1e-6  # of its length: a path that is narrower has no second direction


@dataclass(frozen=True, kw_only=True)
class WeightPlane:
    """Two directions, and where a path lies in their plane.

    Args:
        directions: d_1 and d_2, (2, P).
        places: coordinates of the snapshots, (S, 2); (0, 2) without a path.
        shares: of the path's squared distances from w*, the parts along d_1 and d_2; 0 without one.
    """

    directions: Tensor
    places: Tensor
    shares: tuple[float, float]


def flatten(weights: Mapping[str, Tensor]) -> Tensor:
    """All weights one after the other in float64, (P,)."""
    return torch.cat([weight.detach().double().flatten().cpu() for weight in weights.values()])


def unflatten(vector: Tensor, like: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights in such a vector (P,), of the shapes and kinds of others."""
    parts = torch.split(vector, [weight.numel() for weight in like.values()])
    return {
        name: part.view(weight.shape).to(weight)
        for part, (name, weight) in zip(parts, like.items(), strict=True)
    }


def path_plane(centre: Tensor, path: Tensor) -> WeightPlane | None:
    """The plane that holds most of a path; None where the path lies on a line.

    Args:
        centre: w*, (P,).
        path: snapshots, (S, P).
    """
    _, lengths, directions = torch.linalg.svd(path - centre, full_matrices=False)
    if len(lengths) < 2 or not lengths[1] > LEAST_WIDTH * lengths[0]:
        return None
    directions = directions[:2]
    # A singular vector has no sign: let the path begin on the left and below.
    start = directions @ (path[0] - centre)
    directions = torch.where(start > 0, -1.0, 1.0)[:, None] * directions
    first, second = (lengths[:2].square() / lengths.square().sum()).tolist()
    return WeightPlane(
        directions=directions,
        places=(path - centre) @ directions.T,
        shares=(first, second),
    )


def random_plane(weights: Mapping[str, Tensor], seed: int = 0) -> WeightPlane:
    """Two random directions whose filters are as long as those of the weights.

    Where no filter has two numbers, as in a line, all weights together are one.
    """
    if all(weight.ndim < 2 or weight[0].numel() == 1 for weight in weights.values()):
        weights = {"all": flatten(weights)}
    draws = generator(seed, "landscape")
    drawn = [
        {name: torch.randn(w.shape, generator=draws).double() for name, w in weights.items()}
        for _ in range(2)
    ]
    first = filter_normalised(drawn[0], weights)
    second = filter_normalised(_apart_from(first, drawn[1]), weights)
    return WeightPlane(
        directions=torch.stack([flatten(first), flatten(second)]),
        places=torch.zeros(0, 2),
        shares=(0.0, 0.0),
    )


def filter_normalised(
    direction: Mapping[str, Tensor], weights: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """The direction with each filter as long as that of the weights.

    Biases and gains stay as they are: their part is 0, unless there is nothing else.
    """
    only_vectors = all(weight.ndim < 2 for weight in weights.values())
    scaled = {}
    for name, weight in weights.items():
        ours, theirs = _filters(direction[name]), _filters(weight.detach().double().cpu())
        length = ours.norm(dim=1, keepdim=True)  # (F, 1)
        same = ours * theirs.norm(dim=1, keepdim=True) / length.clamp(min=torch.finfo().tiny)
        is_filter = weight.ndim >= 2 or only_vectors
        scaled[name] = (same if is_filter else torch.zeros_like(same)).view(weight.shape)
    return scaled


def _apart_from(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The second direction with each filter at a right angle to that of the first."""
    turned = {}
    for name, direction in second.items():
        ours, theirs = _filters(direction), _filters(first[name])
        if ours.shape[1] > 1:  # a single number has nowhere to turn to
            along = (ours * theirs).sum(1, keepdim=True)
            square = theirs.square().sum(1, keepdim=True).clamp(min=torch.finfo().tiny)
            ours = ours - along / square * theirs
        turned[name] = ours.view(direction.shape)
    return turned


def _filters(weight: Tensor) -> Tensor:
    """A weight as filters, (F, ...): a vector is one."""
    return weight.reshape(len(weight), -1) if weight.ndim >= 2 else weight.reshape(1, -1)
