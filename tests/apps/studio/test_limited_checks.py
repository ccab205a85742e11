"""Checks in a process: its limits, its end, and that the next check is answered after it."""

import asyncio
from typing import Any

import pytest

from netwright.core.errors import NetwrightError

pytest.importorskip("starlette")

from netwright.apps.server.refusal import RefusalError
from netwright.apps.studio.limited_checks import MOST_WAITING, LimitedChecks

SMALL: dict[str, Any] = {"claim": "novikoff", "settings": {"sets": 3, "points": 5}}
ENDLESS: dict[str, Any] = {"claim": "boosting-bound", "settings": {"rounds": 10**9}}
LARGE: dict[str, Any] = {"claim": "bert-masking", "settings": {"tokens": 10**12}}


def test_what_takes_too_long_is_refused() -> None:
    async def told() -> None:
        with pytest.raises(RefusalError, match="longer than 1 s"):
            await LimitedChecks(seconds=1).check(ENDLESS)

    asyncio.run(told())


@pytest.mark.slow
def test_after_what_takes_too_much_time_or_memory_the_next_is_answered() -> None:
    async def told() -> None:
        checks = LimitedChecks(most_bytes=2 * 2**30)
        with pytest.raises(NetwrightError, match="memory"):
            await checks.check(LARGE)
        process = checks._process
        assert (await checks.check(SMALL))["answer"] == "holds"
        assert checks._process is process  # it is kept
        await checks.close()
        checks.seconds = 1
        with pytest.raises(RefusalError, match="longer than 1 s"):
            await checks.check(ENDLESS)
        checks.seconds = 600
        assert (await checks.check(SMALL))["answer"] == "holds"
        await checks.close()

    asyncio.run(told())


def test_who_leaves_ends_the_experiment() -> None:
    async def told() -> None:
        checks = LimitedChecks()
        asked = asyncio.create_task(checks.check(ENDLESS))
        while checks._process is None:
            await asyncio.sleep(0.01)
        process = checks._process
        others = [asyncio.create_task(checks.check(ENDLESS)) for _ in range(MOST_WAITING - 1)]
        await asyncio.sleep(0)
        with pytest.raises(RefusalError, match="try again later"):
            await checks.check(SMALL)
        for task in (*others, asked):
            task.cancel()
        await asyncio.wait({asked, *others})
        assert asked.cancelled() and process.returncode == -9
        await checks.close()

    asyncio.run(told())


@pytest.mark.slow
def test_a_process_that_ends_by_itself_is_told_and_replaced() -> None:
    async def told() -> None:
        checks = LimitedChecks(most_bytes=1)  # too little for anything
        for _ in range(2):
            with pytest.raises(NetwrightError, match=r"without an answer|memory"):
                await checks.check(SMALL)
        await checks.close()

    asyncio.run(told())
