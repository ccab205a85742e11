"""The pace of training: it plays, waits and makes single steps; others are let in between."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from netwright.core.errors import ConfigError
from netwright.recipes.playground.pace import EndedError, Pace


class Runner:
    """Makes steps in a thread of its own, held by a pace."""

    def __init__(self, pace: Pace) -> None:
        self.pace, self.steps, self.told = pace, 0, 0
        self.thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Runner":
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.pace.end()
        self.thread.join()

    def _run(self) -> None:
        try:
            while True:
                self.pace.hold(self._tell)
                self.steps += 1
        except EndedError:
            pass

    def _tell(self) -> None:
        self.told += 1


def until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_nothing_happens_until_somebody_asks_and_one_step_is_one() -> None:
    with Runner(Pace()) as runner:
        until(lambda: runner.told == 1)
        assert runner.steps == 0
        for count in (1, 2, 3):
            runner.pace.step()
            until(lambda: runner.told > runner.steps == count)  # noqa: B023 - it is called here
            assert runner.steps == count


def test_it_plays_until_it_is_paused() -> None:
    with Runner(Pace()) as runner:
        runner.pace.play()
        until(lambda: runner.steps > 20)
        runner.pace.pause()
        until(lambda: runner.told == 2)
        made = runner.steps
        assert not runner.pace.is_playing
        runner.pace.ask(lambda: None).result()
        assert runner.steps == made


def test_a_speed_is_never_exceeded() -> None:
    with Runner(Pace()) as runner:
        runner.pace.set_speed(50)
        began = time.monotonic()
        runner.pace.play()
        until(lambda: runner.steps >= 6)
        assert time.monotonic() - began >= 5 / 50
    for speed in (0, -1, 1e-300, 1e7, 10**400, float("nan")):
        with pytest.raises(ConfigError, match="steps a second"):
            Pace().set_speed(speed)


def test_what_is_asked_is_done_by_the_thread_that_trains_and_its_error_is_the_askers() -> None:
    with Runner(Pace()) as runner:
        assert runner.pace.ask(threading.current_thread).result() is runner.thread
        with pytest.raises(ZeroDivisionError):
            runner.pace.ask(lambda: 1 / 0).result()
        runner.pace.step()
        until(lambda: runner.steps == 1)  # it goes on


def test_what_is_cancelled_before_its_turn_is_left_out() -> None:
    pace, done = Pace(), list[int]()
    pace.ask(lambda: done.append(1)).cancel()
    with Runner(pace) as runner:
        runner.pace.ask(lambda: done.append(2)).result()
    assert done == [2]
    ended = Pace()
    ended.ask(lambda: None).cancel()
    ended.end()
    assert ended.has_ended


def test_after_its_end_nothing_is_promised() -> None:
    pace = Pace()
    waiting = pace.ask(lambda: None)
    pace.end()
    with pytest.raises(ConfigError, match="has ended"):
        waiting.result()
    with pytest.raises(ConfigError, match="has ended"):
        pace.ask(lambda: None)
    with pytest.raises(EndedError):
        pace.hold(lambda: None)
