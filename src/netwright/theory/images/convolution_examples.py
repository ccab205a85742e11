r"""Convolution and pooling by hand: two worked examples, and what a shift does to a maximum.

The maximum of w neighbours is taken at every place. A shift by one place takes one value out of
each window and one into it. Of these w + 1 values each is the largest equally often, where they
are independent; the maximum stays if the largest is one of the w - 1 that are in both windows:

    P(a pooled value changes) = 2 / (w + 1),        1/2 for w = 3.

Shapes: N windows, w places of a window.
Source: Goodfellow, Bengio and Courville, "Deep Learning" (2016), figures 9.1 and 9.8.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.convolution.convolution import WAYS, convolve, correlate
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import (
    Estimate,
    Verdict,
    equals,
    estimate_share,
    no_violations,
)

IMAGE = torch.arange(1.0, 13.0, dtype=torch.float64).reshape(4, 3)
FILTER = torch.arange(1.0, 5.0, dtype=torch.float64).reshape(2, 2)
CONVOLVED = ((37, 47), (67, 77), (97, 107))
MAPS = ((1, 2, 5, 3), (3, 0, 1, 2), (2, 1, 3, 4), (1, 1, 2, 0))
POOLED = ((3, 5), (2, 4))

DETECTED, DETECTED_SHIFTED = (0.1, 1.0, 0.2, 0.1), (0.3, 0.1, 1.0, 0.2)
WINDOW = 3
WIDTHS = (1, 2, 3, 4, 5, 7, 9)
WINDOWS = {"quick": 4000, "full": 100_000}
STANDARD_ERRORS = 4.0  # of a share, that it may be off


@dataclass(frozen=True, kw_only=True)
class WorkedExamplesConfig(Config):
    """What the layer computes."""

    unflipped: Annotated[
        bool,
        Assumption("the kernel is not flipped: the layer is a cross-correlation"),
    ] = True


def measure_worked_examples(given: WorkedExamplesConfig, seed: int, effort: Effort) -> Verdict:
    """Compute the two examples, the first in every way that the library has."""
    layer = correlate if given.unflipped else convolve
    maps = [layer(IMAGE, FILTER, "valid", by=way) for way in WAYS]
    told, pooled_told = torch.tensor(CONVOLVED), torch.tensor(POOLED)
    pooled = nn.MaxPool2d(2)(torch.tensor([MAPS], dtype=torch.float64))[0]
    wrong = sum(int((found - told).abs().gt(1e-9).sum()) for found in maps)
    names = [f"{int(value)}" for value in (*told.flatten(), *pooled_told.flatten())]
    places = range(len(names))
    return Verdict(
        findings=(
            no_violations(
                f"entries of the filtered 1 to 12 that are wrong, computed in {len(WAYS)} ways",
                wrong,
                n=len(WAYS) * told.numel(),
            ),
            no_violations(
                "entries of the pooled map that are wrong",
                int((pooled != pooled_told).sum()),
                n=pooled_told.numel(),
            ),
        ),
        chart=ClaimChart(
            x_label="entry: six of the filtered picture, four of the pooled map",
            y_label="value",
            series=(
                predicted("by hand", places, [float(name) for name in names]),
                measured("computed", places, [*maps[0].flatten(), *pooled.flatten()]),
            ),
            explanation="The picture has 1 to 12 in four rows, the filter 1 to 4 in two: the first "
            "entry is 1·1 + 2·2 + 3·4 + 4·5 = 37. Pooling keeps the largest of each 2 x 2 block."
            if given.unflipped
            else "A flipped kernel starts with 4·1 + 3·2 + 2·4 + 1·5 = 23, not with 37.",
            categories=tuple(names),
        ),
    )


WORKED_EXAMPLES = Claim(
    card=Card(
        sentence="The filter 1 to 4 makes 37, 47, 67, 77, 97 and 107 of the picture 1 to 12, and "
        "max-pooling keeps the largest value of each block.",
        formula=r"y_{kl} = \sum_{i,j=0}^{1} w_{ij} \, x_{k+i,\,l+j}, \qquad"
        r" p_{kl} = \max_{i,j<2} x_{2k+i,\,2l+j}",
        symbols={
            "x": "the picture, (4, 3), or the map, (4, 4)",
            "w": "the filter, (2, 2)",
            "y": "the filtered picture, (3, 2)",
            "p": "the pooled map, (2, 2)",
        },
        source="Goodfellow, Bengio and Courville (2016), Deep Learning, figure 9.1",
        misprint="The windows of max-pooling are often printed with both ends, kr to (k+1)r, which "
        "are r + 1 places; they end at (k+1)r - 1.",
    ),
    topic="Images",
    kind="theorem",
    settings=WorkedExamplesConfig,
    experiment=measure_worked_examples,
)


@dataclass(frozen=True, kw_only=True)
class PoolingShiftConfig(Config):
    """How values are pooled, and what they are."""

    maximum: Annotated[bool, Assumption("the largest value is kept; without it, the mean")] = True
    independent: Annotated[
        bool,
        Assumption("neighbouring values are independent; without it, they rise along the signal"),
    ] = True

    def pool(self, width: int, padding: int = 0) -> nn.Module:
        """Windows of this width at every place."""
        kind = nn.MaxPool1d if self.maximum else nn.AvgPool1d
        return kind(width, stride=1, padding=padding)


def count_changes(before: Sequence[float], after: Sequence[float], pool: nn.Module) -> int:
    """Values of the pooled signal that a change of the signal changes."""
    pair = torch.tensor([before, after], dtype=torch.float64)
    first, second = pool(pair)
    return int((first != second).sum())


def share_changed(
    given: PoolingShiftConfig, width: int, windows: int, rng: torch.Generator
) -> Estimate:
    """The share of pooled values that a shift by one place changes."""
    values = torch.rand(windows, width + 1, generator=rng, dtype=torch.float64)
    if not given.independent:
        values = values.sort(dim=1).values
    pooled: Tensor = given.pool(width)(values)  # (N, 2): a window, and the one next to it
    return estimate_share(int((pooled[:, 0] != pooled[:, 1]).sum()), windows)


def measure_pooling_shift(given: PoolingShiftConfig, seed: int, effort: Effort) -> Verdict:
    """Shift the example of the book by one place, then many signals of random values."""
    rng, count = generator(seed, "pooling-shift"), WINDOWS[effort]
    told = {width: 2 / (width + 1) for width in WIDTHS}
    found = {width: share_changed(given, width, count, rng) for width in WIDTHS}
    share = told[WINDOW]
    pool = given.pool(WINDOW, padding=WINDOW // 2)
    return Verdict(
        findings=(
            equals(
                "detector values of the example that change",
                len(DETECTED),
                count_changes(DETECTED, DETECTED_SHIFTED, nn.Identity()),
                n=len(DETECTED),
            ),
            equals(
                "pooled values of the example that change",
                len(DETECTED) // 2,
                count_changes(DETECTED, DETECTED_SHIFTED, pool),
                n=len(DETECTED),
            ),
            equals(
                f"share of pooled random values that change, windows of {WINDOW}",
                share,
                found[WINDOW].mean,
                within=STANDARD_ERRORS * (share * (1 - share) / count) ** 0.5,
                n=count,
                interval=found[WINDOW].interval,
            ),
        ),
        chart=ClaimChart(
            x_label="width of the pooling window, w",
            y_label="share of values that a shift changes",
            series=(
                predicted("2 / (w + 1)", WIDTHS, told.values()),
                measured(
                    "measured",
                    WIDTHS,
                    [one.mean for one in found.values()],
                    [one.interval for one in found.values()],
                ),
            ),
            explanation="A signal moves by one place. Without pooling (w = 1) every value changes; "
            "the maximum of three neighbours changes at half the places only, and wider windows "
            "change less.",
        ),
    )


POOLING_SHIFT = Claim(
    card=Card(
        sentence="A shift by one place changes every detector value, but only half of the maxima "
        "over three neighbours.",
        formula=r"P(\max(x_k, \ldots, x_{k+w-1}) \neq \max(x_{k+1}, \ldots, x_{k+w}))"
        r" = \frac{2}{w+1}",
        symbols={"x_k": "independent detector values", "w": "neighbours that are pooled"},
        source="Goodfellow, Bengio and Courville (2016), Deep Learning, figure 9.8",
        misprint="Pooling is often said to make a network invariant to shifts. Half of the values "
        "still change at a shift by one place; only pooling over all places changes none.",
    ),
    topic="Images",
    kind="theorem",
    settings=PoolingShiftConfig,
    experiment=measure_pooling_shift,
)
