"""A slope that was worked out, held against the slope that is measured.

    slope  ?=  (f(h) - f(-h)) / 2 h

In float64 a step of h = 1e-5 is off by about h² = 1e-10 for its curvature and eps / h = 2e-11 for
rounding: 1e-6 is far above both, and far below what a wrong formula does. Where a disagreement goes
away with a smaller step, the large one had crossed a kink, left the domain or met a strong bend;
where it stays, and the slopes to the left and to the right differ, the point lies on a kink (ReLU
at 0, equal maxima), and any slope between them is as good as another. What is smaller than its own
rounding is not measured.

Source: Griewank and Walther, "Evaluating Derivatives" (2008), chapter 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

TOLERANCE = 1e-6
_STEPS = (1e-5, 1e-7, 1e-9, 1e-11, 1e-13)
_COARSE = 1e-2  # rounding beside the slope, from which on nothing was measured
_KINK = 1e-3  # difference of the slopes to both sides, beside the slope itself
_ROUNDING = 4e-15  # of a number, beside its size: a few of float64's smallest parts

Verdict = Literal["ok", "kink", "off", "unclear"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """What came of it.

    Args:
        verdict: ok, off, at a kink, where it cannot be told, or unclear: it was not measured, since
            there is no value or since it is smaller than the rounding.
        error: the difference beside the slope, less what rounding explains.
    """

    verdict: Verdict
    error: float

    def __str__(self) -> str:
        return f"OFF {self.error:.0e}" if self.verdict == "off" else self.verdict


def check_slope(f: Callable[[float], Tensor], slope: float, scale: float, size: float) -> Check:
    """Whether `slope` is the derivative at 0 of the sum of what f gives.

    Args:
        f: of one step, in float64; numbers that do not move are left out of the sum.
        slope: what was worked out.
        scale: how large slopes of this kind are: an error beside a slope that happens to be near 0
            is measured by it.
        size: of the numbers that f is computed from, each by its weight: they are rounded too.
    """
    if not math.isfinite(slope):
        return Check(verdict="off" if bool(f(0.0).isfinite().all()) else "unclear", error=math.inf)
    errors: list[float] = []
    told = kink = 0.0  # the last step that tells, and how much of a bend is one
    for step in _STEPS:
        measured, numbers = _measure(f, step)
        rounding = _ROUNDING * (size + numbers) / step
        if not math.isfinite(measured) or not math.isfinite(rounding):
            continue  # a smaller step may stay where f has values
        if measured == slope:
            return Check(verdict="ok", error=0.0)
        largest = max(abs(measured), abs(slope), scale)
        if rounding > largest * min([_COARSE, *(error / 10 for error in errors)]):
            break  # it would hide what was seen, and smaller steps round more
        errors.append(max(0.0, abs(measured - slope) - rounding) / largest)
        if errors[-1] <= TOLERANCE:
            return Check(verdict="ok", error=errors[-1])
        told, kink = step, _KINK * largest + rounding
    if not errors:
        return Check(verdict="unclear", error=0.0)
    if len(errors) > 1 and errors[-1] < errors[-2] / 2:  # even smaller steps would be needed
        return Check(verdict="unclear", error=errors[-1])
    return Check(verdict="kink" if _bend(f, told) > kink else "off", error=errors[-1])


def _measure(f: Callable[[float], Tensor], step: float) -> tuple[float, float]:
    """The slope between both sides, and the size of the numbers that move."""
    above, below = f(step), f(-step)
    moves = above != below
    slope = float((above - below)[moves].sum()) / (2 * step)
    return slope, float(above[moves].abs().sum())


def _bend(f: Callable[[float], Tensor], step: float) -> float:
    """How far the slopes to both sides are apart."""
    above, middle, below = f(step), f(0.0), f(-step)
    moves = (above != middle) | (below != middle)
    return abs(float((above - 2 * middle + below)[moves].sum())) / step
