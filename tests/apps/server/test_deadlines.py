"""Deadlines do what `asyncio.timeout` does, many of them by one timer."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from netwright.apps.server.deadlines import within
from tests.repetition import for_each

TIMEOUTS: dict[str, Callable[[float], Any]] = {"asyncio": asyncio.timeout, "ours": within}


@for_each("name", TIMEOUTS)
def test_what_is_late_ends_and_what_is_in_time_does_not(name: str) -> None:
    timeout = TIMEOUTS[name]

    async def work() -> None:
        async with timeout(60):
            await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            async with timeout(0.01):
                await asyncio.Event().wait()
        await asyncio.sleep(0)  # nothing is left of the cancellation
        with pytest.raises(KeyError):
            async with timeout(60):
                raise KeyError
        task = asyncio.current_task()
        assert task is not None and not task.cancelling()

    asyncio.run(work())


@for_each("name", TIMEOUTS)
def test_who_is_cancelled_from_outside_is_not_late(name: str) -> None:
    timeout = TIMEOUTS[name]

    async def wait() -> None:
        async with timeout(60):
            await asyncio.Event().wait()

    async def work() -> None:
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())


def test_each_ends_in_its_turn_and_those_that_were_in_time_are_passed_over() -> None:
    ended: list[int] = []

    async def wait(place: int) -> None:
        until = asyncio.Event()
        if place % 3 == 0:
            until.set()
        try:
            async with within(0.01):
                await until.wait()
        except TimeoutError:
            ended.append(place)

    async def work() -> None:
        await asyncio.gather(*map(wait, range(6)))

    asyncio.run(work())
    assert ended == [1, 2, 4, 5]


def test_a_thousand_of_them_take_one_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    set_timers = 0

    async def wait() -> None:
        async with within(60):
            await asyncio.sleep(0)

    async def work() -> None:
        nonlocal set_timers
        loop = asyncio.get_running_loop()
        call_at = loop.call_at

        def counted(*given: Any, **named: Any) -> asyncio.TimerHandle:
            nonlocal set_timers
            set_timers += 1
            return call_at(*given, **named)

        monkeypatch.setattr(loop, "call_at", counted)
        await asyncio.gather(*(wait() for _ in range(1000)))

    asyncio.run(work())
    assert set_timers == 1


def test_lengths_and_loops_are_kept_apart() -> None:
    async def wait(seconds: float, until: asyncio.Event) -> str:
        try:
            async with within(seconds):
                await until.wait()
        except TimeoutError:
            return "late"
        return "in time"

    async def work() -> tuple[str, str]:
        long = asyncio.create_task(wait(60, until := asyncio.Event()))
        await asyncio.sleep(0)
        short = await wait(0.01, asyncio.Event())
        until.set()
        return await long, short

    assert [asyncio.run(work()) for _ in range(2)] == [("in time", "late")] * 2
