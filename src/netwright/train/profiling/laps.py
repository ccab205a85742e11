"""Laps: how long each part of an update takes, by the clock of the device that computes it.

On a CPU a lap is the time between two calls. Elsewhere the host only fills a queue: there a lap is
the time between two events in the device's queue, which is waited for when the laps are read.
"""

import time
from collections import Counter
from itertools import pairwise

import torch


class Laps:
    """Notes which part of an update is over, and when.

    Args:
        device: that computes.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._moments: list[tuple[int, str, float | torch.Event]] = []
        self._updates = 0

    def __call__(self, part: str) -> None:
        """What was done since the last call was this part."""
        self._moments.append((self._updates, part, self._now()))

    def begin(self) -> None:
        """What was done since the last call was no part of an update."""
        self("")

    def close(self) -> None:
        """What follows belongs to the next update."""
        self._updates += 1

    def read(self) -> list[dict[str, float]]:
        """Seconds by part, of each update that was closed."""
        if self.device.type != "cpu" and self._moments:
            self._moments[-1][-1].synchronize()  # type: ignore[union-attr]
        sums: list[Counter[str]] = [Counter() for _ in range(self._updates)]
        for (_, _, before), (update, part, after) in pairwise(self._moments):
            if part and update < self._updates:
                sums[update][part] += _between(before, after)  # type: ignore[assignment]
        return [dict(parts) for parts in sums]

    def _now(self) -> float | torch.Event:
        if self.device.type == "cpu":
            return time.perf_counter()
        event = torch.Event(self.device, enable_timing=True)
        event.record()
        return event


def _between(before: float | torch.Event, after: float | torch.Event) -> float:
    if isinstance(before, float) and isinstance(after, float):
        return after - before
    return float(before.elapsed_time(after)) / 1000  # type: ignore[union-attr, arg-type]
