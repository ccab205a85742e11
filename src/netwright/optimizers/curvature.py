r"""The curvature of a loss, by differentiating twice: as a matrix, or as what it does to a vector.

    H       the Hessian of the loss: exact, and of any sign
    G       J^T H_L J, Gauss-Newton's: J of the outputs, H_L of the loss as a function of them

G leaves out how the outputs themselves curve. Where the loss is convex in the outputs, G has no
negative eigenvalue; where the outputs are linear in the weights, G is H.

Shapes: P weights, all of them in one vector.
Source: Pearlmutter, "Fast Exact Multiplication by the Hessian" (1994); Schraudolph, "Fast
Curvature Matrix-Vector Products for Second-Order Gradient Descent" (2002).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

ROWS_AT_ONCE = 64  # of the Hessian: each holds activations of its own


def flatten(tensors: Sequence[Tensor]) -> Tensor:
    """All numbers in one vector, (P,)."""
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


def unflatten(vector: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """The parts of a vector (P,) in the shapes of these tensors."""
    parts = torch.split(vector, [tensor.numel() for tensor in like])
    return [part.view_as(tensor) for part, tensor in zip(parts, like, strict=True)]


def gradient_of(loss: Tensor, weights: Sequence[Tensor], *, create_graph: bool = False) -> Tensor:
    """The gradient, (P,); 0 for weights that the loss does not use. Its graph is kept."""
    parts = torch.autograd.grad(
        loss,
        weights,
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
        materialize_grads=True,
    )
    return flatten(parts)


def hessian_products(gradient: Tensor, weights: Sequence[Tensor], directions: Tensor) -> Tensor:
    """H v for each direction v, (K, P) -> (K, P).

    Args:
        gradient: from `gradient_of` with its graph.
        weights: at which it was taken.
        directions: one a row.
    """
    if not gradient.requires_grad:  # the loss is linear in the weights
        return torch.zeros_like(directions)
    together = _products_at_once(gradient, weights, directions)
    if together is not None:
        return together
    return torch.stack([_products(gradient, weights, one, is_batch=False) for one in directions])


def takes_directions_at_once(gradient: Tensor, weights: Sequence[Tensor]) -> bool:
    """Whether `hessian_products` are many for about the price of one.

    A layer with a backward pass of its own may go one direction at a time.
    """
    one = torch.zeros_like(gradient)[None]
    return not gradient.requires_grad or _products_at_once(gradient, weights, one) is not None


def _products_at_once(
    gradient: Tensor, weights: Sequence[Tensor], directions: Tensor
) -> Tensor | None:
    try:
        return _products(gradient, weights, directions, is_batch=True)
    except RuntimeError as error:
        if "Batching rule" not in str(error):
            raise
        return None


def _products(
    gradient: Tensor, weights: Sequence[Tensor], along: Tensor, *, is_batch: bool
) -> Tensor:
    """H v of one direction (P,), or of a batch of them (K, P)."""
    parts = torch.autograd.grad(
        gradient,
        weights,
        along,
        retain_graph=True,
        is_grads_batched=is_batch,
        allow_unused=True,
    )
    lead = along.shape[:-1]
    rows = [
        along.new_zeros(*lead, weight.numel()) if part is None else part.reshape(*lead, -1)
        for part, weight in zip(parts, weights, strict=True)
    ]
    return torch.cat(rows, dim=-1)


def hessian_of(gradient: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """H, (P, P), from the gradient with its graph."""
    units = torch.eye(len(gradient), dtype=gradient.dtype, device=gradient.device)
    rows = [hessian_products(gradient, weights, part) for part in torch.split(units, ROWS_AT_ONCE)]
    return torch.cat(rows)


class GaussNewton:
    """v -> G v at one place, (P,) -> (P,).

    J v is found by differentiating u -> J^T u, which is linear in u: two passes backward.

    Args:
        loss: a number with its graph.
        outputs: what the loss was computed from, with their graph.
        weights: what the outputs were computed from.
    """

    def __init__(self, loss: Tensor, outputs: Sequence[Tensor], weights: Sequence[Tensor]) -> None:
        self.outputs, self.weights = outputs, weights
        self.slopes = torch.autograd.grad(
            loss, outputs, create_graph=True, allow_unused=True, materialize_grads=True
        )
        self.zeros = [torch.zeros_like(output, requires_grad=True) for output in outputs]
        self.pulled = pull_back(outputs, weights, self.zeros, create_graph=True)

    def __call__(self, direction: Tensor) -> Tensor:
        """G v."""
        moved = pull_back(self.pulled, self.zeros, unflatten(direction, self.weights))  # J v
        curved = pull_back(self.slopes, self.outputs, moved)  # H_L is symmetric
        return flatten(pull_back(self.outputs, self.weights, curved))


def pull_back(
    values: Sequence[Tensor],
    places: Sequence[Tensor],
    along: Sequence[Tensor],
    *,
    create_graph: bool = False,
) -> tuple[Tensor, ...]:
    """J^T v for the values as functions of the places; values that do not depend on them give 0."""
    pairs = [pair for pair in zip(values, along, strict=True) if pair[0].requires_grad]
    if not pairs:
        return tuple(torch.zeros_like(place) for place in places)
    return torch.autograd.grad(
        [value for value, _ in pairs],
        places,
        [vector for _, vector in pairs],
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
        materialize_grads=True,
    )
