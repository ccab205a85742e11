"""How training goes on: it plays, waits, or makes one step, as a person says.

Training comes by after each of its steps, and is held for as long as it has to wait. What others
want of the model meanwhile is done there, too: between two steps, in the thread that trains.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from netwright.core.errors import ConfigError

SLOWEST, FASTEST = 1e-3, 1e6  # steps a second
T = TypeVar("T")


class EndedError(Exception):
    """Training is to end here."""


class Pace:
    """Where training is held between two steps."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._asked: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._is_playing, self._has_ended = False, False
        self._single = 0  # steps that were asked for one by one
        self._seconds = 0.0  # from one step to the next
        self._next = 0.0  # when the next may be made, by the monotonic clock
        self.waited = 0.0  # seconds in which nothing was to be done

    @property
    def is_playing(self) -> bool:
        """Whether steps follow each other by themselves."""
        return self._is_playing

    @property
    def has_ended(self) -> bool:
        """Whether no step will be made any more."""
        return self._has_ended

    def play(self) -> None:
        """Go on, until `pause`."""
        self._set(_is_playing=True)

    def pause(self) -> None:
        """Wait after the step at hand."""
        self._set(_is_playing=False, _single=0)

    def step(self) -> None:
        """Make one step and wait."""
        self._set(_is_playing=False, _single=1 if self._is_playing else self._single + 1)

    def set_speed(self, steps: float) -> None:
        """So many steps a second at most; infinity: as many as there can be."""
        if not (SLOWEST <= steps <= FASTEST or steps == math.inf):
            raise ConfigError(
                f"speed must be {SLOWEST:g} to {FASTEST:,.0f} steps a second, got {steps!r:.40}"
            )
        self._set(_seconds=0.0 if math.isinf(steps) else 1 / steps, _next=0.0)

    def end(self) -> None:
        """Let training end at its next step; what is still asked for is refused."""
        self._set(_has_ended=True)
        while self._asked:
            _, future = self._asked.popleft()
            if future.set_running_or_notify_cancel():
                future.set_exception(_ended())

    def ask(self, task: Callable[[], T]) -> "Future[T]":
        """Have something done between two steps, in the thread that trains."""
        future: Future[T] = Future()
        with self._changed:
            if self._has_ended:
                raise _ended()
            self._asked.append((task, future))
            self._changed.notify_all()
        return future

    def hold(self, before_waiting: Callable[[], None]) -> None:
        """Return when the next step may be made.

        Args:
            before_waiting: called before each stretch in which nothing is done until somebody asks.
        """
        while True:
            asked = self._next_asked(before_waiting)
            if asked is None:
                return
            task, future = asked
            if not future.set_running_or_notify_cancel():  # who asked does not wait any more
                continue
            try:
                future.set_result(task())
            except EndedError:
                future.set_result(None)
                raise
            except Exception as error:
                future.set_exception(error)

    def _next_asked(
        self, before_waiting: Callable[[], None]
    ) -> tuple[Callable[[], Any], Future[Any]] | None:
        """What is to be done next; None: a step."""
        has_told = False
        with self._changed:
            while True:
                if self._has_ended:
                    raise EndedError
                if self._asked:
                    return self._asked.popleft()
                if self._single:
                    self._single -= 1
                    return None
                seconds = self._next - time.monotonic() if self._is_playing else None
                if seconds is not None and seconds <= 0:
                    self._next = time.monotonic() + self._seconds
                    return None
                if seconds is None and not has_told:
                    has_told = True
                    before_waiting()
                began = time.monotonic()
                self._changed.wait(seconds)
                self.waited += time.monotonic() - began

    def _set(self, **values: Any) -> None:
        with self._changed:
            vars(self).update(values)
            self._changed.notify_all()


def _ended() -> ConfigError:
    return ConfigError("this playground has ended: open another one")
