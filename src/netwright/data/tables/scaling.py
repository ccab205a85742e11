"""One standardised number: fitted on the training rows, with the median where it is missing."""

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netwright.data.tables.column_cells import LARGEST
from netwright.data.training_range import is_far

ScalingKind = Literal["standard", "robust", "log", "quantile"]
OF_A_NORMAL = 1.3489795003921634  # its interquartile range, in standard deviations


@dataclass(frozen=True)
class Scaling:
    """z = (x - mean) / std, and the median in place of a missing x.

    A column that never varies has std 0 and gives nothing to learn from. The smallest and the
    largest training value tell which new ones lie far outside; what older runs learned has none.
    """

    mean: float
    std: float
    median: float
    low: float | None = field(default=None, compare=False)
    high: float | None = field(default=None, compare=False)

    @classmethod
    def fit(
        cls, values: NDArray[np.float64], weights: NDArray[np.float64] | None = None
    ) -> "Scaling":
        """Of the training values.

        Args:
            values: (N,), NaN where missing; at least one is there.
            weights: how much each row counts (N,), positive: 2 is the row twice.
        """
        # Sorted, so that the sums round alike whatever the order of the rows; NaN is last.
        count = int((~np.isnan(values)).sum())
        if weights is None:  # what is sorted alone is sorted ten times as fast
            present = np.sort(values)[:count]
        else:
            order = np.argsort(values, kind="stable")[:count]
            present, weights = values[order], weights[order]
        low, high = float(present[0]), float(present[-1])
        if low == high:
            return cls(low, 0.0, low, low, high)
        # Measured in units of the largest, so that squares of tiny values do not vanish.
        unit = max(abs(low), abs(high))
        scaled = present / unit
        if weights is None:
            std = float(scaled.std()) * unit
            median = float(present[(count - 1) // 2] + present[count // 2]) / 2
            return cls(float(scaled.mean()) * unit, std, median, low, high)
        shares = weights / weights.sum()
        mean = shares @ scaled
        std = float(np.sqrt(shares @ (scaled - mean) ** 2)) * unit
        return cls(float(mean) * unit, std, _quantile(present, weights, 0.5), low, high)

    @classmethod
    def fit_robust(
        cls, values: NDArray[np.float64], weights: NDArray[np.float64] | None = None
    ) -> "Scaling":
        """By median and interquartile range, which a few absurd values do not move.

            z = (x - median) / ((q_75 - q_25) / 1.349)

        of which normal values have the standard deviation 1. Where the range is 0, as of a column
        that is mostly one value, it is the usual scaling.
        """
        usual = cls.fit(values, weights)
        order = np.argsort(values, kind="stable")[: int((~np.isnan(values)).sum())]
        amounts = np.ones(len(order)) if weights is None else weights[order]
        low, high = (_quantile(values[order], amounts, share) for share in (0.25, 0.75))
        spread = high / OF_A_NORMAL - low / OF_A_NORMAL
        return replace(usual, mean=usual.median, std=spread) if spread else usual

    def far_outside(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which values (N,) lie outside the training range by more than half its width."""
        if self.low is None or self.high is None:
            return np.zeros(len(values), np.bool_)
        return is_far(values, self.low, self.high)

    def undo(self, z: float) -> float:
        """The value that was standardised to z."""
        return z * self.std + self.mean

    def apply(self, values: NDArray[np.float64]) -> NDArray[np.float32]:
        """Standardised values (N,), the missing ones from the median."""
        z = np.where(np.isnan(values), self.median, values)
        # New rows may lie absurdly far out; they stay finite as 32-bit floats.
        with np.errstate(over="ignore"):
            z -= self.mean
            z /= self.std
        return np.clip(z, -LARGEST, LARGEST, out=z).astype(np.float32)


def _quantile(ordered: NDArray[np.float64], weights: NDArray[np.float64], share: float) -> float:
    """So much of the weight lies below it; the mean of two values where that is so of both."""
    until = weights.cumsum()
    part = until[-1] * share
    low, high = np.searchsorted(until, part), np.searchsorted(until, part, side="right")
    return float(ordered[low] / 2 + ordered[high] / 2)
