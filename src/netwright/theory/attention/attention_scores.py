r"""Scores of attention: why the dot product is scaled, and where it comes from.

For features with mean 0 and variance 1 the dot product of D of them has variance D: without a scale
the softmax puts nearly all weight on one key and has hardly a gradient left. And

    -|q - k|^2 / 2 = q . k - |k|^2 / 2 - |q|^2 / 2,

in which the last term cancels in the softmax, and the one before it too if all keys are as long.

Shapes: N pairs, B queries, S keys, D features.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor
from torch.nn.functional import normalize

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.attention.attention import masked_softmax
from netwright.layers.attention.attention_scores import dot_scores, kernel_scores, scaled_dot_scores
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_least, at_most, equals

SIZES = (4, 64, 512)  # D
NUMBERS = {"quick": 8_000_000, "full": 50_000_000}  # drawn for the queries of one size
MOST_PAIRS = 30_000
QUERIES = {"quick": 100, "full": 2000}
NEAR = 0.03  # of a variance over the one that is predicted
SATURATED, ALIVE = 0.2, 0.9  # what the softmax has left of its gradient, at most and at least
ROUNDING = 1e-12
MOST_DOTS = 300


@dataclass(frozen=True, kw_only=True)
class DotVarianceConfig(Config):
    """Queries and keys, and what their features are like."""

    keys: Annotated[int, Interval(ge=2, le=1000), Doc("S, keys of a query")] = 64
    independent: Annotated[
        bool, Assumption("features are independent; without it, those of a vector are all the same")
    ] = True
    centred: Annotated[bool, Assumption("their mean is 0; without it, 1")] = True


def draw_vectors(
    given: DotVarianceConfig, shape: tuple[int, ...], size: int, rng: torch.Generator
) -> Tensor:
    """Normal vectors (*shape, size) of variance 1 a feature."""
    drawn = torch.randn(*shape, size if given.independent else 1, generator=rng)
    return drawn.expand(*shape, size) + (0.0 if given.centred else 1.0)


def jacobian_trace(scores: Tensor) -> float:
    """The trace of the softmax's Jacobian, 1 - sum p^2, the mean over queries (B, 1, S)."""
    return float((1 - masked_softmax(scores).square().sum(dim=-1)).mean())


def measure_dot_variance(given: DotVarianceConfig, seed: int, effort: Effort) -> Verdict:
    """Variances of scores of 4 to 512 features, and what the softmax makes of the longest."""
    rng = generator(seed, "dot-product-variance")
    pairs = [min(MOST_PAIRS, NUMBERS[effort] // size) for size in SIZES]
    plain, scaled = [], []
    for size, count in zip(SIZES, pairs, strict=True):
        queries, keys = (draw_vectors(given, (count, 1), size, rng) for _ in range(2))
        plain.append(float(dot_scores(queries, keys).var()))
        scaled.append(float(scaled_dot_scores(queries, keys).var()))
    longest, asked = SIZES[-1], QUERIES[effort]
    queries = draw_vectors(given, (asked, 1), longest, rng)
    keys = draw_vectors(given, (asked, given.keys), longest, rng)
    return Verdict(
        findings=(
            *(
                equals(f"variance of q·k over D, D = {size}", 1, found / size, within=NEAR, n=count)
                for size, count, found in zip(SIZES, pairs, plain, strict=True)
            ),
            *(
                equals(f"variance of q·k/√D, D = {size}", 1, found, within=NEAR, n=count)
                for size, count, found in zip(SIZES, pairs, scaled, strict=True)
            ),
            at_most(
                f"trace of the softmax's Jacobian, unscaled, D = {longest}",
                SATURATED,
                jacobian_trace(dot_scores(queries, keys)),
                n=asked,
            ),
            at_least(
                f"trace of the softmax's Jacobian, scaled, D = {longest}",
                ALIVE,
                jacobian_trace(scaled_dot_scores(queries, keys)),
                n=asked,
            ),
        ),
        chart=ClaimChart(
            x_label="features, D",
            y_label="variance of the score",
            series=(
                predicted("D", SIZES, SIZES),
                predicted("1", SIZES, [1] * len(SIZES)),
                measured("q·k", SIZES, plain),
                measured("q·k/√D", SIZES, scaled),
            ),
            explanation="Scores of random queries and keys. Without the scale they spread as √D: "
            "one key takes all the weight, and the softmax has hardly a gradient left.",
            log="xy",
        ),
    )


DOT_VARIANCE = Claim(
    card=Card(
        sentence="The dot product of D independent features has variance D; over √D it has variance"
        " 1, and the softmax does not saturate.",
        formula=r"\mathrm{Var}(q \cdot k) = D, \quad"
        r" \mathrm{Var}\left(\frac{q \cdot k}{\sqrt{D}}\right) = 1",
        symbols={
            "q": "a query, features of mean 0 and variance 1, (D)",
            "k": "a key, alike, (D)",
        },
        source="Vaswani et al. (2017), arXiv:1706.03762, section 3.2.1",
    ),
    topic="Attention",
    kind="theorem",
    settings=DotVarianceConfig,
    experiment=measure_dot_variance,
)


@dataclass(frozen=True, kw_only=True)
class GaussianConfig(Config):
    """Random queries and keys."""

    keys: Annotated[int, Interval(ge=2, le=1000), Doc("S, keys")] = 20
    features: Annotated[int, Interval(ge=1, le=1000), Doc("D, features")] = 8
    equal_norms: Annotated[
        bool, Assumption("all keys are equally long; without it, they are as drawn")
    ] = True


def measure_gaussian_attention(given: GaussianConfig, seed: int, effort: Effort) -> Verdict:
    """The weights of a Gaussian kernel beside those of the dot product."""
    rng = generator(seed, "gaussian-attention")
    rows = (given.keys, QUERIES[effort])
    drawn = torch.randn(sum(rows), given.features, generator=rng, dtype=torch.float64)
    keys, queries = drawn.split_with_sizes(rows)
    if given.equal_norms:
        keys = normalize(keys, dim=1)
    by_kernel = masked_softmax(kernel_scores(queries, keys, "gaussian"))
    by_product = masked_softmax(dot_scores(queries, keys))
    x, y = (weights.flatten()[:MOST_DOTS].tolist() for weights in (by_product, by_kernel))
    return Verdict(
        findings=(
            at_most(
                "difference of two weights, the largest",
                ROUNDING,
                float((by_kernel - by_product).abs().max()),
                n=by_kernel.numel(),
            ),
        ),
        chart=ClaimChart(
            x_label="weight by the dot product",
            y_label="weight by the Gaussian kernel",
            series=(
                predicted("they are equal", (min(x), max(x)), (min(x), max(x))),
                measured("a query and a key", x, y),
            ),
            explanation="Attention by a Gaussian kernel is attention by the dot product."
            if given.equal_norms
            else "Of keys that differ in length the kernel prefers the short ones, the dot product "
            "the long ones.",
            log="xy",
        ),
    )


GAUSSIAN_ATTENTION = Claim(
    card=Card(
        sentence="Attention by a Gaussian kernel is attention by the dot product, if all keys are"
        " equally long.",
        formula=r"\|k_i\| = c \;\Rightarrow\; \mathrm{softmax}_i\left(-\frac{1}{2}"
        r" \|q - k_i\|^2\right) = \mathrm{softmax}_i(q \cdot k_i)",
        symbols={"q": "a query, (D)", "k_i": "keys, (S, D)", "c": "their common length"},
        source="Zhang et al. (2023), Dive into Deep Learning, section 11.3",
    ),
    topic="Attention",
    kind="theorem",
    settings=GaussianConfig,
    experiment=measure_gaussian_attention,
)
