"""Misprints about attention and positional encodings.

Shapes: T positions, D features, H heads.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from netwright.core.seeding import generator
from netwright.theory.misprints.entry import Misprint, Telling

FEATURES, POSITIONS, SHIFT = 16, 50, 7


def encode(sine_speeds: Tensor, cosine_speeds: Tensor) -> Tensor:
    """Sine and cosine of position times speed, side by side, (T, D / 2, 2)."""
    positions = torch.arange(POSITIONS + SHIFT, dtype=torch.float64)[:, None]
    return torch.stack([(positions * sine_speeds).sin(), (positions * cosine_speeds).cos()], dim=2)


def rotation_residual(encoding: Tensor) -> float:
    """How far the best 2 x 2 map of each pair misses the encoding SHIFT positions on.

    Where a shift is a rotation of every pair, some map is exact.
    """
    now, later = encoding[:POSITIONS], encoding[SHIFT:]
    missed = []
    for pair in range(encoding.shape[1]):
        best = torch.linalg.lstsq(now[:, pair], later[:, pair]).solution
        missed.append(float((now[:, pair] @ best - later[:, pair]).abs().max()))
    return max(missed)


def speeds(numbers: Tensor, base: float = 1e-4) -> Tensor:
    """Of the features with these numbers: base^(number / D), by default 10000^(-number / D)."""
    return torch.as_tensor(base, dtype=torch.float64).pow(numbers / FEATURES)


def encoding_exponent() -> Telling:
    """Exponents from the pair's number, and from twice the feature's own."""
    even = 2 * torch.arange(FEATURES // 2)
    return Telling(
        what="residual of the best rotation by 7 positions",
        rule="at most",
        bound=1e-12,
        right=rotation_residual(encode(speeds(even), speeds(even))),
        wrong=rotation_residual(encode(speeds(2 * even), speeds(2 * (even + 1)))),
    )


def encoding_frequency() -> Telling:
    """Frequencies that fall with the pair, and frequencies that grow with the feature."""
    even = 2 * torch.arange(FEATURES // 2)
    return Telling(
        what="residual of the best rotation by 7 positions",
        rule="at most",
        bound=1e-12,
        right=rotation_residual(encode(speeds(even), speeds(even))),
        wrong=rotation_residual(encode(speeds(even, 1e4), speeds(even + 1, 1e4))),
    )


def attend(x: Tensor) -> Tensor:
    """Self-attention without matrices, (T, D)."""
    return (x @ x.T / math.sqrt(x.shape[1])).softmax(dim=1) @ x


def permutation() -> Telling:
    """Five positions in another order."""
    rng = generator(0, "order")
    x = torch.randn(5, 8, generator=rng, dtype=torch.float64)
    order = torch.tensor([3, 0, 4, 1, 2])
    return Telling(
        what="largest difference from the outputs of the first order, permuted or not",
        rule="at most",
        bound=1e-12,
        right=float((attend(x[order]) - attend(x)[order]).abs().max()),
        wrong=float((attend(x[order]) - attend(x)).abs().max()),
    )


def value_index() -> Telling:
    """One query over four positions: a mixture of all values, or one value times 1."""
    rng = generator(0, "values")
    scores, values = torch.randn(2, 4, generator=rng, dtype=torch.float64)
    weights, place = scores.softmax(0), 0
    wanted = nn.functional.scaled_dot_product_attention(
        torch.ones(1, 1, dtype=torch.float64), scores[:, None], values[:, None]
    )
    return Telling(
        what="output of attention less the one by torch",
        rule="equals",
        bound=0.0,
        within=1e-12,
        right=float(sum(weights * values) - wanted),
        wrong=float(sum(weights * values[place]) - wanted),
    )


@torch.no_grad()
def head_mixing() -> Telling:
    """Two heads on three positions, against torch's layer."""
    layer = nn.MultiheadAttention(8, 2, bias=False, batch_first=True).double()
    rng = generator(0, "heads")
    for weight in layer.parameters():
        weight.copy_(torch.randn(weight.shape, generator=rng) / 3)
    x = torch.randn(1, 3, 8, generator=rng, dtype=torch.float64)
    wanted, _ = layer(x, x, x, need_weights=False)
    parts = (x @ layer.in_proj_weight.T).chunk(3, dim=-1)
    query, key, value = (part.view(1, 3, 2, 4).transpose(1, 2) for part in parts)
    heads = nn.functional.scaled_dot_product_attention(query, key, value)
    joined = heads.transpose(1, 2).reshape(1, 3, 8)
    return Telling(
        what="largest difference from torch's layer",
        rule="at most",
        bound=1e-12,
        right=float((joined @ layer.out_proj.weight.T - wanted).abs().max()),
        wrong=float((joined - wanted).abs().max()),
    )


def masked_sum() -> Telling:
    """Four positions of which the last is padding."""
    scores = torch.tensor([0.5, -1.0, 0.3, 2.0], dtype=torch.float64)
    mask, far = torch.tensor([False, False, False, True]), -1e6
    return Telling(
        what="sum of the attention weights",
        rule="equals",
        bound=1.0,
        within=1e-12,
        right=float(scores.masked_fill(mask, far).softmax(0).sum()),
        wrong=float(scores.softmax(0).masked_fill(mask, far).sum()),
    )


def scaled_scores() -> Telling:
    """Queries and keys of 512 random features."""
    rng, features = generator(0, "scores"), 512
    query, key = torch.randn(2, 4000, features, generator=rng, dtype=torch.float64)
    scores = (query * key).sum(dim=1)
    return Telling(
        what="variance of the scores of 512 features",
        rule="equals",
        bound=1.0,
        within=0.1,
        right=float((scores / math.sqrt(features)).var()),
        wrong=float(scores.var()),
    )


def counted_flops(work: Callable[[], object]) -> int:
    """The operations of its products of matrices, as torch counts them."""
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


def cheaper() -> Telling:
    """Sequences of 16 to 256 positions, 64 features: the products of matrices, counted."""
    lengths, features = (16, 32, 128, 256), 64

    def ratio(positions: int) -> float:
        x, weights = torch.zeros(positions, features), torch.zeros(features, features)
        attention = counted_flops(lambda: x @ x.T)
        return attention / counted_flops(lambda: [state @ weights for state in x[:, None]])

    return Telling(
        what="cost of the scores over that of recurrence, the largest of the lengths it is said of",
        rule="at most",
        bound=1.0,
        right=max(ratio(length) for length in lengths if length < features),
        wrong=max(ratio(length) for length in lengths),
    )


ATTENTION = (
    Misprint(
        name="positional-exponent",
        topic="Attention",
        right=r"PE_{t, 2i} = \sin\left(\frac{t}{10000^{2i/d}}\right), \quad"
        r" PE_{t, 2i+1} = \cos\left(\frac{t}{10000^{2i/d}}\right)",
        wrong=r"PE_{t, i} = \sin\left(\frac{t}{10000^{2i/d}}\right), \;"
        r" \cos\left(\frac{t}{10000^{2i/d}}\right)",
        difference="i numbers the pairs; with the feature's own number sine and cosine of a pair "
        "run at different speeds, and a shift is no rotation.",
        experiment=encoding_exponent,
    ),
    Misprint(
        name="positional-frequency",
        topic="Attention",
        right=r"\omega_k = C^{-2 \lfloor k/2 \rfloor / d}",
        wrong=r"\omega_k = C^{k/d}",
        difference="Frequencies fall with the feature, and a sine shares its own with a cosine.",
        experiment=encoding_frequency,
    ),
    Misprint(
        name="attention-equivariance",
        topic="Attention",
        right=r"A(P X) = P A(X)",
        wrong=r"A(P X) = A(X)",
        difference="Outputs are permuted along with the inputs: equivariant, not invariant.",
        experiment=permutation,
    ),
    Misprint(
        name="attention-values",
        topic="Attention",
        right=r"y_i = \sum_t \mathrm{softmax}_t(\omega_i) \, v_t",
        wrong=r"y_i = \sum_t \mathrm{softmax}_t(\omega_i) \, v_i",
        difference="The values that are mixed are those of all positions; with v_i outside of the "
        "sum nothing is mixed.",
        experiment=value_index,
    ),
    Misprint(
        name="attention-mask",
        topic="Attention",
        right=r"\alpha = \mathrm{softmax}(\text{scores}, \; -10^6 \text{ where masked})",
        wrong=r"\alpha = -10^6 \; \text{ where masked}",
        difference="The mask is laid on the scores before the softmax, not on the weights after.",
        experiment=masked_sum,
    ),
    Misprint(
        name="attention-scale",
        topic="Attention",
        right=r"\mathrm{softmax}\left(\frac{q \cdot k}{\sqrt{d}}\right), \quad"
        r" \mathrm{Var}\left(\frac{q \cdot k}{\sqrt{d}}\right) = 1",
        wrong=r"\mathrm{softmax}(q \cdot k)",
        difference="Unscaled scores have the variance d; they are too large, not too small, and "
        "the softmax saturates.",
        experiment=scaled_scores,
    ),
    Misprint(
        name="multi-head-output",
        topic="Attention",
        right=r"[\mathrm{head}_1, \ldots, \mathrm{head}_H] \, W^O",
        wrong=r"[\mathrm{head}_1, \ldots, \mathrm{head}_H]",
        difference="The heads are joined and then mixed by a matrix of their own.",
        experiment=head_mixing,
    ),
    Misprint(
        name="attention-cost",
        topic="Attention",
        right=r"n^2 d < n d^2 \; \text{ where } n < d",
        wrong=r"n^2 d < n d^2",
        difference="Attention is cheaper than recurrence only for sequences shorter than their "
        "features are many.",
        experiment=cheaper,
    ),
)
