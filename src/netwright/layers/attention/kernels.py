"""Similarity kernels, and pooling by them: a query takes the mean of the values of keys like it.

Distances are counted in widths, u = ||(q - k) / width||. Kernels are kept as logarithms, so that a
query far from all keys still has a nearest one: the Gaussian itself would be 0 for all of them.

Shapes: B queries, N keys, D coordinates, K values.
Source: Nadaraya (1964); Watson (1964).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.core.card import Card
from netwright.core.catalog import Catalog
from netwright.core.checks import check_shape
from netwright.core.errors import ConfigError

BLOCK_BYTES = 2**26  # of what pooling holds at a time, beside its result
BYTES_A_PAIR = 16  # of a query and a key: distance, logarithm, weight and one copy
MOST_DIRECT = 32  # coordinates: with more, distances by a matrix product are faster
BLOCK_NUMBERS = 2**20  # of the keys that are copied to float64 at a time


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A row's part in the catalog of kernels.

    Args:
        log_weight: distances in widths, u >= 0 -> the logarithm of the kernel, of the same shape.
        card: sentence, formula, symbols, source.
    """

    log_weight: Callable[[Tensor], Tensor]
    card: Card

    def __call__(self, u: Tensor) -> Tensor:
        """The kernel itself."""
        return self.log_weight(u).exp()


def gaussian(u: Tensor) -> Tensor:
    """-u^2 / 2."""
    return -u.square() / 2


def boxcar(u: Tensor) -> Tensor:
    """0 up to one width, then minus infinity."""
    return torch.zeros_like(u).where(u <= 1, -math.inf)


def triangular(u: Tensor) -> Tensor:
    """log(1 - u) within one width, then minus infinity."""
    near = u < 1
    # Far away the logarithm is taken of 1, not of 0: its gradient would be no number.
    return torch.log1p(-u.where(near, 0)).where(near, -math.inf)


def epanechnikov(u: Tensor) -> Tensor:
    """log(3/4 (1 - u^2)) within one width, then minus infinity."""
    near = u < 1
    return (math.log(3 / 4) + torch.log1p(-u.where(near, 0).square())).where(near, -math.inf)


_U = {"u": "distance of query and key, in widths"}

GAUSSIAN = Kernel(
    log_weight=gaussian,
    card=Card(
        sentence="Likeness that falls smoothly and never ends.",
        formula=r"\alpha(u) = e^{-u^2 / 2}",
        symbols=_U,
        source="Parzen (1962), Annals of Mathematical Statistics 33, 1065-1076",
    ),
)
BOXCAR = Kernel(
    log_weight=boxcar,
    card=Card(
        sentence="All keys within one width count the same, the others not at all.",
        formula=r"\alpha(u) = 1[u \le 1]",
        symbols=_U,
        source="Rosenblatt (1956), Annals of Mathematical Statistics 27, 832-837",
    ),
)
TRIANGULAR = Kernel(
    log_weight=triangular,
    card=Card(
        sentence="Likeness that falls along a line, to nothing at one width.",
        formula=r"\alpha(u) = \max(0, 1 - u)",
        symbols=_U,
        source="Silverman (1986), Density Estimation, table 3.1",
        misprint="It is often called Epanechnikov's, which has u^2 in the place of u.",
    ),
)
EPANECHNIKOV = Kernel(
    log_weight=epanechnikov,
    card=Card(
        sentence="A parabola that ends at one width: the kernel of least mean squared error.",
        formula=r"\alpha(u) = \frac{3}{4} \max(0, 1 - u^2)",
        symbols=_U,
        source="Epanechnikov (1969), Theory of Probability and its Applications 14, 153-158",
        misprint="It is often printed as max(0, 1 - u), which is the triangular kernel.",
    ),
)

KERNELS: Catalog[Kernel] = Catalog(
    "kernel",
    {
        name: f"netwright.layers.attention.kernels:{name.upper()}"
        for name in ("gaussian", "boxcar", "triangular", "epanechnikov")
    },
)


def scaled_distances(queries: Tensor, keys: Tensor, width: float | Tensor) -> Tensor:
    """Distances (B, N) between queries (B, D) and keys (N, D), in widths (one, or (D,))."""
    scaled = queries / width
    if queries.shape[1] <= MOST_DIRECT:
        return torch.cdist(scaled, keys / width, compute_mode="donot_use_mm_for_euclid_dist")
    # |q|^2 - 2 q k + |k|^2 cancels where keys are near: float64 has digits to lose.
    parts = torch.split(keys, max(1, BLOCK_NUMBERS // keys.shape[1]))
    return torch.cat([_by_product(scaled.double(), part / width).to(scaled) for part in parts], 1)


def _by_product(queries: Tensor, keys: Tensor) -> Tensor:
    return torch.cdist(queries, keys.double(), compute_mode="use_mm_for_euclid_dist")


def kernel_pooling(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    kernel: str = "gaussian",
    width: float | Tensor = 1.0,
    weights: Tensor | None = None,
) -> Tensor:
    """The mean of the values (N, K), weighed by how near each query (B, D) is to their keys (N, D).

        f(q) = sum_i v_i a(q, k_i) / sum_j a(q, k_j)

    A query that is near to no key (a boxcar with none within its width) takes the mean of all
    values. Memory stays bounded: queries are taken in blocks.

    Args:
        queries: (B, D).
        keys: (N, D).
        values: (N, K).
        kernel: a name in `KERNELS`.
        width: one number, or one a coordinate (D,).
        weights: how much each key counts (N,), or None where all count the same.
    """
    check_shape("queries", queries, "B", "D")
    check_shape("keys", keys, "N", queries.shape[1])
    check_shape("values", values, len(keys), "K")
    if not bool((torch.as_tensor(width) > 0).all()):
        raise ConfigError(f"width must be positive, got {width}")
    log_kernel = KERNELS.load(kernel).log_weight
    rows = max(1, BLOCK_BYTES // (BYTES_A_PAIR * len(keys)))
    return torch.cat(
        [
            pool(log_kernel(scaled_distances(part, keys, width)), values, weights)
            for part in torch.split(queries, rows)
        ]
    )


def pool(log_weights: Tensor, values: Tensor, weights: Tensor | None = None) -> Tensor:
    """Means (B, K) of the values (N, K) by the logarithms (B, N) of their kernels.

    Where all kernels are 0 the mean is taken by the `weights` (N,) alone.
    """
    shares = torch.zeros_like(log_weights[0]) if weights is None else weights.log()  # (N,)
    log_weights = log_weights + shares
    is_far = log_weights.amax(dim=1, keepdim=True) == -math.inf
    return log_weights.where(~is_far, shares).softmax(dim=1) @ values
