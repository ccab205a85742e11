"""Timeouts of one length: they end in the order in which they began, so that one timer will do.

A timer of its own for each request, which hardly ever rings, takes longer than to read it.
"""

import asyncio
import threading
from types import TracebackType
from typing import Self


class Deadlines:
    """Those of one length, in one loop.

    Args:
        loop: it runs in.
        seconds: each takes.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop, self._seconds = loop, seconds
        self._running: dict[within, float] = {}  # ascending: when each ends
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, one: "within") -> None:
        """Let one run."""
        self._running[one] = end = self._loop.time() + self._seconds
        if self._timer is None:
            self._timer = self._loop.call_at(end, self._ring)

    def stop(self, one: "within") -> None:
        """It was in time, or has ended."""
        self._running.pop(one, None)

    def _ring(self) -> None:
        self._timer = None
        for one, end in list(self._running.items()):
            if end > self._loop.time():
                self._timer = self._loop.call_at(end, self._ring)
                return
            self.stop(one)
            one.end()


class within:  # noqa: N801 - it reads like asyncio.timeout, and does what that does
    """`async with within(seconds)`: what takes longer is cancelled, and becomes a TimeoutError.

    Args:
        seconds: few different numbers, each many times.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._is_late = False

    async def __aenter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a timeout is of a task, and this runs in none")
        self._task, self._cancelling = task, task.cancelling()
        self._deadlines = _deadlines(task.get_loop(), self._seconds)
        self._deadlines.begin(self)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._deadlines.stop(self)
        if not self._is_late:
            return
        is_ours = self._task.uncancel() <= self._cancelling
        if is_ours and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError from error

    def end(self) -> None:
        """The time is over."""
        self._is_late = True
        self._task.cancel()


class _Known(threading.local):
    """Those of the loop that runs in a thread; of an earlier one nothing is kept."""

    loop: asyncio.AbstractEventLoop | None = None
    by_length: dict[float, Deadlines]


_KNOWN = _Known()


def _deadlines(loop: asyncio.AbstractEventLoop, seconds: float) -> Deadlines:
    if _KNOWN.loop is not loop:
        _KNOWN.loop, _KNOWN.by_length = loop, {}
    found = _KNOWN.by_length.get(seconds)
    if found is None:
        found = _KNOWN.by_length[seconds] = Deadlines(loop, seconds)
    return found
