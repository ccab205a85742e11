"""A slope that was worked out, held against the slope that is measured.

    slope  ?=  (f(h) - f(-h)) / 2 h

In float64 a step of h = 1e-5 is off by about h² = 1e-10 for its curvature and eps / h = 2e-11 for
rounding: 1e-6 is far above both, and far below what a wrong formula does. Where a disagreement goes
away with a smaller step, the large one had crossed a kink; where it stays, and the slopes to the
left and to the right differ, the point lies on a kink (ReLU at 0, equal maxima), and any slope
between them is as good as another.

Source: Griewank and Walther, "Evaluating Derivatives" (2008), chapter 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

TOLERANCE = 1e-6
_STEPS = (1e-5, 1e-6, 1e-7)
_KINK = 1e-3  # difference of the slopes to both sides, beside the slope itself
_ROUNDING = 4e-15  # of one value of f, beside its size: a few of float64's smallest parts

Verdict = Literal["ok", "kink", "off"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """What came of it.

    Args:
        verdict: ok, off, or at a kink, where it cannot be told.
        error: the difference beside the slope, less what rounding explains.
    """

    verdict: Verdict
    error: float

    def __str__(self) -> str:
        return f"OFF {self.error:.0e}" if self.verdict == "off" else self.verdict


def check_slope(f: Callable[[float], float], slope: float, scale: float) -> Check:
    """Whether `slope` is the derivative of f at 0.

    Args:
        f: a function of one step, in float64.
        slope: what was worked out.
        scale: how large slopes of this kind are: an error beside a slope that happens to be near 0
            is measured by it.
    """
    least = math.inf
    for step in _STEPS:
        above, below = f(step), f(-step)
        measured = (above - below) / (2 * step)
        rounding = _ROUNDING * max(1.0, abs(above), abs(below)) / step
        largest = max(abs(measured), abs(slope), scale)
        apart = max(0.0, abs(measured - slope) - rounding)
        least = min(least, apart / largest if apart else 0.0)
        if least <= TOLERANCE:
            return Check(verdict="ok", error=least)
    bend = abs(above - 2 * f(0.0) + below) / step
    kink = bend > _KINK * largest + rounding
    return Check(verdict="kink" if kink else "off", error=least)
