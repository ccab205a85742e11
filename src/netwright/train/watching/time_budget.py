r"""How much of a run's time may go into watching it, and how much has gone.

    allowed(t) = max(a, p min(t, s) + q max(0, t - s))        p = 2 %, s = 30 s, q = 1 %

t are the seconds since training began in this process, and a is 0.15 s, which takes no patience
however short a run is: the first look alone takes as long at a ResNet-50 on a graphics card.

What a look takes is the time of this thread, which other programs on the machine do not lengthen,
or that of the device where it takes longer. The device's is known later: nothing waits for it.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch

LEAST = 0.15  # seconds that any run may take
FIRST, OF_FIRST, OF_REST = 30.0, 0.02, 0.01


class Clock(NamedTuple):
    """Two clocks, in seconds: of the world, and of the work of this thread."""

    now: Callable[[], float] = time.monotonic
    work: Callable[[], float] = time.thread_time


def allowed(seconds: float) -> float:
    """The seconds that watching may take of the first so many of a run."""
    return max(LEAST, OF_FIRST * min(seconds, FIRST) + OF_REST * max(0.0, seconds - FIRST))


class TimeBudget:
    """Grants looks while there is time for them, and counts what they take.

    Args:
        device: on which looks are computed.
        clock: that counts.
    """

    def __init__(self, device: torch.device, clock: Clock | None = None) -> None:
        self.on_cuda, self.clock = device.type == "cuda", clock or Clock()
        self.started, self.began_work = self.clock.now(), self.clock.work()
        self.granted: Counter[str] = Counter()
        self.spent: dict[str, float] = {}
        self._queued: list[tuple[str, float, Any, Any]] = []  # whose time on the device is unknown

    @property
    def elapsed(self) -> float:
        """Seconds since training began."""
        return self.clock.now() - self.started

    @property
    def busy(self) -> float:
        """The part of them in which other programs had no part, as far as it is known."""
        return self.elapsed if self.on_cuda else self.clock.work() - self.began_work

    @property
    def total(self) -> float:
        """Seconds that looks took, as far as it is known."""
        self._read()
        return sum(self.spent.values())

    def grants(self, kind: str, guess: float = 0.0, sure: int = 0) -> bool:
        """Whether there is time for one more look of a kind, which then counts as taken.

        Args:
            kind: looks of one kind take about as long as each other.
            guess: the seconds that the first of them may take.
            sure: so many of them are granted whatever they take.
        """
        total, count = self.total, self.granted[kind]
        cost = self.spent.get(kind, 0.0) / count if count else guess
        if count >= sure and total + cost > allowed(self.elapsed):
            return False
        self.granted[kind] += 1
        return True

    @contextmanager
    def spending(self, kind: str) -> Iterator[None]:
        """Count what a block takes."""
        started, begin = self.clock.work(), self._mark()
        try:
            yield
        finally:
            taken = self.clock.work() - started
            self.spent[kind] = self.spent.get(kind, 0.0) + taken
            if begin is not None:
                self._queued.append((kind, taken, begin, self._mark()))

    def let_go(self) -> None:
        """No look is to come: the events go now, not when the collector comes to them."""
        self._queued.clear()

    def _mark(self) -> Any:
        """An event in the device's queue; None where there is no such."""
        if not self.on_cuda:
            return None
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        return event

    def _read(self) -> None:
        """Add what the device took longer than the host, of looks that it is done with."""
        while self._queued and self._queued[0][-1].query():
            kind, taken, begin, end = self._queued.pop(0)
            self.spent[kind] += max(0.0, begin.elapsed_time(end) / 1000 - taken)
