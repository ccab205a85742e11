"""Curves that numbers go through before they are standardised, for columns with long tails.

    log        w(x) = sign(x) ln(1 + |x| / u), u the median size of the training values
    quantile   w(x) = the normal score of x: as far below 0 as so many training values lie below it

Both rise with x, so that no order is lost. Models see w(x), and its units are those of w.

Shapes: N values, K knots.
Source: van der Waerden, "Order tests for the two-sample problem and their power" (1952);
Gorishniy et al., "Revisiting Deep Learning Models for Tabular Data" (2021), section 4.2.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError

MOST_KNOTS = 201  # between which normal scores are straight lines


class NumberCurve(ABC):
    """A curve that rises; NaN stays NaN."""

    kind: ClassVar[str]

    @abstractmethod
    def apply(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """w(x) of each value (N,)."""

    @abstractmethod
    def undo(self, bent: float) -> float:
        """The x of which this is w(x)."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain values; "kind" tells which curve it is."""


@dataclass(frozen=True)
class LogCurve(NumberCurve):
    """Logarithms far from 0, on both sides; near 0, against `unit`, a straight line."""

    kind: ClassVar[str] = "log"
    unit: float

    def __post_init__(self) -> None:
        """Refuse a unit that no training values give."""
        if not 0 < self.unit < float("inf"):
            raise DataError(f"the unit of a logarithm must be above 0, got {self.unit!r:.60}")

    @classmethod
    def fit(cls, values: NDArray[np.float64]) -> "LogCurve":
        """By the median size of the values (N,) that are neither 0 nor missing."""
        sizes = abs(values[(values != 0) & ~np.isnan(values)])
        return cls(float(np.median(sizes)) if len(sizes) else 1.0)

    def apply(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """sign(x) ln(1 + |x| / u)."""
        with np.errstate(over="ignore"):  # against a tiny unit; what is scaled stays finite
            return np.sign(values) * np.log1p(abs(values) / self.unit)

    def undo(self, bent: float) -> float:
        """sign(w) u (e^|w| - 1)."""
        with np.errstate(over="ignore"):  # far outside of what was trained on
            return float(np.sign(bent) * np.expm1(abs(bent)) * self.unit)

    def to_json(self) -> dict[str, Any]:
        """The unit."""
        return {"kind": self.kind, "unit": self.unit}


@dataclass(frozen=True)
class QuantileCurve(NumberCurve):
    """Normal scores: straight lines between knots (K,), level beyond the first and the last."""

    kind: ClassVar[str] = "quantile"
    knots: tuple[float, ...]
    scores: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse knots that do not rise."""
        rises = all(bool((np.diff(part) > 0).all()) for part in (self.knots, self.scores))
        if not rises or not len(self.knots) == len(self.scores) > 0:
            raise DataError("the knots of normal scores, and the scores, must rise")

    @classmethod
    def fit(
        cls, values: NDArray[np.float64], weights: NDArray[np.float64] | None = None
    ) -> "QuantileCurve":
        """By the share of the training values (N,) below each: half of its equals counted."""
        present = ~np.isnan(values)
        amounts = np.ones(len(values)) if weights is None else weights
        distinct, places = np.unique(values[present], return_inverse=True)
        sums = np.bincount(places, amounts[present])
        shares = (sums.cumsum() - sums / 2) / sums.sum()
        if len(distinct) > MOST_KNOTS:
            even = np.linspace(shares[0], shares[-1], MOST_KNOTS)
            kept = np.unique(np.searchsorted(shares, even).clip(max=len(shares) - 1))
            distinct, shares = distinct[kept], shares[kept]
        scores = [NormalDist().inv_cdf(share) for share in shares.tolist()]
        return cls(tuple(distinct.tolist()), tuple(scores))

    def apply(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores, between those of the knots around."""
        return np.interp(values, self.knots, self.scores)

    def undo(self, bent: float) -> float:
        """The value with this score."""
        return float(np.interp(bent, self.scores, self.knots))

    def to_json(self) -> dict[str, Any]:
        """Knots and scores."""
        return {"kind": self.kind, "knots": list(self.knots), "scores": list(self.scores)}


def read_curve(values: Mapping[str, Any]) -> NumberCurve:
    """The curve that `to_json` gave."""
    if values.get("kind") == LogCurve.kind:
        return LogCurve(values["unit"])
    if values.get("kind") == QuantileCurve.kind:
        return QuantileCurve(tuple(values["knots"]), tuple(values["scores"]))
    raise DataError(f"a curve must be one of log, quantile, got {values.get('kind')!r:.60}")
