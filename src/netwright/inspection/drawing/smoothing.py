r"""A noisy curve made smooth: each value is the mean of those around it.

    s_i = mean of v_{i-h} ... v_{i+h}        h = min(reach, i)

As many from the right as from the left, so that a falling curve is not shown too high, as a running
mean of the past does; at the beginning, which is steep, fewer; at the end those that there are.
"""

from collections.abc import Sequence
from itertools import accumulate


def smoothed(values: Sequence[float], reach: int) -> tuple[float, ...]:
    """The means (n,) of the values (n,) within reach on both sides."""
    sums = [0.0, *accumulate(values)]
    means = []
    for place in range(len(values)):
        h = min(reach, place)
        end = min(place + h + 1, len(values))
        means.append((sums[end] - sums[place - h]) / (end - place + h))
    return tuple(means)
