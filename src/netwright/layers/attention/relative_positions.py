r"""Positions as a bias of the scores: how far a key is from its query, and nothing else.

    ALiBi   b_h(t, s) = -m_h |t - s|,   m_h = 2^{-8 h / H}            nothing is learned
    T5      b_h(t, s) = table[bucket(s - t), h]                        learned

T5's buckets are exact for near keys and grow with the logarithm of the distance; all that is far
shares the last. Both are added to the scores before the softmax (`score_bias` of
`MultiHeadAttention`), and neither has a longest position. `by_distance` is the same as one row of
all distances, for attention that never holds all pairs (`WindowAttention`).

Shapes: H heads, T queries, S keys; the queries are the last T of the S places.
Source: Press, Smith and Lewis, "Train Short, Test Long" (2021); Raffel et al., "Exploring the
Limits of Transfer Learning" (2019), section 2.1.
"""

import math

import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError

BUCKETS, FARTHEST = 32, 128  # T5's


def relative_distances(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """How many places each key is after its query, (T, S); negative before it."""
    places = torch.arange(keys, device=device)
    return places - places[keys - queries :, None]


def all_distances(length: int, device: torch.device | None = None) -> Tensor:
    """Those that there are in a text of T places, 1 - T to T - 1, (2 T - 1)."""
    return torch.arange(1 - length, length, device=device)


def alibi_slopes(heads: int) -> Tensor:
    """m_h (H,): a geometric series; of a number that is no power of 2 as their code has it.

    That is the series of the next smaller power, and then every other one of twice as many.
    """
    power = 2 ** math.floor(math.log2(heads))
    steps = torch.arange(1, power + 1, dtype=torch.float64)
    between = 2 * torch.arange(heads - power, dtype=torch.float64) + 1
    return torch.cat((2 ** (-8 * steps / power), 2 ** (-4 * between / power)))


def alibi_bias(
    heads: int, queries: int, keys: int | None = None, device: torch.device | None = None
) -> Tensor:
    """The bias (H, T, S) of every head, by the distance of query and key."""
    far = relative_distances(queries, queries if keys is None else keys, device)
    return _fallen(alibi_slopes(heads).to(device, torch.get_default_dtype()), far)


class AlibiBias(nn.Module):
    """ALiBi's bias as a part of a model: nothing is learned or saved.

    Args:
        heads: H.
    """

    slopes: Tensor

    def __init__(self, heads: int) -> None:
        super().__init__()
        slopes = alibi_slopes(heads).to(torch.get_default_dtype())
        self.register_buffer("slopes", slopes, persistent=False)

    def forward(self, queries: int, keys: int | None = None) -> Tensor:
        """(H, T, S), of the last T of the S places."""
        count = queries if keys is None else keys
        return _fallen(self.slopes, relative_distances(queries, count, self.slopes.device))

    def by_distance(self, length: int) -> Tensor:
        """Of key minus query from 1 - T to T - 1, (H, 2 T - 1)."""
        return _fallen(self.slopes, all_distances(length, self.slopes.device))


def relative_bucket(
    distances: Tensor, *, is_causal: bool, buckets: int = BUCKETS, farthest: int = FARTHEST
) -> Tensor:
    """The bucket of each distance of a key from its query, key minus query.

    Args:
        distances: whole numbers of any shape.
        is_causal: keys behind the query are not told apart; else half of the buckets is theirs.
        buckets: how many there are.
        farthest: the distance from which on all share the last.
    """
    first = torch.zeros_like(distances)
    if not is_causal:
        buckets //= 2
        first = buckets * (distances > 0).long()
    far = -distances.clamp_max(0) if is_causal else distances.abs()
    exact = buckets // 2
    # Of the distances beyond `exact`: where on the logarithmic way to the farthest.
    way = (far.clamp_min(1).double() / exact).log() / math.log(farthest / exact)
    grown = (exact + (way * (buckets - exact)).long()).clamp_max(buckets - 1)
    return first + torch.where(far < exact, far, grown)


class RelativePositionBias(nn.Module):
    """T5's bias: a learned number for each bucket of distances and each head.

    Args:
        heads: H.
        is_causal: of a decoder, which sees no later keys.
        buckets: how many there are; even, at least 4.
        farthest: the distance from which on all share the last.
    """

    def __init__(
        self, heads: int, *, is_causal: bool, buckets: int = BUCKETS, farthest: int = FARTHEST
    ) -> None:
        super().__init__()
        check_buckets(buckets, farthest)
        self.is_causal, self.buckets, self.farthest = is_causal, buckets, farthest
        self.table = nn.Embedding(buckets, heads)

    def forward(self, queries: int, keys: int | None = None) -> Tensor:
        """(H, T, S), of the last T of the S places."""
        count = queries if keys is None else keys
        places = self._buckets(relative_distances(queries, count, self.table.weight.device))
        bias: Tensor = self.table(places)
        return bias.permute(2, 0, 1)

    def by_distance(self, length: int) -> Tensor:
        """Of key minus query from 1 - T to T - 1, (H, 2 T - 1)."""
        bias: Tensor = self.table(self._buckets(all_distances(length, self.table.weight.device)))
        return bias.T

    def _buckets(self, distances: Tensor) -> Tensor:
        return relative_bucket(
            distances, is_causal=self.is_causal, buckets=self.buckets, farthest=self.farthest
        )


def check_buckets(buckets: int, farthest: int) -> None:
    """Refuse buckets that cannot be halved, and a farthest distance that they reach exactly."""
    if buckets < 4 or buckets % 2:
        raise ConfigError(f"buckets must be even and at least 4, got {buckets}")
    if farthest <= buckets:
        raise ConfigError(f"farthest must be more than {buckets}, the buckets, got {farthest}")


def _fallen(slopes: Tensor, distances: Tensor) -> Tensor:
    """ALiBi at distances of any shape, (H, ...)."""
    return -slopes.reshape(-1, *(1 for _ in distances.shape)) * distances.abs()
